import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runTransaction, type Transaction } from '../../src/database/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query('create table item (name text primary key)');
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query('truncate item, api_token cascade');
});

const insert = ({ query }: Pick<Transaction, 'query'>, name: string) =>
  query('insert-item', 'insert into item (name) values ($1)', [name]);
const items = async () =>
  (await database.pool.query<{ name: string }>('select name from item order by 1')).rows.map(({ name }) => name);
const token = (name: string) => ({ data: { name, scopes: [], secretHash: Buffer.from(name.padEnd(32)) } });
const tokens = async () => (await database.prisma.apiToken.findMany({ orderBy: { name: 'asc' } })).map(({ name }) => name);

test('commits all statements together, those of Prisma and of its transactions too', async () => {
  await database.interactiveTransaction(async (transaction) => {
    await insert(transaction, 'a');
    await transaction.prisma.apiToken.create(token('one'));
    await transaction.prisma.$transaction(async (nested) => {
      await nested.apiToken.create(token('two'));
      await nested.apiToken.create(token('three'));
    });
    await transaction.transaction(async (query) => insert({ query }, 'b'));
    expect([await items(), await tokens()]).toEqual([[], []]);
  });
  expect([await items(), await tokens()]).toEqual([
    ['a', 'b'],
    ['one', 'three', 'two'],
  ]);
});

test('undoes everything when the work throws, and the connection can be used again', async () => {
  const failing = database.interactiveTransaction(async (transaction) => {
    await insert(transaction, 'a');
    await transaction.prisma.apiToken.create(token('one'));
    throw new Error('the work fails');
  });
  await expect(failing).rejects.toThrow('the work fails');
  expect([await items(), await tokens()]).toEqual([[], []]);
  expect([database.pool.totalCount, database.pool.idleCount]).toEqual([database.pool.totalCount, database.pool.totalCount]);
});

test('a statement that fails undoes itself only, also in a transaction of the unit or of Prisma', async () => {
  await database.interactiveTransaction(async (transaction) => {
    await insert(transaction, 'a');
    await expect(insert(transaction, 'a')).rejects.toMatchObject({ code: '23505' });
    const both = transaction.transaction(async (query) => {
      await insert({ query }, 'undone');
      return insert({ query }, 'a');
    });
    await expect(both).rejects.toMatchObject({ code: '23505' });
    await transaction.prisma.apiToken.create(token('one'));
    await expect(transaction.prisma.apiToken.create(token('one'))).rejects.toMatchObject({ code: '23505' });
    const nested = transaction.prisma.$transaction(async (inner) => {
      await inner.apiToken.create(token('undone'));
      return inner.apiToken.create(token('one'));
    });
    await expect(nested).rejects.toMatchObject({ code: '23505' });
    await insert(transaction, 'b');
  });
  expect([await items(), await tokens()]).toEqual([['a', 'b'], ['one']]);
});

test('concurrent statements are executed one at a time: the savepoint of one that fails does not undo another', async () => {
  await database.interactiveTransaction(async (transaction) => {
    await insert(transaction, 'a');
    const names = ['b', 'a', 'c', 'a', 'd'];
    const nested = transaction.prisma.$transaction(async (inner) => {
      await inner.apiToken.create(token('one'));
      await inner.apiToken.create(token('two'));
    });
    const results = await Promise.allSettled([...names.map((name) => insert(transaction, name)), nested]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
  });
  expect([await items(), await tokens()]).toEqual([
    ['a', 'b', 'c', 'd'],
    ['one', 'two'],
  ]);
});

test('a transaction of Prisma that fails does not undo a statement that was sent meanwhile', async () => {
  await database.interactiveTransaction(async (transaction) => {
    let inserted: Promise<unknown> | undefined;
    const nested = transaction.prisma.$transaction(async (inner) => {
      await inner.apiToken.create(token('undone'));
      inserted = insert(transaction, 'a');
      for (let count = 0; count < 3; count += 1) await inner.apiToken.count();
      throw new Error('on purpose');
    });
    await expect(nested).rejects.toThrow('on purpose');
    await inserted;
  });
  expect([await items(), await tokens()]).toEqual([['a'], []]);
});

test('takes no statement after its end, which would be executed outside of the transaction', async () => {
  let ended: Transaction | undefined;
  await database.interactiveTransaction(async (transaction) => {
    ended = transaction;
  });
  await expect(insert(ended as Transaction, 'late')).rejects.toThrow('is over');
  expect(await items()).toEqual([]);
});

test('no statement is executed when the transaction does not begin', async () => {
  const failing = runTransaction(
    {
      pool: database.pool,
      begin: 'begin over',
      queryOn: (client) => async (_name, text, values) => {
        await client.query(text, values as unknown[]);
        return [];
      },
      createPrisma: () => database.prisma,
    },
    async (transaction) => {
      for (const name of ['a', 'b']) await insert(transaction, name).catch(() => {});
    },
  );
  await expect(failing).rejects.toMatchObject({ code: '42601' });
  expect(await items()).toEqual([]);
});
