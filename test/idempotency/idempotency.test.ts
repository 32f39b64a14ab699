import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { type Context, contextOf } from '../../src/app.ts';
import { Caller } from '../../src/caller.ts';
import { generateEncryptionKey, KeyRing } from '../../src/encryption/keys.ts';
import { idempotencyLimits, respondOnce } from '../../src/idempotency.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { appOn, contextOn } from '../support/queries.ts';

const newKeys = (): KeyRing => new KeyRing([Buffer.from(generateEncryptionKey(), 'base64')]);
const keys = newKeys();

let database: TestDatabase;
let caller: Caller;
beforeAll(async () => {
  database = await createTestDatabase();
  const request = { name: 'test', environmentTag: null, scopes: ['groups:write'], expiresAt: null } as const;
  caller = new Caller((await createApiToken(contextOn(database), request)).apiToken);
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.prisma.idempotencyRecord.deleteMany();
});

const responseWith = (body: string) => ({ status: 200, headers: { 'content-type': 'text/plain' }, body });

/** Executes a request that has a key, in a process with these encryption keys. */
const execute = (idempotencyKey: string, body: string, ring = keys, by = caller) =>
  respondOnce(contextOf(appOn(database, ring), by), { idempotencyKey }, '', async () => ({
    response: responseWith(body),
    isRefused: false,
  }));

test('a response that is too large to be stored is rejected, and nothing is kept', async () => {
  const overhead = Buffer.byteLength(JSON.stringify(responseWith('')));
  const large = 'ä'.repeat((idempotencyLimits.maxStoredResponseBytes - overhead) / 2);
  expect(await execute('largest', large)).toEqual(responseWith(large));
  await expect(execute('larger', `${large}..`)).rejects.toMatchObject({
    code: 'QUERY_TOO_COSTLY',
    message: expect.stringContaining('1048576 bytes'),
  });
  expect(await database.prisma.idempotencyRecord.count()).toBe(1);
});

test('a response that was moved to another row is not sent', async () => {
  await execute('a', 'a');
  await execute('b', 'b');
  await database.pool.query(
    'update idempotency_record r set response_encrypted = o.response_encrypted from idempotency_record o where o.key_hash <> r.key_hash',
  );
  await expect(execute('a', 'a')).rejects.toMatchObject({ code: 'INTERNAL' });
});

test('a response under an encryption key that is missing is not sent, and the request not executed again', async () => {
  await execute('a', 'a');
  await expect(execute('a', 'b', newKeys())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await execute('a', 'b')).toMatchObject({ body: 'a', headers: { 'idempotency-replayed': 'true' } });
});

test('a refusal comes with no change, and what is thrown undoes it too', async () => {
  const context = contextOf(appOn(database, keys), caller);
  const create = async ({ db }: Context) => {
    await db.apiToken.create({ data: { name: 'undone', scopes: [], secretHash: Buffer.alloc(32, 7) } });
    expect(await db.apiToken.count({ where: { name: 'undone' } })).toBe(1);
  };
  const request = { idempotencyKey: 'undone' };
  const refused = await respondOnce(context, request, '', async (inner) => {
    await create(inner);
    return { response: responseWith('refused'), isRefused: true };
  });
  expect(refused).toEqual(responseWith('refused'));
  const failure = respondOnce(context, request, '', async (inner) => {
    await create(inner);
    throw new Error('fails');
  });
  await expect(failure).rejects.toMatchObject({ code: 'INTERNAL' });
  expect(await database.prisma.apiToken.count({ where: { name: 'undone' } })).toBe(0);
  expect(await database.prisma.idempotencyRecord.count()).toBe(0);
});

test('an anonymous caller has no keys', async () => {
  await expect(execute('a', '', keys, Caller.anonymous)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});
