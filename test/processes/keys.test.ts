import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { generateEncryptionKey } from '../../src/encryption/key-texts.ts';
import { KeyRing } from '../../src/encryption/keys.ts';
import { decryptToken, encryptToken } from '../../src/encryption/stored-token.ts';
import { copyDataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { endProcesses, launch, run, serve, until } from '../support/process.ts';

afterEach(endProcesses);

const apiToken = 'an-api-token-of-the-operator';
const create = async (url: string, id: string, token = apiToken): Promise<string> =>
  (await sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: id } })).json.user_group.token;

/** The group of a token, as the embed backend asks for it. */
async function viewer(url: string, token: string): Promise<string | undefined> {
  const query = 'query ($token: String) { userGroup(by: { token: $token }) { providedId } }';
  const { json } = await sendRequest(url, 'POST', '/graphql', { token: apiToken, body: { query, variables: { token } } });
  return json.data.userGroup?.providedId;
}

const list = async (settings: Record<string, string>) => {
  const { code, stdout, stderr } = await run(['keys', 'list', '--json'], settings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as {
    encryptionKeys: {
      id: string;
      encrypts: boolean;
      currentTokens: number;
      retiredTokens: number;
      signingKeys: number;
      webhookSecrets: number;
    }[];
    signingKeys: { id: string; state: string; signsFrom: string; signsUntil: string | null; publishedUntil: string | null }[];
  };
};

function embedded() {
  const dataDir = copyDataDir();
  onTestFinished(() => dataDir.remove());
  const file = join(dataDir.path, 'encryption-keys');
  return { dataDir, file, settings: { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: apiToken } };
}

test('without its file an embedded database with tokens is not served, and no other key is made; with it, it is', async () => {
  const { file, settings } = embedded();
  const gateway = await serve(settings);
  await create(gateway.url, 'acme');
  const saved = `${file}.saved`;
  const logged = (text: string) => until(() => gateway.output.stderr.includes(text), `the log has "${text}"`);
  renameSync(file, saved);
  await logged('the file of the encryption keys cannot be read');
  renameSync(saved, file);
  await logged('the file of the encryption keys can be read again');
  await gateway.stop();
  renameSync(file, saved);

  const refused = await run(['serve'], settings);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /encrypted with a key that this gateway lacks \([0-9a-f]{8}\)\. The file .*encryption-keys is missing/,
  );
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();

  writeFileSync(file, 'damaged');
  expect((await run(['serve'], settings)).stderr).toMatch(
    /^The file .*encryption-keys must be 32-byte keys.* Restore it from a backup\.\n$/m,
  );

  writeFileSync(file, `${generateEncryptionKey()}\n`);
  const another = await run(['serve'], settings);
  expect(another.stderr).toMatch(/encrypted with a key that this gateway lacks \([0-9a-f]{8}\)\. Add it to the file/);
  expect(another.stderr).not.toMatch(/\n\s+at /);

  renameSync(saved, file);
  expect((await list(settings)).encryptionKeys).toEqual([expect.objectContaining({ currentTokens: 1, signingKeys: 1 })]);
});

