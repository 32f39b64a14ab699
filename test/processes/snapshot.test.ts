import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { snapshotTables } from '../../src/database/snapshot.ts';
import { copyDataDir, makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDatabaseFolder } from '../support/database-folder.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { endProcesses, run, type ServeProcess, serve } from '../support/process.ts';
import { sendRequest } from '../support/request.ts';

const token = 'an-operators/own+choice=2026';

let own: TestDatabase;
let dataDir: TestDataDir;
let folder: string;
/** A backup that was made while groups were written. */
let backup: string;
/** The tokens of groups that were created before it began, by their ids. */
let tokens: ReadonlyMap<string, string>;
/** The first token of the group `rotated`, in its grace period. */
let retired: string;
let cursor: string;
let highest: number;

const settings = (of: TestDataDir) => ({ DATA_DIR: of.path, BOOTSTRAP_API_TOKEN: token });
const make = (url: string, id: string) => sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: id } });
const readEvents = (url: string, after: string) =>
  sendRequest(url, 'GET', `/api/events?${new URLSearchParams({ after, limit: '100' })}`, { token });

/** The group that a token identifies. */
async function resolve({ url }: ServeProcess, userGroupToken: string): Promise<string | undefined> {
  const query = 'query ($token: String!) { userGroup(by: { token: $token }) { providedId } }';
  const body = { query, variables: { token: userGroupToken } };
  return (await sendRequest(url, 'POST', '/graphql', { token, body })).json.data.userGroup?.providedId;
}

async function expectEverything(gateway: ServeProcess): Promise<void> {
  expect(await tokensOf(gateway.url, token, tokens.keys())).toEqual(tokens);
  expect(await resolve(gateway, tokens.get('caller 0 group 0') ?? '')).toBe('caller 0 group 0');
  expect(await resolve(gateway, retired)).toBe('rotated');
}

function newDataDir(): TestDataDir {
  const made = makeDataDir();
  onTestFinished(() => made.remove());
  return made;
}

beforeAll(async () => {
  [own, dataDir, folder] = [await createTestDatabase('template0'), copyDataDir(), makeDatabaseFolder()];
  backup = join(folder, 'backup');
  const gateway = await serve(settings(dataDir));
  retired = (await make(gateway.url, 'rotated')).json.user_group.token;
  await sendRequest(gateway.url, 'POST', '/api/user', { token, body: { current_token: retired, grace_seconds: 600 } });
  const load = beginLoad(gateway.url, token);
  await load.successes(60);
  tokens = new Map(load.stored);
  expect(await run(['backup', backup], settings(dataDir))).toMatchObject({ code: 0, stderr: '' });
  await load.successes(10);
  await load.stop();
  highest = (await make(gateway.url, 'last')).json.user_group.team_id;
  cursor = (await readEvents(gateway.url, 'latest')).json.cursor;
  await gateway.stop();
});
afterAll(async () => {
  await endProcesses();
  await Promise.all([own.close(), dataDir.remove()]);
  rmSync(folder, { recursive: true });
});

test('a backup that was made while groups were written is restored into a PostgreSQL of your own, and back into a bundled one', async () => {
  const keys = join(backup, 'encryption-keys');
  const ENCRYPTION_KEYS = readFileSync(keys, 'utf8').trim();
  const ownSettings = { DATABASE_URL: own.url, ENCRYPTION_KEYS, BOOTSTRAP_API_TOKEN: token };
  for (const name of readdirSync(backup)) expect(statSync(join(backup, name)).mode & 0o777).toBe(0o600);
  const { code, stdout } = await run(['restore', backup], ownSettings);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Restored the database: \d+ user groups, as of 20.*Z\. Its encryption keys are in .*encryption-keys: set/,
  );
  const gateway = await serve(ownSettings);
  await expectEverything(gateway);
  expect(await readEvents(gateway.url, cursor)).toMatchObject({ status: 410, json: { code: 'CURSOR_EXPIRED' } });
  expect((await make(gateway.url, 'new')).json.user_group.team_id).toBeGreaterThan(highest);
  // Every table but those that are worth nothing later.
  const { rows } = await own.pool.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  const leftOut = ['_prisma_migrations', 'idempotency_record', 'request_count'];
  expect(new Set(rows.map(({ name }) => name))).toEqual(new Set([...snapshotTables, ...leftOut]));

  const second = join(folder, 'second');
  const made = await run(['backup', second, '--without-keys'], ownSettings);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('It does not contain the encryption keys') });
  expect(existsSync(join(second, 'encryption-keys'))).toBe(false);
  const back = newDataDir();
  expect((await run(['restore', second], settings(back))).stdout).toMatch(
    /has no encryption keys: put them into .*encryption-keys/,
  );
  cpSync(keys, join(back.path, 'encryption-keys'));
  await expectEverything(await serve(settings(back)));
});

test('a restore into a DATA_DIR puts the keys in their place; neither a database nor a folder that is not empty is used', async () => {
  const target = newDataDir();
  expect(await run(['restore', backup], settings(target))).toMatchObject({ code: 0, stderr: '' });
  const file = join(target.path, 'encryption-keys');
  expect(readFileSync(file)).toEqual(readFileSync(join(backup, 'encryption-keys')));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = await run(['restore', backup], settings(target));
  expect(again).toMatchObject({ code: 1, stderr: 'The database is not empty. Restore the backup into a new one.\n' });
  const used = await run(['backup', backup], settings(target));
  expect(used).toMatchObject({ code: 1, stderr: `${backup} is not empty. Choose another folder.\n` });
});

/** Changes one bit in the middle of a file. */
const change = (name: string) => (copy: string) => {
  const bytes = readFileSync(join(copy, name));
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(join(copy, name), bytes);
};
const wasChanged = /was changed: its checksum is wrong\. Restore another copy\.\n$/;

test.each<[string, (copy: string) => void, RegExp]>([
  ['one other bit in a table', change('user_group.copy'), wasChanged],
  ['one other bit in the keys', change('encryption-keys'), wasChanged],
  ['no manifest', (copy) => rmSync(join(copy, 'manifest.json')), /is not a complete backup: manifest\.json cannot be read/],
])('a backup with %s is refused with one line, before a database is created', async (_, spoil, message) => {
  const copy = join(folder, 'copy');
  cpSync(backup, copy, { recursive: true });
  onTestFinished(() => rmSync(copy, { recursive: true }));
  spoil(copy);
  const target = newDataDir();
  expect(await run(['restore', copy], settings(target))).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  expect(readdirSync(target.path)).toEqual([]);
});
