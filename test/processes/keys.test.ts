import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { decryptToken, encryptToken, generateEncryptionKey, KeyRing } from '../../src/encryption/keys.ts';
import { copyDataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { binary, endProcesses, launch, run, serve, until } from '../support/process.ts';
import { sendRequest } from '../support/request.ts';

afterEach(endProcesses);

const apiToken = 'an-api-token-of-the-operator';
const rotate = ['keys', 'rotate', 'encryption'];

async function list(settings: Record<string, string>) {
  const { code, stdout, stderr } = await run(['keys', 'list', '--json'], settings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

function embedded() {
  const dataDir = copyDataDir();
  onTestFinished(() => dataDir.remove());
  const file = join(dataDir.path, 'encryption-keys');
  const replace = (text: string) => {
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  return { file, replace, settings: { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: apiToken } };
}

test('without its keys an embedded database is not served, and no other key is made; with them, it is', async () => {
  const { file, settings } = embedded();
  await (await serve(settings)).stop(); // makes the signing key
  expect(readFileSync(file, 'utf8')).toMatch(/^[\w+/]{43}=\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const saved = `${file}.saved`;
  renameSync(file, saved);
  const refusal = async () => (await run(['serve'], settings)).stderr;
  expect(await refusal()).toMatch(/a key that this gateway lacks \([0-9a-f]{8}\)\. The file .*encryption-keys is missing/);
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  writeFileSync(file, 'damaged');
  expect(await refusal()).toMatch(/^The file .*encryption-keys must be 32-byte keys.* Restore it from a backup\.\n$/m);
  writeFileSync(file, `${generateEncryptionKey()}\n`);
  expect(await refusal()).toMatch(/a key that this gateway lacks \([0-9a-f]{8}\)\. Add it to the file/);
  renameSync(saved, file);
  expect((await list(settings)).encryptionKeys).toMatchObject([{ signingKeys: 1 }]);
});

test('keys rotate encryption replaces the key of a key file while a gateway serves, and loses nothing', async () => {
  const { file, replace, settings } = embedded();
  const gateway = await serve(settings);
  const load = beginLoad(gateway.url, apiToken, 2);
  await load.successes(20);
  const rotated = await run(rotate, settings);
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  await load.successes(10);
  await load.stop();
  expect([...load.failures, ...load.replies.filter(({ status }) => status !== 200)]).toEqual([]);
  const [added, old] = (await list(settings)).encryptionKeys;
  expect(added).toMatchObject({ encrypts: true, currentTokens: load.stored.size, signingKeys: 1 });
  expect(old).toMatchObject({ encrypts: false, currentTokens: 0, retiredTokens: 0, signingKeys: 0 });
  expect(rotated.stdout).toContain(`remove the old keys (${old.id})`);
  // The old key is removed while it serves.
  replace(`${readFileSync(file, 'utf8').split('\n')[0]}\n`);
  expect(await tokensOf(gateway.url, apiToken, load.stored.keys())).toEqual(load.stored);
  // Another key, which the operator has just put first, is used once the gateway has read it.
  replace(`${generateEncryptionKey()}\n${readFileSync(file, 'utf8')}`);
  expect(await run(rotate, settings)).toMatchObject({ code: 0, stderr: '' });
  expect(await tokensOf(gateway.url, apiToken, load.stored.keys())).toEqual(load.stored);
  expect((await list(settings)).encryptionKeys).toMatchObject([{ currentTokens: load.stored.size }, { currentTokens: 0 }]);
});

/** A database with tokens that are encrypted with an old key, some of them retired, and the settings with another key. */
async function databaseWith(groups: number) {
  const [old, added] = [generateEncryptionKey(), generateEncryptionKey()];
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const ring = new KeyRing([Buffer.from(old, 'base64')]);
  const tokens = Array.from({ length: groups }, (_, index) => `imported token ${index}`);
  const rows = tokens.map((token, index) => ({
    providedId: `group ${index}`,
    name: 'Group',
    ...encryptToken(ring, 'user_group', token),
  }));
  const [first] = await database.prisma.userGroup.createManyAndReturn({ data: rows });
  await database.prisma.retiredToken.createMany({
    data: tokens.slice(0, groups / 2).map((token) => ({
      teamId: first?.teamId ?? 0,
      expiresAt: new Date(Date.now() + 3_600_000),
      ...encryptToken(ring, 'retired_token', `retired ${token}`),
    })),
  });
  const only = { DATABASE_URL: database.url, ENCRYPTION_KEYS: old };
  return { database, tokens, ring, added, only, both: { ...only, ENCRYPTION_KEYS: `${added},${old}` } };
}

test('with keys from the settings the operator adds the key; a rotation that is killed resumes when it is run again', async () => {
  const { database, tokens, added, only, both } = await databaseWith(500);
  const unprepared = await run(rotate, only);
  expect(unprepared).toMatchObject({ code: 1, stdout: '' });
  expect(unprepared.stderr).toMatch(/add a new key after the others.*\n\n {2}[\w+/]{43}=\n/s);
  expect(unprepared.stderr).not.toContain(only.ENCRYPTION_KEYS);
  // It is held up between the two tables, and killed there.
  const holder = await database.pool.connect();
  await holder.query('begin; lock table retired_token in share mode');
  const started = launch(process.execPath, [binary, ...rotate], both);
  const ring = new KeyRing([Buffer.from(added, 'base64')]);
  const [id = ''] = ring.ids;
  const changed = "select from user_group where substr(token_hash, 1, 4) = decode($1, 'hex')";
  await until(async () => (await database.pool.query(changed, [id])).rowCount === 500, 'the current tokens are done');
  started.child.kill('SIGKILL');
  expect(await started.ended).toMatchObject({ signal: 'SIGKILL', stdout: '' });
  await holder.query('rollback');
  holder.release();
  expect(await run(rotate, both)).toMatchObject({ code: 0, stderr: '' });
  const counts = { signingKeys: 0, webhookSecrets: 0 };
  expect((await list(both)).encryptionKeys).toEqual([
    { id, encrypts: true, currentTokens: 500, retiredTokens: 250, ...counts },
    { id: expect.any(String), encrypts: false, currentTokens: 0, retiredTokens: 0, ...counts },
  ]);
  // The new key alone decrypts everything now; the old one alone is refused.
  const rows = await database.prisma.userGroup.findMany({ orderBy: { teamId: 'asc' } });
  expect(rows.map((row) => decryptToken(ring, 'user_group', row))).toEqual(tokens);
  const refused = await run(['token', 'list'], only);
  expect(refused.stderr).toContain(`a key that this gateway lacks (${id}). Add it to ENCRYPTION_KEYS`);
});

test('keys rotate signing publishes the next key, and run again too early it changes nothing; keys list shows both', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const settings = { DATABASE_URL: database.url };
  const gateway = await serve(settings);
  const signing = ['keys', 'rotate', 'signing'];
  expect((await run(signing, settings)).stdout).toMatch(/^Published a new signing key. It signs in 10 minutes/);
  expect((await run(signing, settings)).stdout).toMatch(/^Nothing was changed/);
  const [old, added, ...others] = (await list(settings)).signingKeys;
  expect(others).toEqual([]);
  expect(old).toMatchObject({ state: 'signing', signsUntil: added.signsFrom });
  expect(added).toMatchObject({ state: 'published', signsUntil: null });
  const { json } = await sendRequest(gateway.url, 'GET', '/.well-known/jwks.json');
  expect(json.keys.map(({ kid }: { kid: string }) => kid)).toEqual([old.id, added.id]);
});