test('keys rotate encryption replaces the key of a new key file while a gateway serves, and loses nothing', async () => {
  const { file, settings } = embedded();
  const gateway = await serve(settings);
  expect(readFileSync(file, 'utf8')).toMatch(/^[\w+/]{43}=\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const first = await create(gateway.url, 'before');
  expect(await viewer(gateway.url, first)).toBe('before');
  const load = beginLoad(gateway.url, apiToken, 2);
  await load.successes(10);

  const rotated = await run(['keys', 'rotate', 'encryption'], settings);
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  await load.successes(10);
  await load.stop();
  expect([...load.failures, ...load.replies.filter(({ status }) => status !== 200)]).toEqual([]);

  const {
    encryptionKeys: [added, old],
  } = await list(settings);
  expect(added).toMatchObject({ encrypts: true, currentTokens: load.stored.size + 1, signingKeys: 1 });
  expect(old).toMatchObject({ encrypts: false, currentTokens: 0, retiredTokens: 0, signingKeys: 0 });
  expect(rotated.stdout).toContain(`remove the old keys (${old?.id})`);
  expect(rotated.stdout).not.toContain('No key was added');

  // The old key is removed while it serves.
  const [line = ''] = readFileSync(file, 'utf8').split('\n');
  writeFileSync(`${file}.new`, `${line}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  expect(await viewer(gateway.url, first)).toBe('before');
  expect(await tokensOf(gateway.url, apiToken, load.stored.keys())).toEqual(load.stored);
  await gateway.stop();
});

test('a key that the operator has just put first is used once every gateway has read it', async () => {
  const { file, settings } = embedded();
  const gateway = await serve(settings);
  await create(gateway.url, 'acme');
  writeFileSync(`${file}.new`, `${generateEncryptionKey()}\n${readFileSync(file, 'utf8')}`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  expect(await run(['keys', 'rotate', 'encryption'], settings)).toMatchObject({ code: 0, stderr: '' });
  const query = '{ events(first: 1) { nodes { type occurredAt } } }';
  const { json } = await sendRequest(gateway.url, 'POST', '/graphql', { token: apiToken, body: { query } });
  const [{ type, occurredAt }] = json.data.events.nodes;
  expect(type).toBe('ENCRYPTION_KEY_ROTATED');
  expect(Date.parse(occurredAt) - statSync(file).mtimeMs).toBeGreaterThan(2_000);
  await gateway.stop();
});

/** A database with tokens that are encrypted with the first key, some of them retired. */
async function databaseWith(key: string, groups: number) {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const ring = new KeyRing([Buffer.from(key, 'base64')]);
  const tokens = Array.from({ length: groups }, (_, index) => `imported token ${index}`);
  await database.prisma.userGroup.createMany({
    data: tokens.map((token, index) => ({
      providedId: `group ${index}`,
      name: 'Group',
      ...encryptToken(ring, 'user_group', token),
    })),
  });
  const [{ teamId } = { teamId: 0 }] = await database.prisma.userGroup.findMany({ orderBy: { teamId: 'asc' }, take: 1 });
  await database.prisma.retiredToken.createMany({
    data: tokens.slice(0, 300).map((token, index) => ({
      teamId: teamId + index,
      expiresAt: new Date(Date.now() + 3_600_000),
      ...encryptToken(ring, 'retired_token', `retired ${token}`),
    })),
  });
  return { database, tokens };
}

test('with keys from the settings the operator adds the key; a rotation that is killed resumes when it is run again', async () => {
  const [old, added] = [generateEncryptionKey(), generateEncryptionKey()];
  const { database, tokens } = await databaseWith(old, 500);
  const only = { DATABASE_URL: database.url, ENCRYPTION_KEYS: old };
  const both = { DATABASE_URL: database.url, ENCRYPTION_KEYS: `${added},${old}` };

  const unprepared = await run(['keys', 'rotate', 'encryption'], only);
  expect(unprepared).toMatchObject({ code: 1, stdout: '' });
  expect(unprepared.stderr).toMatch(/add a new key after the others.*\n\n {2}[\w+/]{43}=\n/s);
  expect(unprepared.stderr).not.toContain(old);

  // It is held up between the two tables, and killed there.
  const holder = await database.pool.connect();
  await holder.query('begin; lock table retired_token in share mode');
  const started = launch(process.execPath, ['dist/main.js', 'keys', 'rotate', 'encryption'], both);
  const [id] = new KeyRing([Buffer.from(added, 'base64')]).ids;
  const changed = async (table: string) => {
    const text = `select from ${table} where substr(token_hash, 1, 4) = decode($1, 'hex')`;
    return (await database.pool.query(text, [id])).rowCount;
  };
  await until(async () => (await changed('user_group')) === tokens.length, 'the current tokens are done');
  started.child.kill('SIGKILL');
  expect(await started.ended).toMatchObject({ signal: 'SIGKILL', stdout: '' });
  expect(await changed('retired_token')).toBe(0);
  await holder.query('rollback');
  holder.release();

  expect(await run(['keys', 'rotate', 'encryption'], both)).toMatchObject({ code: 0, stderr: '' });
  expect(await list(both)).toEqual({
    encryptionKeys: [
      { id, encrypts: true, currentTokens: 500, retiredTokens: 300, signingKeys: 0, webhookSecrets: 0 },
      {
        id: expect.any(String),
        encrypts: false,
        currentTokens: 0,
        retiredTokens: 0,
        signingKeys: 0,
        webhookSecrets: 0,
      },
    ],
    signingKeys: [],
  });

  // The new key alone decrypts everything now; the old one alone is refused.
  const ring = new KeyRing([Buffer.from(added, 'base64')]);
  const rows = await database.prisma.userGroup.findMany({ orderBy: { teamId: 'asc' } });
  expect(rows.map((row) => decryptToken(ring, 'user_group', row))).toEqual(tokens);
  const refused = await run(['token', 'list'], only);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(`a key that this gateway lacks (${id}). Add it to ENCRYPTION_KEYS`);
});

test('keys rotate encryption waits for a transaction that has encrypted with the old key, and encrypts what it stores', async () => {
  const [old, added] = [generateEncryptionKey(), generateEncryptionKey()];
  const { database } = await databaseWith(old, 1);
  const writer = await database.pool.connect();
  await writer.query('begin');
  const { tokenHash, tokenEncrypted } = encryptToken(new KeyRing([Buffer.from(old, 'base64')]), 'user_group', 'a late token');
  await writer.query("insert into user_group (provided_id, name, token_hash, token_encrypted) values ('late', 'late', $1, $2)", [
    tokenHash,
    tokenEncrypted,
  ]);
  const settings = { DATABASE_URL: database.url, ENCRYPTION_KEYS: `${added},${old}` };
  const rotation = launch(process.execPath, ['dist/main.js', 'keys', 'rotate', 'encryption'], settings);
  await until(async () => rotation.output.stderr.includes('Waiting for transactions'), 'it waits');
  await writer.query('commit');
  writer.release();
  expect(await rotation.ended).toMatchObject({ code: 0 });
  const [first, second] = (await list(settings)).encryptionKeys;
  expect([first?.currentTokens, second?.currentTokens]).toEqual([2, 0]);
});

test('keys rotate signing publishes the next key, and run again too early it changes nothing; keys list shows both', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const settings = { DATABASE_URL: database.url };
  expect((await list(settings)).signingKeys).toEqual([]);
  const gateway = await serve(settings);
  const [first] = (await list(settings)).signingKeys;
  expect(first).toMatchObject({ state: 'signing', signsUntil: null, publishedUntil: null });

  const rotated = await run(['keys', 'rotate', 'signing'], settings);
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  expect(rotated.stdout).toMatch(/^Published a new signing key. It signs in 10 minutes/);
  const again = await run(['keys', 'rotate', 'signing'], settings);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing was changed/) });

  const [old, added, ...others] = (await list(settings)).signingKeys;
  expect(others).toEqual([]);
  expect(old).toMatchObject({ id: first?.id, state: 'signing', signsUntil: added?.signsFrom });
  expect(Date.parse(old?.publishedUntil ?? '') - Date.parse(old?.signsUntil ?? '')).toBe(86_400_000);
  expect(added).toMatchObject({ state: 'published', signsUntil: null });
  const { json } = await sendRequest(gateway.url, 'GET', '/.well-known/jwks.json');
  expect(json.keys.map(({ kid }: { kid: string }) => kid)).toEqual([old?.id, added?.id]);

  // As text, which has no private key either.
  const { stdout } = await run(['keys', 'list'], settings);
  expect(stdout).toMatch(
    /^Signing keys:\n1\. {2}[\w-]{43} {2}· {2}signs until .*\n2\. {2}[\w-]{43} {2}· {2}published; signs from .* on\n$/m,
  );
  await gateway.stop();
  const foreign = await run(['keys', 'list'], { ...settings, ENCRYPTION_KEYS: generateEncryptionKey() });
  expect(foreign.stderr).toMatch(/encrypted with a key that this gateway lacks \([0-9a-f]{8}\)/);
});

test('a token that was changed by hand keeps its old key, and is reported', async () => {
  const [old, added] = [generateEncryptionKey(), generateEncryptionKey()];
  const { database } = await databaseWith(old, 3);
  await database.pool.query("update user_group set token_encrypted = token_encrypted || '\\x00' where provided_id = 'group 1'");
  const both = { DATABASE_URL: database.url, ENCRYPTION_KEYS: `${added},${old}` };
  const { code, stdout, stderr } = await run(['keys', 'rotate', 'encryption'], both);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^Encrypted 5 tokens, signing keys and webhook secrets with the key [0-9a-f]{8}\.\n$/),
  });
  expect(stderr).toMatch(/1 rows of user_group use the key [0-9a-f]{8}\.\nA value of user_group.token_encrypted was changed/);
});
