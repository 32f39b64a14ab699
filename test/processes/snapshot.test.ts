import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { snapshotTables } from '../../src/database/snapshot.ts';
import { makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDatabaseFolder } from '../support/database-folder.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { endProcesses, run, type ServeProcess, serve } from '../support/process.ts';
import { sendRequest } from '../support/request.ts';

const admin = 'an-operators/own+choice=2026';

let dataDir: TestDataDir;
let folder: string;
/** A backup that was made while groups were written. */
let backup: string;
/** The tokens of groups of Testing that were created before it began, by their ids. */
let tokens: ReadonlyMap<string, string>;
/** The first token of the group `rotated`, in its grace period. */
let retired: string;
let token: string;
let cursor: string;
let highest: number;

const settings = (of: TestDataDir) => ({ DATA_DIR: of.path, BOOTSTRAP_API_TOKEN: admin });
const make = (url: string, id: string) => sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: id } });
const readEvents = (url: string, after: string) =>
  sendRequest(url, 'GET', `/api/events?${new URLSearchParams({ after, limit: '100' })}`, { token: admin });

async function countEvents(url: string): Promise<number> {
  let [count, page] = [0, (await sendRequest(url, 'GET', '/api/events?limit=100', { token: admin })).json];
  for (; page.has_more; page = (await readEvents(url, page.cursor)).json) count += page.events.length;
  return count + page.events.length;
}

/** The group that a token identifies. */
async function resolve({ url }: ServeProcess, userGroupToken: string): Promise<string | undefined> {
  const body = {
    query: 'query ($token: String!) { userGroup(by: { token: $token }) { providedId } }',
    variables: { token: userGroupToken },
  };
  return (await sendRequest(url, 'POST', '/graphql', { token, body })).json.data.userGroup?.providedId;
}

async function expectEverything(gateway: ServeProcess): Promise<void> {
  expect(await tokensOf(gateway.url, token, tokens.keys())).toEqual(tokens);
  expect(await resolve(gateway, tokens.get('caller 0 group 0') ?? '')).toBe('caller 0 group 0');
  expect(await resolve(gateway, retired)).toBe('rotated');
}

beforeAll(async () => {
  [dataDir, folder] = [makeDataDir(), makeDatabaseFolder()];
  backup = join(folder, 'backup');
  const gateway = await serve(settings(dataDir));
  const created = await run(
    [
      'token',
      'create',
      '--name',
      'test',
      '--environment',
      'Testing',
      '--json',
      '--scope',
      'groups:write',
      '--scope',
      'groups:read',
    ],
    settings(dataDir),
  );
  token = JSON.parse(created.stdout).token;
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
  await dataDir.remove();
  rmSync(folder, { recursive: true });
});

let own: TestDatabase;
beforeEach(async () => {
  own = await createTestDatabase('template0');
});
afterEach(() => own.close());

const ownSettings = () => ({
  DATABASE_URL: own.url,
  ENCRYPTION_KEYS: readFileSync(join(backup, 'encryption-keys'), 'utf8').trim(),
  BOOTSTRAP_API_TOKEN: admin,
});

test('a backup that was made while groups were written is restored into a PostgreSQL of your own, and back into a bundled one', async () => {
  expect(new Set(readdirSync(backup))).toEqual(
    new Set([...snapshotTables.map((table) => `${table}.copy`), 'encryption-keys', 'manifest.json']),
  );
  for (const name of readdirSync(backup)) expect(statSync(join(backup, name)).mode & 0o777).toBe(0o600);
  const { code, stdout } = await run(['restore', backup], ownSettings());
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^Restored the database: \d+ user groups, as of 20.*Z\. Its encryption keys are in .*backup\/encryption-keys: set/,
    ),
  });
  const manifest = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8'));
  const gateway = await serve(ownSettings());
  await expectEverything(gateway);
  expect(await countEvents(gateway.url)).toBe(manifest.tables.find(({ name }: { name: string }) => name === 'event').rows);
  expect(await readEvents(gateway.url, cursor)).toMatchObject({ status: 410, json: { code: 'CURSOR_EXPIRED' } });
  expect((await make(gateway.url, 'new')).json.user_group.team_id).toBeGreaterThan(highest);

  const second = join(folder, 'second');
  const made = await run(['backup', second, '--without-keys'], ownSettings());
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('It does not contain the encryption keys') });
  expect(existsSync(join(second, 'encryption-keys'))).toBe(false);
  await gateway.stop();
  const back = makeDataDir();
  const restored = await run(['restore', second], settings(back));
  expect(restored).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/has no encryption keys: put them into .*encryption-keys/),
  });
  cpSync(join(backup, 'encryption-keys'), join(back.path, 'encryption-keys'));
  const bundled = await serve(settings(back));
  await expectEverything(bundled);
  await bundled.stop();
  await back.remove();
});

test('a restore into a DATA_DIR puts the keys in their place, and none into a database that is not empty', async () => {
  const target = makeDataDir();
  expect(await run(['restore', backup], settings(target))).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(join(target.path, 'encryption-keys'))).toEqual(readFileSync(join(backup, 'encryption-keys')));
  expect(statSync(join(target.path, 'encryption-keys')).mode & 0o777).toBe(0o600);
  expect(await run(['restore', backup], settings(target))).toMatchObject({
    code: 1,
    stderr: 'The database is not empty. Restore the backup into a new one.\n',
  });
  await target.remove();
});

test.each<[string, (copy: string) => void, RegExp]>([
  ...['user_group.copy', 'encryption-keys', 'manifest.json'].map((name): [string, (copy: string) => void, RegExp] => [
    `one other bit in ${name}`,
    (copy) => {
      const bytes = readFileSync(join(copy, name));
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      writeFileSync(join(copy, name), bytes);
    },
    new RegExp(`^.*/${name} was changed: its checksum is wrong\\. Restore another copy\\.\n$`),
  ]),
  [
    'no manifest',
    (copy) => rmSync(join(copy, 'manifest.json')),
    /^.* is not a complete backup: manifest\.json cannot be read \(ENOENT\)\.\n$/,
  ],
  ['a file that is missing', (copy) => rmSync(join(copy, 'event.copy')), /^ENOENT: .*event\.copy'\n$/],
])('a backup with %s is refused with one line, before a database is created', async (_, spoil, message) => {
  const copy = join(folder, 'copy');
  cpSync(backup, copy, { recursive: true });
  spoil(copy);
  const target = makeDataDir();
  expect(await run(['restore', copy], settings(target))).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  expect(readdirSync(target.path)).toEqual([]);
  rmSync(copy, { recursive: true });
  await target.remove();
});

test('a folder that is not empty is refused, and stays as it is', async () => {
  const target = join(folder, 'used');
  mkdirSync(target);
  writeFileSync(join(target, 'file'), '');
  expect(await run(['backup', target], settings(dataDir))).toMatchObject({
    code: 1,
    stderr: `${target} is not empty. Choose another folder.\n`,
  });
  expect(readdirSync(target)).toEqual(['file']);
});

test('a backup has every table but those that are worth nothing later', async () => {
  expect(await run(['migrate'], ownSettings())).toMatchObject({ code: 0 });
  const { rows } = await own.pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const leftOut = ['_prisma_migrations', 'idempotency_record', 'request_count'];
  expect(new Set(rows.map(({ name }) => name))).toEqual(new Set([...snapshotTables, ...leftOut]));
});
