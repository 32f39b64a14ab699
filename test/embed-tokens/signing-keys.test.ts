import { randomBytes } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Context, contextOf } from '../../src/app.ts';
import { Caller, systemAuthor } from '../../src/caller.ts';
import {
  decryptPrivateKey,
  ensureSigningKeys,
  publicationLeadSeconds,
  readSigningKeys,
  rotateSigningKey,
} from '../../src/embed-tokens/signing-keys.ts';
import { DecryptionError, KeyRing } from '../../src/encryption/keys.ts';
import { reencryptAll } from '../../src/key-rotation.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createToken, introspectToken, partsOf, publishedKeys } from '../support/embed-tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { testKeys } from '../support/keys.ts';
import { appOn } from '../support/queries.ts';
import { dataFilesWith, dumpOf } from '../support/stored-text.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query('truncate signing_key, user_group restart identity cascade');
});
afterAll(() => database.close());

/** The context of a process of its own. */
const processOn = (ring: KeyRing = testKeys, on = database): Context => contextOf(appOn(on, ring), Caller.trusted(systemAuthor));
const storedIds = async (): Promise<string[]> =>
  (await database.pool.query<{ id: string }>('select id from signing_key order by number')).rows.map(({ id }) => id);

/** Lets time pass for the signing keys: all their times are the database's, and are moved back. */
const pass = (seconds: number) =>
  database.sql(
    'pass',
    `update signing_key set created_at = created_at - $1::int * interval '1 second',
    signs_from = signs_from - $1::int * interval '1 second'`,
    [seconds],
  );

test('of three instances that need the first key at once, one creates it', async () => {
  for (let round = 0; round < 2; round += 1) {
    await database.pool.query('delete from signing_key');
    const instances = [1, 2, 3].map(() => processOn());
    const snapshots = await Promise.all(instances.flatMap((instance) => [readSigningKeys(instance), readSigningKeys(instance)]));
    const ids = await storedIds();
    expect(ids).toHaveLength(1);
    expect(snapshots.map((keys) => [keys.signing().id, ...keys.published.keys()])).toEqual(
      Array.from({ length: 6 }, () => [ids[0], ids[0]]),
    );
  }
});

test('of concurrent rotations one publishes a key, and another can follow only when that one signs', async () => {
  await ensureSigningKeys(processOn());
  expect((await Promise.all([1, 2, 3, 4].map(() => rotateSigningKey(processOn())))).filter(Boolean)).toEqual([true]);
  expect(await rotateSigningKey(processOn())).toBe(false);
  expect(await storedIds()).toHaveLength(2);
  await pass(publicationLeadSeconds - 30);
  expect(await rotateSigningKey(processOn())).toBe(false);
  await pass(31);
  expect(await rotateSigningKey(processOn())).toBe(true);
  expect(await storedIds()).toHaveLength(3);
});

test('two gateways publish a new key before one of them signs with it, and an old one until its last token has expired', async () => {
  const options = { introspection: true, publicUrl: 'https://groups.example.com' };
  const first = await startGateway(database, options);
  const second = await startGateway(database, options);
  const { secret } = await first.issue({ scopes: ['admin'], environment: 'Testing' });
  await first.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  const sign = async (gateway: TestGateway): Promise<string> =>
    (await createToken(gateway, secret, { by: { providedId: 'acme' }, expiresInSeconds: 86_400 })).token;
  const kidOf = (token: string) => partsOf(token).header['kid'];
  const published = async () => {
    const [one, two] = await Promise.all([publishedKeys(first), publishedKeys(second)]);
    expect(two).toEqual(one);
    return one;
  };

  const [old] = await published();
  expect(kidOf(await sign(second))).toBe(old);
  await rotateSigningKey(processOn());
  const [, added, ...others] = await published();
  expect(others).toEqual([]);
  expect(added).not.toBe(old);

  // A verifier that keeps the keys as long as it may has the new one before any gateway signs with it.
  await pass(publicationLeadSeconds - 30);
  const verifier = createRemoteJWKSet(new URL('/.well-known/jwks.json', second.url), { cacheMaxAge: 300_000 });
  const last = await sign(first);
  await jwtVerify(last, verifier);
  expect([kidOf(last), kidOf(await sign(second))]).toEqual([old, old]);
  await pass(31);
  expect(await published()).toEqual([old, added]);
  for (const gateway of [first, second]) {
    const token = await sign(gateway);
    expect(kidOf(token)).toBe(added);
    await jwtVerify(token, verifier); // which does not fetch the keys again
    for (const other of [first, second]) {
      expect((await introspectToken(other, secret, token)).json).toMatchObject({ active: true, sub: 'acme' });
      expect((await introspectToken(other, secret, last)).json).toMatchObject({ active: true, sub: 'acme' });
    }
  }

  await pass(86_400 - 60);
  expect(await published()).toEqual([old, added]);
  await pass(61);
  expect(await published()).toEqual([added]);
  expect((await introspectToken(first, secret, last)).json).toEqual({ active: false });
  // The next rotation deletes it.
  expect(await storedIds()).toEqual([old, added]);
  await rotateSigningKey(processOn());
  expect(await storedIds()).toEqual([added, expect.any(String)]);

  for (const gateway of [first, second]) await gateway.close();
});

test('no private key is readable in the database, and an encrypted one only in its own row', async () => {
  await rotateSigningKey(processOn());
  const [one, two] = await ensureSigningKeys(processOn());
  if (!one || !two) throw new Error('There are two keys.');
  const dump = await dumpOf(database);
  expect(dump).toContain(one.id);
  for (const key of [one, two]) {
    const secret = decryptPrivateKey(testKeys, key);
    const bytes = Buffer.from(secret, 'base64url');
    expect(bytes).toHaveLength(32);
    for (const form of [secret, bytes.toString('hex'), bytes.toString('base64')]) expect(dump).not.toContain(form);
    const found = [secret, bytes.toString('latin1')].map((form) =>
      dataFilesWith(database, new RegExp(form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'))),
    );
    expect(await Promise.all(found)).toEqual([[], []]);
  }
  expect(() => decryptPrivateKey(testKeys, { ...two, privateKeyEncrypted: one.privateKeyEncrypted })).toThrow(DecryptionError);
});

test('re-encryption includes the signing keys, which then need the new encryption key alone', async () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  await rotateSigningKey(processOn(new KeyRing([oldKey])));
  const { changed, remaining } = await reencryptAll(database, new KeyRing([newKey, oldKey]), () => {});
  expect({ changed, remaining }).toEqual({ changed: 2, remaining: [] });
  for (const key of await ensureSigningKeys(processOn())) {
    expect(Buffer.from(decryptPrivateKey(new KeyRing([newKey]), key), 'base64url')).toHaveLength(32);
    expect(() => decryptPrivateKey(new KeyRing([oldKey]), key)).toThrow(DecryptionError);
  }
  expect(await reencryptAll(database, new KeyRing([newKey, oldKey]), () => {})).toMatchObject({ changed: 0 });
});
