import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { issueApiToken } from '../../src/api-tokens/api-tokens.ts';
import { Caller } from '../../src/caller.ts';
import { connectDatabase } from '../../src/database/client.ts';
import { generateEncryptionKey } from '../../src/encryption/key-texts.ts';
import { KeyRing } from '../../src/encryption/keys.ts';
import { createExecuteOnce } from '../../src/idempotency/execute-once.ts';
import { idempotencyLimits } from '../../src/idempotency/limits.ts';
import { reencryptAll } from '../../src/key-rotation/key-rotation.ts';
import { findKeyIdsInUse } from '../../src/key-rotation/statements.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { bindQueries } from '../support/queries.ts';

const [oldKey, newKey, otherKey] = [1, 2, 3].map(() => Buffer.from(generateEncryptionKey(), 'base64')) as [
  Buffer,
  Buffer,
  Buffer,
];
const oldKeys = new KeyRing([oldKey]);

let database: TestDatabase;
let caller: Caller;
beforeAll(async () => {
  database = await createTestDatabase();
  const request = { name: 'test', environmentTag: null, scopes: ['groups:write'], expiresAt: null } as const;
  caller = new Caller((await issueApiToken(database.prisma, request)).apiToken);
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.prisma.idempotencyRecord.deleteMany();
});

const executor = (keys: KeyRing) => createExecuteOnce(database, keys, bindQueries);
const execute = (keys: KeyRing, key: string, response = `response to ${key}`) =>
  executor(keys)(caller, { key, content: key }, async () => ({ response, isKept: true }));

test('responses are re-encrypted when the key is rotated, more than one batch of them, and can be sent again', async () => {
  const names = Array.from({ length: 25 }, (_, index) => `key ${index}`);
  for (const name of names) await execute(oldKeys, name);
  // Several of one moment, so that batches end between them.
  await database.pool.query("update idempotency_record set created_at = date_trunc('hour', now())");
  expect(await findKeyIdsInUse(database)).toEqual(oldKeys.ids);

  const both = new KeyRing([newKey, oldKey]);
  const progress: [number, number][] = [];
  expect(await reencryptAll(database, both, (...step) => void progress.push(step))).toEqual({
    changed: 25,
    remaining: [],
    problems: [],
  });
  expect(progress).toEqual(names.map((_, index) => [index + 1, 25]));
  expect(await findKeyIdsInUse(database)).toEqual([both.ids[0]]);
  for (const name of names) {
    const replayed = { response: `response to ${name}`, isReplayed: true };
    expect(await execute(new KeyRing([newKey]), name, 'another')).toEqual(replayed);
  }
});

test('a response that cannot be decrypted is left as it is, and reported', async () => {
  await execute(new KeyRing([otherKey]), 'lost');
  await execute(oldKeys, 'found');
  const { changed, remaining, problems } = await reencryptAll(database, new KeyRing([newKey, oldKey]), () => {});
  expect({ changed, remaining }).toEqual({
    changed: 1,
    remaining: [{ table: 'idempotency_record', id: new KeyRing([otherKey]).ids[0], rows: 1 }],
  });
  expect(problems.join()).toContain('idempotency_record.response_encrypted');
  await expect(execute(oldKeys, 'lost')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a response that is too large to be stored is rejected, and nothing is kept', async () => {
  const large = 'ä'.repeat(idempotencyLimits.maxStoredResponseBytes / 2);
  expect(await execute(oldKeys, 'largest', large)).toEqual({ response: large, isReplayed: false });
  await expect(execute(oldKeys, 'larger', `${large}.`)).rejects.toMatchObject({
    code: 'QUERY_TOO_COSTLY',
    message: expect.stringContaining('1048576 bytes'),
  });
  expect(await database.prisma.idempotencyRecord.count()).toBe(1);
});

test('a response that was moved to another row is not sent', async () => {
  await execute(oldKeys, 'a');
  await execute(oldKeys, 'b');
  await database.pool.query(
    'update idempotency_record r set response_encrypted = o.response_encrypted from idempotency_record o where o.key_hash <> r.key_hash',
  );
  await expect(execute(oldKeys, 'a')).rejects.toMatchObject({ code: 'INTERNAL' });
});

test('a response that is not kept comes with no change, and what is thrown undoes it too', async () => {
  const once = executor(oldKeys);
  const create = async (services: ReturnType<typeof bindQueries>) => {
    await services.db.apiToken.create({ data: { name: 'undone', scopes: [], secretHash: Buffer.alloc(32, 7) } });
    expect(await services.db.apiToken.count({ where: { name: 'undone' } })).toBe(1);
  };
  const request = { key: 'undone', content: '' };
  const refused = await once(caller, request, async (services) => {
    await create(services);
    return { response: 'refused', isKept: false };
  });
  expect(refused).toEqual({ response: 'refused', isReplayed: false });
  const failure = once(caller, request, async (services) => {
    await create(services);
    throw new Error('fails');
  });
  await expect(failure).rejects.toMatchObject({ code: 'INTERNAL' });
  expect(await database.prisma.apiToken.count({ where: { name: 'undone' } })).toBe(0);
  expect(await database.prisma.idempotencyRecord.count()).toBe(0);
});

test('at most half of the connections execute requests with a key: other statements get one', async () => {
  const small = connectDatabase({ connectionString: database.url }, { namedStatements: true, poolSize: 2 });
  const once = createExecuteOnce(small, oldKeys, bindQueries);
  let [begin, release] = [(): void => {}, (): void => {}];
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const keyed = ['x', 'y', 'z'].map((key) =>
    once(caller, { key, content: key }, async () => {
      begin();
      await released;
      return { response: key, isKept: true };
    }),
  );
  await begun;
  expect([small.pool.totalCount, small.pool.waitingCount]).toEqual([1, 0]);
  await expect(small.query('one', 'select 1', [])).resolves.toEqual([['1']]);
  release();
  expect(await Promise.all(keyed)).toEqual(['x', 'y', 'z'].map((response) => ({ response, isReplayed: false })));
  await small.close();
});

test('an anonymous caller has no keys', async () => {
  const anonymous = executor(oldKeys)(Caller.anonymous, { key: 'a', content: '' }, async () => ({ response: '', isKept: true }));
  await expect(anonymous).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});
