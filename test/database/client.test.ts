import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { retryOnConflict } from '../../src/database/errors.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
let client: Database;

const alter = (what: string) => database.pool.query(`alter database ${new URL(database.url).pathname.slice(1)} ${what}`);

/** Changes a setting of the test's database, and reconnects so that it takes effect. */
async function connectWith(setting: string): Promise<void> {
  await alter(`set ${setting}`);
  client = connectDatabase({ connectionString: database.url });
}

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await alter('reset all');
  await database.pool.query('truncate api_token restart identity cascade');
});
afterEach(() => client.close());
afterAll(() => database.close());

describe('regardless of the time zone of the database', () => {
  const expiresAt = new Date('2030-07-01T12:34:56.789Z');
  const request = { name: 'x', environmentTag: null, scopes: ['admin'], expiresAt } as const;

  test.each(['UTC', 'Asia/Kolkata'])('%s: Prisma stores and reads the instant that is meant', async (zone) => {
    await connectWith(`timezone = '${zone}'`);
    const before = Date.now();
    const { apiToken } = await createApiToken(contextOn(client), request);
    expect(apiToken.expiresAt).toEqual(expiresAt);
    // By the server's and this process's clocks, which are the same machine's.
    expect(apiToken.createdAt.getTime()).toBeGreaterThanOrEqual(before - 1_000);
    expect(apiToken.createdAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);

    const stored = 'select extract(epoch from expires_at) * 1000 = $1 as same from api_token';
    expect((await client.pool.query(stored, [expiresAt.getTime()])).rows).toEqual([{ same: true }]);
    expect(await client.prisma.apiToken.findMany()).toEqual([apiToken]);
    const found = await client.prisma.apiToken.findMany({ where: { expiresAt: { gte: expiresAt, lte: expiresAt } } });
    expect(found).toEqual([apiToken]);
    await client.prisma.$transaction(async (transaction) => {
      const revoked = await transaction.apiToken.update({ where: { id: apiToken.id }, data: { revokedAt: expiresAt } });
      expect(revoked.revokedAt).toEqual(expiresAt);
    });
  });
});

test.each([
  ['statement_timeout', '10s'],
  ['lock_timeout', '4s'],
])('a direct connection has its own %s', async (name, value) => {
  await connectWith(`${name} = '1h'`);
  expect((await client.pool.query(`show ${name}`)).rows).toEqual([{ [name]: value }]);
});

describe('retries a statement that failed with a deadlock', () => {
  const rename = "update api_token set name = 'by the loser' where id in (1, 2)";

  // Who has the first row passes once the gate is open.
  beforeAll(async () => {
    await database.pool.query(`
      create function pass() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
      create trigger gate before update on api_token for each row when (old.id = 1) execute function pass()`);
  });
  afterAll(async () => void (await database.pool.query('drop function pass cascade')));

  test.each<[string, (loser: Database) => Promise<unknown>]>([
    ['the driver’s', ({ sql }) => sql('rename', rename, [])],
    ['a whole transaction', ({ prisma }) => retryOnConflict(() => prisma.$transaction((each) => each.$executeRawUnsafe(rename)))],
  ])('%s', async (_, loseOnce) => {
    await connectWith("deadlock_timeout = '1ms'");
    for (const byte of [1, 2]) {
      await database.prisma.apiToken.create({ data: { name: 'before', scopes: [], secretHash: new Uint8Array(32).fill(byte) } });
    }
    const winner = new pg.Client(database.url);
    winner.on('error', () => {}); // of a failed test, whose database is dropped under it
    await winner.connect();
    await winner.query("set deadlock_timeout = '1h'"); // the other one looks for a deadlock, and loses
    await winner.query("begin; update api_token set name = 'by the winner' where id = 2");
    const gate = await database.pool.connect();
    await gate.query('select pg_advisory_lock(1)');

    const lost = Promise.resolve(loseOnce(client)); // which also starts it: Prisma's promises are lazy
    await untilBlocked(database); // the loser holds the first row and waits at the gate
    const won = winner.query("update api_token set name = 'by the winner' where id = 1");
    await untilBlocked(database, 2);
    await gate.query('select pg_advisory_unlock(1)'); // now for the second row
    gate.release();
    await won;
    await winner.query('commit');
    await lost;

    const { rows } = await winner.query('select name from api_token');
    await winner.end();
    expect(rows).toEqual([{ name: 'by the loser' }, { name: 'by the loser' }]);
  });
});

test('after a column got another type, as when a dump is restored, a prepared statement is prepared again', async () => {
  client = connectDatabase({ connectionString: database.url });
  await database.prisma.apiToken.create({ data: { name: 'x', scopes: [], secretHash: new Uint8Array(32) } });
  const read = () => client.sql('names', 'select name, pg_sleep(0.05)::text from api_token', []);
  const readOnAll = () => Promise.all(Array.from({ length: 20 }, read));
  const before = await readOnAll();
  expect(client.pool.totalCount).toBe(10);
  await database.pool.query('alter table api_token alter name type varchar(301)');
  expect(await readOnAll()).toEqual(before);
});
