import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { isUnavailable, isUniqueViolation, retryOnConflict } from '../../src/database/errors.ts';
import { startCommitProxy } from '../support/commit-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';

const withCode = (code: string) => Object.assign(new Error('text'), { code });
describe('the database is unavailable', () => {
  test.each([
    ...['08000', '08006', '08P01', '53300', '57P01', '57P03', '57014', '55P03', '58030', '25006', '25P03', '40001', '40P01'],
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'P2028'],
  ])('%s', (code) => expect(isUnavailable(withCode(code))).toBe(true));

  test('the cause of an error, at any depth', () => {
    expect(isUnavailable(new Error('outer', { cause: new Error('inner', { cause: withCode('57P01') }) }))).toBe(true);
  });
});

test('the database is unavailable when the connection of a transaction is reset at its COMMIT', async () => {
  const database = await createTestDatabase();
  const proxy = await startCommitProxy(database.url);
  const behindProxy = connectDatabase({ connectionString: proxy.url });
  onTestFinished(async () => {
    await behindProxy.close();
    await proxy.close();
    await database.close();
  });
  proxy.resetNextCommit();
  const error = await behindProxy.prisma.$transaction((transaction) => transaction.apiToken.count()).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(isUnavailable(error), `${error}`).toBe(true);
});

describe('an error of the gateway or of the data', () => {
  test.each(['23505', '23503', '22001', '22P02', '42P01', '42601', '42501', '0A000', '25P02', 'P2002', 'P2025', 'ERR_ASSERTION'])(
    '%s',
    (code) => expect(isUnavailable(withCode(code))).toBe(false),
  );
});

describe('work that failed', () => {
  test.each([
    { code: '40001', fault: withCode('40001'), attempts: 2 },
    { code: '40P01', fault: withCode('40P01'), attempts: 2 },
    // It is not known whether it was committed.
    { code: '40003', fault: withCode('40003'), attempts: 1 },
    { code: '23505', fault: withCode('23505'), attempts: 1 },
    { code: 'none', fault: new Error('text'), attempts: 1 },
  ])('by $code is attempted $attempts times at most', async ({ fault, attempts }) => {
    let attempted = 0;
    const work = async () => {
      attempted += 1;
      throw fault;
    };
    await expect(retryOnConflict(work)).rejects.toBe(fault);
    expect(attempted).toBe(attempts);
  });
});

describe('actual errors', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.pool.query(
      `create function refuse(state text) returns int language plpgsql as $$ begin raise exception 'refused' using errcode = state; end $$`,
    );
  });
  afterAll(() => database.close());

  const faultOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  const ways: readonly (readonly [string, (database: Database, text: string) => Promise<unknown>])[] = [
    ['the driver', ({ sql }, text) => sql(text, text, [])],
    ['Prisma', ({ prisma }, text) => prisma.$queryRawUnsafe(text)],
    ['a transaction of Prisma', ({ prisma }, text) => prisma.$transaction((each) => each.$queryRawUnsafe(text))],
    ['a model of Prisma', ({ prisma }) => prisma.apiToken.count()],
  ];

  test('every connection is used by others', async () => {
    const small = connectDatabase({ connectionString: database.url }, { namedStatements: true, poolSize: 1 });
    const client = await small.pool.connect();
    const faults = await Promise.all(
      ways.map(async ([way, work]) => [way, isUnavailable(await faultOf(work(small, 'select 1')))]),
    );
    expect(faults).toEqual(ways.map(([way]) => [way, true]));
    client.release();
    await small.close();
  });

  describe.each(ways)('by %s:', (_, work) => {
    test('nothing listens on the port', async () => {
      const nowhere = connectDatabase({ connectionString: 'postgresql://user:password@127.0.0.1:1/none' });
      expect(isUnavailable(await faultOf(work(nowhere, 'select 1')))).toBe(true);
      await nowhere.close();
    });

    test('the pool is closed', async () => {
      const closed = connectDatabase({ connectionString: database.url });
      await closed.pool.end();
      expect(isUnavailable(await faultOf(work(closed, 'select 1')))).toBe(true);
    });

    test.each(['close', 'reset'] as const)('the connection is ended without a word while it is used (%s)', async (how) => {
      const proxy = await startDatabaseProxy(database.url);
      const proxied = connectDatabase({ connectionString: proxy.url });
      await faultOf(work(proxied, 'select 1')); // connects
      proxy.endNext(how);
      expect(isUnavailable(await faultOf(work(proxied, 'select 1')))).toBe(true);
      await proxied.close();
      proxy.cut();
    });
  });

  describe.each(ways.slice(0, -1))('by %s:', (_, work) => {
    test.each([
      ['57P01', true],
      ['40001', true],
      ['42501', false],
      ['23505', false],
    ])('the server refuses it with the code %s', async (state, expected) => {
      const fault = await faultOf(work(database, `select refuse('${state}')`));
      expect(fault).toMatchObject({ message: expect.stringContaining('refused') });
      expect(isUnavailable(fault)).toBe(expected);
      expect(isUniqueViolation(fault)).toBe(state === '23505');
    });
  });

  test.each(['driver', 'Prisma', 'transaction'])(
    'the connection is ended by the server while it is used, by the %s',
    async (way) => {
      const used = connectDatabase({ connectionString: database.url });
      const ways = {
        driver: () => used.pool.query('select pg_terminate_backend(pg_backend_pid())'),
        Prisma: () => used.prisma.$queryRaw`select pg_terminate_backend(pg_backend_pid())`,
        transaction: () =>
          used.prisma.$transaction(async (transaction) => transaction.$queryRaw`select pg_terminate_backend(pg_backend_pid())`),
      };
      const fault = await faultOf(ways[way as keyof typeof ways]());
      expect(fault).toBeInstanceOf(Error);
      expect(isUnavailable(fault)).toBe(true);
      expect(await used.prisma.apiToken.count()).toBe(0);
      await used.close();
    },
  );
});
