import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { issueApiToken } from '../../src/api-tokens/api-tokens.ts';
import { Caller } from '../../src/caller.ts';
import { connectDatabase } from '../../src/database/client.ts';
import { createExecuteOnce, type ExecuteOnce, type Execution } from '../../src/idempotency/execute-once.ts';
import { idempotencyLimits } from '../../src/idempotency/limits.ts';
import { startCommitProxy } from '../support/commit-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testKeys } from '../support/keys.ts';
import { bindQueries } from '../support/queries.ts';

let database: TestDatabase;
let executeOnce: ExecuteOnce;
let caller: Caller;
beforeAll(async () => {
  database = await createTestDatabase();
  executeOnce = createExecuteOnce(database, testKeys, bindQueries);
  const request = { name: 'test', environmentTag: null, scopes: ['groups:write'], expiresAt: null } as const;
  caller = new Caller((await issueApiToken(database.prisma, request)).apiToken);
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.prisma.idempotencyRecord.deleteMany();
  await database.prisma.apiToken.deleteMany({ where: { name: { startsWith: 'key' } } });
});

const keys = Array.from({ length: 20 }, (_, index) => `key ${index + 10}`);
const kept = (key: string): Execution => ({ response: `response to ${key}`, isKept: true });

/** Stores a row of its own, and responds. */
function send(key: string, respond: (key: string) => Execution = kept, content = key, once = executeOnce) {
  return once(caller, { key, content, sharedAs: 'mutation' }, async ({ db }) => {
    await db.apiToken.create({ data: { name: key, scopes: [], secretHash: randomBytes(32) } });
    return respond(key);
  });
}

/** The names of what was stored. */
const storedNames = async () =>
  (await database.prisma.apiToken.findMany({ where: { name: { startsWith: 'key' } }, orderBy: { name: 'asc' } })).map(
    ({ name }) => name,
  );

/** In how many transactions responses were stored: each stores all of its own in one statement, and so under one number. */
async function countTransactions(): Promise<number> {
  const { rows } = await database.pool.query('select count(distinct xmin::text)::int as count from idempotency_record');
  return rows[0].count;
}

test('requests of one mutation are executed in one transaction, and each gets its own response, also when it is sent again', async () => {
  const responses = keys.map((key) => ({ response: `response to ${key}`, isReplayed: false }));
  expect(await Promise.all(keys.map((key) => send(key)))).toEqual(responses);
  expect([await storedNames(), await countTransactions()]).toEqual([keys, 1]);
  const replayed = responses.map(({ response }) => ({ response, isReplayed: true }));
  expect(await Promise.all(keys.map((key) => send(key)))).toEqual(replayed);
  expect(await storedNames()).toEqual(keys);
});

describe('when one of them is not to be committed, its change is undone, and the others are executed together once', () => {
  const failures: Record<string, { send: () => Promise<unknown>; outcome: object; before?: () => Promise<unknown> }> = {
    'its execution fails': {
      send: () =>
        send('key of it', () => {
          throw new Error('on purpose');
        }),
      outcome: { status: 'rejected', reason: { code: 'INTERNAL' } },
    },
    'its response is not kept': {
      send: () => send('key of it', () => ({ response: 'forbidden', isKept: false })),
      outcome: { status: 'fulfilled', value: { response: 'forbidden', isReplayed: false } },
    },
    'its response is too large': {
      send: () => send('key of it', () => ({ response: 'x'.repeat(idempotencyLimits.maxStoredResponseBytes + 1), isKept: true })),
      outcome: { status: 'rejected', reason: { code: 'QUERY_TOO_COSTLY' } },
    },
    'its key was used for another request': {
      before: () => send('key of it').then(() => database.prisma.apiToken.deleteMany({ where: { name: 'key of it' } })),
      send: () => send('key of it', kept, 'other content'),
      outcome: { status: 'rejected', reason: { code: 'IDEMPOTENCY_KEY_REUSED' } },
    },
  };

  test.each(Object.entries(failures))('%s', async (_, { before, send: sendIt, outcome }) => {
    await before?.();
    const [it, ...others] = await Promise.allSettled([sendIt(), ...keys.map((key) => send(key))]);
    expect(it).toMatchObject(outcome);
    expect(others.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect([await storedNames(), await countTransactions()]).toEqual([keys, before ? 2 : 1]);
  });
});

test('what is too large together is executed alone', async () => {
  const respond = () => ({ response: 'x'.repeat(1_000_000), isKept: true });
  const outcomes = await Promise.allSettled(keys.map((key) => send(key, respond)));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(await storedNames()).toEqual(keys);
  expect(await countTransactions()).toBe(1 + keys.length - Math.floor(idempotencyLimits.maxSharedResponseBytes / 1_000_000));
});

test('a request that is sent twice at once is executed once', async () => {
  const outcomes = await Promise.allSettled([send('key twice'), send('key twice'), ...keys.map((key) => send(key))]);
  expect(outcomes.filter((each) => each.status === 'fulfilled' && !each.value.isReplayed)).toHaveLength(1 + keys.length);
  expect(await storedNames()).toEqual([...keys, 'key twice']);
});

test('a request that another transaction executes is rejected, and the others are executed', async () => {
  let release = (): void => {};
  let begun = (): void => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const other = createExecuteOnce(database, testKeys, bindQueries)(caller, { key: 'key held', content: 'key held' }, async () => {
    begun();
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return kept('key held');
  });
  await isBegun;
  const [held, ...others] = await Promise.allSettled([send('key held'), ...keys.map((key) => send(key))]);
  release();
  await other;
  expect(held).toMatchObject({ status: 'rejected', reason: { code: 'IDEMPOTENCY_KEY_IN_USE' } });
  expect(others.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(await storedNames()).toEqual(keys);
});

test('when it is unknown whether they were committed, each says so, and nothing is executed again', async () => {
  const proxy = await startCommitProxy(database.url);
  onTestFinished(() => proxy.close());
  const proxied = connectDatabase({ connectionString: proxy.url }, { namedStatements: true, poolSize: 2 });
  onTestFinished(() => proxied.close());
  const once = createExecuteOnce(proxied, testKeys, bindQueries);
  let executions = 0;
  const respond = (key: string) => {
    executions += 1;
    return kept(key);
  };
  proxy.resetNextCommit();
  const outcomes = await Promise.allSettled(keys.map((key) => send(key, respond, key, once)));
  expect(outcomes.map((each) => each.status === 'rejected' && each.reason.code)).toEqual(keys.map(() => 'UNAVAILABLE'));
  expect(executions).toBe(keys.length);
});
