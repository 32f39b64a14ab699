import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { isUnavailable, retryOnConflict } from '../../src/database/errors.ts';
import { startCommitProxy } from '../support/commit-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const withCode = (code: string) => Object.assign(new Error('text'), { code });
const prismaError = (code: string, originalCode: string) =>
  Object.assign(new Error('text'), {
    code,
    meta: { driverAdapterError: Object.assign(new Error('x'), { cause: { originalCode } }) },
  });

describe('the database is unavailable', () => {
  test.each([
    ...['08000', '08001', '08003', '08006', '08P01', '53000', '53100', '53200', '53300', '57P01', '57P02', '57P03', '57014'],
    ...['58000', '58030', '25006', '25P03', '25P04', '40001', '40P01'],
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
    ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'],
  ])('%s', (code) => expect(isUnavailable(withCode(code))).toBe(true));

  test.each([
    'timeout exceeded when trying to connect',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'Cannot use a pool after calling end on the pool',
  ])('an error without a code: %s', (text) => expect(isUnavailable(new Error(text))).toBe(true));

  test('the cause of an error, at any depth', () => {
    expect(isUnavailable(new Error('outer', { cause: new Error('inner', { cause: withCode('57P01') }) }))).toBe(true);
    expect(isUnavailable(prismaError('P2010', '57P03'))).toBe(true);
    expect(isUnavailable(prismaError('P2034', '40001'))).toBe(true);
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
  test.each([undefined, null, '57P01', 57, {}, new Error('text'), new TypeError('x is not a function'), { code: 57 }])(
    '%j',
    (thrown) => expect(isUnavailable(thrown)).toBe(false),
  );
  test('a Prisma error about the data', () => expect(isUnavailable(prismaError('P2002', '23505'))).toBe(false));
});

describe('work that failed', () => {
  test.each([
    { code: '40001', fault: withCode('40001'), attempts: 2 },
    { code: '40P01', fault: withCode('40P01'), attempts: 2 },
    { code: 'P2034, of Prisma', fault: prismaError('P2034', '40001'), attempts: 2 },
    { code: '40P01 below P2010', fault: prismaError('P2010', '40P01'), attempts: 2 },
    { code: '0A000', fault: withCode('0A000'), attempts: 2 },
    { code: '0A000 below P2010', fault: prismaError('P2010', '0A000'), attempts: 2 },
    // It is not known whether it was committed.
    { code: '40003', fault: withCode('40003'), attempts: 1 },
    { code: '57P01', fault: withCode('57P01'), attempts: 1 },
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
  });
  afterAll(() => database.close());

  const faultOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  test('nothing listens on the port', async () => {
    const nowhere = connectDatabase({ connectionString: 'postgresql://user:password@127.0.0.1:1/none' });
    expect(isUnavailable(await faultOf(nowhere.pool.query('select')))).toBe(true);
    expect(isUnavailable(await faultOf(nowhere.prisma.apiToken.count()))).toBe(true);
    await nowhere.close();
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

  test('a statement takes too long', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('set statement_timeout = 1');
    expect(isUnavailable(await faultOf(client.query('select pg_sleep(5)')))).toBe(true);
    await client.end();
  });

  test('a missing table, a duplicate row', async () => {
    expect(isUnavailable(await faultOf(database.prisma.$queryRaw`select * from no_such_table`))).toBe(false);
    const data = { name: 'twice', scopes: [], secretHash: new Uint8Array(32) };
    await database.prisma.apiToken.create({ data });
    const fault = await faultOf(database.prisma.apiToken.create({ data }));
    expect(fault).toBeInstanceOf(Error);
    expect(isUnavailable(fault)).toBe(false);
  });
});
