import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { requireSpace } from '../../src/database/backup/create-backup.ts';
import { type Manifest, readManifest, writeManifest } from '../../src/database/backup/manifest.ts';
import { type Connection, connectDatabase } from '../../src/database/client.ts';
import { embeddedDatabase, openDatabase } from '../../src/database/open.ts';
import { drawNumbers, emptyFoldersIn, makeBackup, readStoredTokens, restoreInto } from '../support/backup.ts';
import type { TestDataDir } from '../support/data-dir.ts';
import { makeDatabaseFolder } from '../support/database-folder.ts';
import { makeKeyedDataDir, startEmbeddedGateway } from '../support/embedded-gateway.ts';
import { beginLoad } from '../support/load.ts';

let source: TestDataDir;
let folder: string;
let admin: string;
/** A backup that was made while writes ran. */
let backup: string;
let manifest: Manifest;
/** A cursor of the event feed from before the backup. */
let cursor: string;
/** The token of each group that was acknowledged before the backup began, that it was created with, and the last one. */
let before: ReadonlyMap<string, string>;
let created: ReadonlyMap<string, string>;
let after: ReadonlyMap<string, string>;
/** The last number of each sequence that was given out after the backup. */
let given: Record<string, number>;

beforeAll(async () => {
  source = makeKeyedDataDir();
  folder = makeDatabaseFolder();
  backup = join(folder, 'backup');
  const gateway = await startEmbeddedGateway(source.path);
  const load = beginLoad(gateway.url, gateway.token, 3);
  await load.successes(60);
  before = new Map(load.stored);
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
  ({ cursor } = (await gateway.send('GET', '/api/events?after=latest', { token: admin })).json);
  let underLoad: Promise<void> | undefined;
  manifest = await makeBackup(source.path, backup, {
    onProgress() {
      underLoad ??= gateway.database.pool.query('select pg_switch_wal()').then(() => load.successes(20));
    },
  });
  await underLoad;
  await load.successes(1);
  await load.stop();
  expect([...load.failures, ...load.replies.filter(({ status }) => status !== 200)]).toEqual([]);
  created = new Map(load.replies.flatMap(({ json: { user_group: group } }) => (group ? [[group.provided_id, group.token]] : [])));
  after = load.stored;
  given = await drawNumbers({ connectionString: source.databaseUrl() }, 1_000);
  await gateway.close();
});
afterAll(async () => {
  await source.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A name for a `DATA_DIR` that does not exist. */
function newDataDir(): string {
  const path = join(folder, `restored-${Math.random().toString(36).slice(2)}`);
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('a backup that is made while writes run restores every write acknowledged before it, and a consistent state', async () => {
  expect(manifest.files.filter(({ path }) => /^postgres\/pg_wal\/\w{24}$/.test(path)).length).toBeGreaterThan(1);
  const dataDir = newDataDir();
  await restoreInto(dataDir, backup);
  expect(readdirSync(dataDir).sort()).toEqual(['encryption-keys', 'postgres', 'postgres-password']);
  const restored = await startEmbeddedGateway(dataDir);
  const tokens = await readStoredTokens(restored.database);
  expect(before.size).toBeGreaterThan(20);
  expect(Object.fromEntries([...before.keys()].map((id) => [id, tokens.get(id)]))).toEqual(Object.fromEntries(before));
  // The backup may end between the creation of a group and the rotation of its token.
  for (const [id, token] of tokens) expect([created.get(id), after.get(id)]).toContain(token);
  const query = 'query ($token: String) { userGroup(by: { token: $token }) { providedId } }';
  for (const [id, token] of [...tokens].slice(0, 20)) {
    expect((await restored.graphql(query, { token })).json).toEqual({ data: { userGroup: { providedId: id } } });
  }
  const readEvents = (after: string) => restored.send('GET', `/api/events?after=${after}`, { token: admin });
  expect((await readEvents(cursor)).json).toMatchObject({ code: 'CURSOR_EXPIRED' });
  expect((await readEvents('latest')).json).toMatchObject({ success: 1 });
  // It is a database like any other: it takes writes, and can be backed up in turn.
  expect((await restored.send('PUT', '/api/user', { body: { user_group_id: [...before.keys()][0], name: 'x' } })).status).toBe(
    200,
  );
  await restored.close();
  const again = join(folder, 'again');
  await makeBackup(dataDir, again);
  const second = newDataDir();
  await restoreInto(second, again);
  expect(existsSync(join(second, 'postgres', 'PG_VERSION'))).toBe(true);
});

test('no number that was given out after the backup is given out again, and none by two restores of it', async () => {
  const drawn: Record<string, number>[] = [];
  const inspect = async (connect: (database: string) => Connection) =>
    void drawn.push(await drawNumbers(connect(embeddedDatabase), 1));
  for (let times = 0; times < 2; times += 1) await restoreInto(newDataDir(), backup, { inspect });
  const [first = {}, second = {}] = drawn;
  expect(Object.keys(given)).toEqual(expect.arrayContaining(['user_group_team_id_seq', 'event_id_seq', 'api_token_id_seq']));
  for (const [name, last] of Object.entries(given)) {
    for (const next of [first[name], second[name]]) expect(next, name).toBeGreaterThan(last);
    expect(first[name], name).not.toBe(second[name]);
  }
});

test('a backup of a stopped server starts it, and stops it again; of a running one, leaves it running', async () => {
  expect(source.postmaster()).toBeUndefined();
  const target = join(folder, 'of-stopped');
  await makeBackup(source.path, target, { secretFiles: [] });
  expect(source.postmaster()).toBeUndefined();
  expect(readdirSync(target).sort()).toEqual(['backup-manifest.ndjson', 'postgres']);
  await expect(restoreInto(newDataDir(), target)).rejects.toThrow(/no postgres-password: it was made with --without-keys/);
  await restoreInto(newDataDir(), target, { secretsFolder: source.path });
});

test('the times of a backup are by the clock of the database, not by that of the process', async () => {
  const target = join(folder, 'of-another-clock');
  const startedMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: startedMs + 400 * 86_400_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { startedAt, completedAt } = await makeBackup(source.path, target);
  expect(Date.parse(completedAt) - Date.parse(startedAt)).toBeGreaterThan(0);
  expect(Date.parse(startedAt) - startedMs).toBeLessThan(86_400_000);
});

test('a file with a name that cannot be restored ends a backup before anything is copied', async () => {
  const target = join(folder, 'of-odd-name');
  const odd = join(source.path, 'postgres', 'server_19:30:00.log');
  writeFileSync(odd, '');
  await expect(makeBackup(source.path, target)).rejects.toThrow(/server_19:30:00\.log" has a name that .*Rename it/);
  rmSync(odd);
  expect(existsSync(target)).toBe(false);
});

test('only its owner can read a backup, and it has nothing of the running server', () => {
  expect(statSync(backup).mode & 0o777).toBe(0o700);
  for (const { path } of manifest.files) expect(`${path} ${statSync(join(backup, path)).mode & 0o777}`).toBe(`${path} ${0o600}`);
  const names = manifest.files.map(({ path }) => path);
  expect(names).toEqual(expect.arrayContaining(['encryption-keys', 'postgres-password', 'postgres/backup_label']));
  expect(names.filter((name) => /postmaster|postgres\.log|pg_internal|pg_replslot\//.test(name))).toEqual([]);
  expect(manifest).toMatchObject({
    gateway: '0.0.0',
    postgres: readFileSync(join(backup, 'postgres/PG_VERSION'), 'utf8').trim(),
  });
  expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
});

/** Changes a file of the backup until the test ends. */
function spoil(path: string, change: (content: Buffer) => Buffer | undefined): void {
  const file = join(backup, path);
  const content = readFileSync(file);
  onTestFinished(() => writeFileSync(file, content, { mode: 0o600 }));
  const changed = change(Buffer.from(content));
  if (changed) writeFileSync(file, changed);
  else rmSync(file);
}

function flipByte(content: Buffer): Buffer {
  const at = Math.floor(content.length / 2);
  content[at] = (content[at] ?? 0) ^ 1;
  return content;
}

const manifestFile = 'backup-manifest.ndjson';
const largest = () =>
  [...manifest.files].sort((a, b) => b.bytes - a.bytes).find(({ path }) => path.includes('/base/'))?.path ?? '';

/** Replaces the manifest until the test ends, with a valid checksum. */
async function rewriteManifest(change: (manifest: Manifest) => Manifest): Promise<void> {
  spoil(manifestFile, () => undefined);
  await writeManifest(backup, change(manifest));
}

/** Changes the lines of the manifest until the test ends, and gives them a valid checksum. */
function rewriteLines(change: (lines: string[]) => unknown[]): void {
  spoil(manifestFile, (content) => {
    const lines = change(content.toString().split('\n').slice(0, -2))
      .map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
      .join('');
    const checksum = createHash('sha256').update(lines).digest('hex');
    return Buffer.from(`${lines}${JSON.stringify({ checksum })}\n`);
  });
}

/** Puts files with these contents into the backup until the test ends, also into the manifest. */
async function place(contents: Readonly<Record<string, string>>): Promise<void> {
  const files = Object.entries(contents).map(([path, content]) => {
    if (existsSync(join(backup, path))) spoil(path, () => Buffer.from(content));
    else {
      const created = mkdirSync(dirname(join(backup, path)), { recursive: true });
      writeFileSync(join(backup, path), content);
      onTestFinished(() => rmSync(created ?? join(backup, path), { recursive: true }));
    }
    return { path, bytes: Buffer.byteLength(content), sha256: createHash('sha256').update(content).digest('hex') };
  });
  await rewriteManifest((other) => ({ ...other, files: [...other.files.filter(({ path }) => !(path in contents)), ...files] }));
}

/** Puts a symbolic link to the same content into the place of a file or folder of the backup, until the test ends. */
function linkElsewhere(path: string): void {
  const elsewhere = join(folder, 'elsewhere');
  renameSync(join(backup, path), elsewhere);
  symlinkSync(elsewhere, join(backup, path));
  onTestFinished(() => {
    rmSync(join(backup, path));
    renameSync(elsewhere, join(backup, path));
  });
}

/** Has a valid manifest of a backup whose log ends right after the record that recovery begins with. */
async function zeroLog(): Promise<void> {
  const label = readFileSync(join(backup, 'postgres/backup_label'), 'utf8');
  const [, segment = '', lsn = ''] = /\(file (\w+)\)\nCHECKPOINT LOCATION: \w+\/(\w+)/.exec(label) ?? [];
  const path = `postgres/pg_wal/${segment}`;
  const endOfRecord = (Number.parseInt(lsn, 16) % 2 ** 24) + 256;
  spoil(path, (content) => content.fill(0, endOfRecord));
  const sha256 = createHash('sha256')
    .update(readFileSync(join(backup, path)))
    .digest('hex');
  await rewriteManifest((other) => ({
    ...other,
    files: other.files.map((file) => (file.path === path ? { ...file, sha256 } : file)),
  }));
}

test.each<[string, () => void | Promise<void>, RegExp]>([
  [
    'a data file that has one other bit',
    () => spoil(largest(), flipByte),
    /postgres\/base\/.* was changed: its checksum is wrong/,
  ],
  ['a file that is missing', () => spoil('postgres/PG_VERSION', () => undefined), /PG_VERSION is missing/],
  ['a file that was cut off', () => spoil(largest(), (content) => content.subarray(1)), /has \d+ bytes instead of \d+/],
  ['a manifest that has one other bit', () => spoil(manifestFile, flipByte), /was changed or cut off: its checksum is wrong/],
  ['a manifest that was cut off', () => spoil(manifestFile, (content) => content.subarray(0, 500)), /was changed or cut off/],
  ['no manifest', () => spoil(manifestFile, () => undefined), /is not a complete backup: it has no file backup-manifest/],
  [
    'another version of PostgreSQL',
    () => rewriteManifest((other) => ({ ...other, postgres: '14' })),
    /is of PostgreSQL 14, and this gateway bundles PostgreSQL \d+\. Restore it with version 0\.0\.0/,
  ],
  [
    'a path that leads out of the backup',
    () => rewriteManifest((other) => ({ ...other, folders: [...other.folders, 'postgres/../../x'] })),
    /names "postgres\/\.\.\/\.\.\/x", which is not in the backup/,
  ],
  ['a path with a line break', () => rewriteLines((lines) => [...lines, { folder: 'postgres/a\nb' }]), /names "postgres\/a\\nb"/],
  ...['standby.signal', 'Standby.Signal', 'tablespace_map', 'postmaster.pid', 'pg_replslot/slot/state', 'PG_NOTIFY/0000'].map(
    (name): [string, () => Promise<void>, RegExp] => [
      `a file ${name}`,
      () => place({ [`postgres/${name}`]: '' }),
      new RegExp(`names "postgres/${name}", which no backup has`),
    ],
  ),
  ...['PG_VERSION', 'backup_label', 'global/pg_control'].map((name): [string, () => Promise<void>, RegExp] => [
    `no ${name} in its manifest`,
    () => rewriteManifest((other) => ({ ...other, files: other.files.filter(({ path }) => path !== `postgres/${name}`) })),
    new RegExp(`does not name postgres/${name}, which every backup has`),
  ]),
  ['a file besides the database', () => place({ 'postgres-home': 'x' }), /names "postgres-home", which no backup has/],
  ...['postgres/PG_VERSION', 'encryption-keys', 'postgres/base', 'postgres', manifestFile].map(
    (path): [string, () => void, RegExp] => [
      `a symbolic link at ${path}`,
      () => linkElsewhere(path),
      new RegExp(`${path}.* not a regular (file|folder)`),
    ],
  ),
  ...[
    'no JSON',
    'null',
    [],
    {},
    { folder: 1 },
    { file: 'postgres/x' },
    { file: 'postgres/x', bytes: -1, sha256: '0'.repeat(64) },
    { file: 'postgres/x', bytes: 1, sha256: '0' },
  ].map((line): [string, () => void, RegExp] => [
    `the line ${JSON.stringify(line)} in its manifest`,
    () => rewriteLines((lines) => [lines[0], line, ...lines.slice(1)]),
    /backup-manifest\.ndjson is damaged: line 2 is not valid\. Restore another copy/,
  ]),
  ...[{}, { gateway: '\u001b[2J' }, { postgres: 18 }, { systemIdentifier: 'x' }, { completedAt: 'today' }, { stopLsn: '0' }].map(
    (change): [string, () => void, RegExp] => [
      `a description with ${JSON.stringify(change)}`,
      () =>
        rewriteLines(([head = '', ...lines]) => [
          Object.keys(change).length > 0 ? { ...JSON.parse(head), ...change } : {},
          ...lines,
        ]),
      /backup-manifest\.ndjson is damaged: line 1 is not valid\. Restore another copy/,
    ],
  ),
  [
    'another layout',
    () => rewriteLines(([head = '', ...lines]) => [{ ...JSON.parse(head), layout: 2 }, ...lines]),
    /was made by version 0\.0\.0 of the gateway, in a layout that this one cannot read/,
  ],
  ['a log that was zeroed behind the checkpoint', zeroLog, /WAL ends before end of online backup/],
  [
    'a log that ends before the end of the backup',
    () => rewriteManifest((other) => ({ ...other, stopLsn: 'FF/0' })),
    /did not recover the database to the end of the backup/,
  ],
  [
    'no pg_class in its manifest',
    () => rewriteManifest((other) => ({ ...other, files: other.files.filter(({ path }) => path !== 'postgres/base/5/1259') })),
    /The database was recovered, but cannot be read: could not open file "base\/5\/1259"/,
  ],
  [
    'another password',
    async () => {
      spoil('postgres-password', () => Buffer.from('another'));
      await rewriteManifest((other) => ({ ...other, files: other.files.filter(({ path }) => path !== 'postgres-password') }));
    },
    /postgres-password does not belong to this backup/,
  ],
])('restore rejects a backup with %s, and leaves nothing', async (_, prepare, message) => {
  await prepare();
  const dataDir = newDataDir();
  await expect(restoreInto(dataDir, backup, { secretsFolder: backup })).rejects.toThrow(message);
  expect(existsSync(dataDir)).toBe(false);
});

test('restore takes over no configuration of PostgreSQL, and says so', async () => {
  const proof = join(folder, 'executed');
  mkdirSync(proof);
  chmodSync(proof, 0o777); // PostgreSQL may run as another user
  const commands = ['recovery_end_command', 'archive_cleanup_command', 'archive_command']
    .map((name) => `${name} = 'touch ${join(proof, name)}'\n`)
    .join('');
  await place({
    'postgres/postgresql.auto.conf': `${commands}archive_mode = on\n`,
    'postgres/postgresql.conf': "include '/nowhere'\nshared_preload_libraries = 'nothing'\n",
    'postgres/pg_hba.conf': 'host all all 0.0.0.0/0 trust\n',
  });
  const dataDir = newDataDir();
  const events: string[] = [];
  await restoreInto(dataDir, backup, { onEvent: (event) => events.push(event) });
  expect(readdirSync(proof)).toEqual([]);
  for (const name of ['postgresql.conf', 'postgresql.auto.conf', 'pg_hba.conf', 'pg_ident.conf'])
    expect(readFileSync(join(dataDir, 'postgres', name))).toEqual(readFileSync(join(source.path, 'postgres', name)));
  expect(events.join('\n')).toMatch(
    /configuration .* is that of a new database\. .* not taken over: postgresql\.conf, postgresql\.auto\.conf, pg_hba\.conf\. /,
  );
});

test('restore takes over no settings of roles and databases, loads nothing that they name, and says so', async () => {
  const tuned = makeKeyedDataDir();
  onTestFinished(() => tuned.remove());
  const gateway = await startEmbeddedGateway(tuned.path);
  const client = await gateway.database.pool.connect();
  const target = join(folder, 'with-settings');
  let changing: Promise<unknown> | undefined;
  // During the backup, because nobody can connect afterwards: there is no such library.
  await makeBackup(tuned.path, target, {
    onProgress() {
      changing ??= client.query(
        `alter database ${embeddedDatabase} set synchronous_commit = off;
         alter role all set default_transaction_read_only = on; alter role all set session_preload_libraries = 'missing'`,
      );
    },
  });
  await changing;
  await client.query('alter role all reset all');
  client.release();
  await gateway.close();
  const events: string[] = [];
  let left: unknown;
  await restoreInto(newDataDir(), target, {
    onEvent: (event) => events.push(event),
    inspect: async (connect) => {
      const database = connectDatabase(connect(embeddedDatabase));
      left = (await database.pool.query('select setconfig from pg_db_role_setting')).rows;
      await database.close();
    },
  });
  expect(left).toEqual([]);
  expect(events).toContainEqual(
    expect.stringMatching(
      /roles and databases were not taken over: (?=.*role all: default_transaction_read_only=on).*role all in database \w+: synchronous_commit=off/,
    ),
  );
});

test('a backup is restored whose folders without files a copy has not kept', async () => {
  const copy = join(folder, 'copy');
  cpSync(backup, copy, { recursive: true });
  const empty = emptyFoldersIn(copy);
  expect(empty.length).toBeGreaterThan(3);
  for (const path of empty) rmdirSync(path);
  const dataDir = newDataDir();
  await restoreInto(dataDir, copy);
  expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true);
});

test('restores a backup of a server that permits more connections than a new one', async () => {
  const tuned = makeKeyedDataDir();
  onTestFinished(() => tuned.remove());
  writeFileSync(join(tuned.path, 'postgres', 'postgresql.auto.conf'), 'max_connections = 150\n');
  const target = join(folder, 'tuned');
  await makeBackup(tuned.path, target);
  const dataDir = newDataDir();
  await restoreInto(dataDir, target);
  expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true);
});

test('restore never replaces anything, keeps an empty folder after a failure, and can be stopped', async () => {
  const dataDir = newDataDir();
  mkdirSync(dataDir);
  const failed = restoreInto(dataDir, backup, {
    inspect: async () => {
      throw new Error('not what was expected');
    },
  });
  await expect(failed).rejects.toThrow('not what was expected');
  expect(readdirSync(dataDir)).toEqual([]);

  const controller = new AbortController();
  const stopped = restoreInto(dataDir, backup, {
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('stop')),
  });
  await expect(stopped).rejects.toThrow('stop');
  expect(readdirSync(dataDir)).toEqual([]);

  writeFileSync(join(dataDir, 'kept'), '');
  await expect(restoreInto(dataDir, backup)).rejects.toThrow(/is not empty, and a restore never replaces anything/);
  expect(readdirSync(dataDir)).toEqual(['kept']);
});

test('of two restores into one folder at once, one succeeds', async () => {
  const dataDir = newDataDir();
  const results = await Promise.allSettled([restoreInto(dataDir, backup), restoreInto(dataDir, backup)]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const { reason } = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  expect(String(reason)).toMatch(/restore\.partial exists: another restore is writing to it|is not empty/);
  expect(readdirSync(dataDir).sort()).toEqual(['encryption-keys', 'postgres', 'postgres-password']);
});

test('a restore during which a gateway is started in the folder fails, and leaves its data and its keys', async () => {
  const dataDir = newDataDir();
  const own = ['encryption-keys', 'postgres-password', join('postgres', 'PG_VERSION')];
  const failed = restoreInto(dataDir, backup, {
    inspect: async () => {
      mkdirSync(join(dataDir, 'postgres'));
      for (const name of own) writeFileSync(join(dataDir, name), 'of the gateway');
    },
  });
  await expect(failed).rejects.toThrow(/was used by a gateway during the restore, and a restore never replaces anything/);
  expect(own.map((name) => readFileSync(join(dataDir, name), 'utf8'))).toEqual(own.map(() => 'of the gateway'));
  expect(readdirSync(dataDir).sort()).toEqual(['encryption-keys', 'postgres', 'postgres-password']);
});

/** What a backup rejects. */
type Case = [string, (target: string) => [dataDir: string, target: string], RegExp];

test.each<Case>([
  ['no database', (target) => [join(folder, 'nowhere'), target], /There is no database in .*nowhere\. Set DATA_DIR/],
  ['a folder that is not empty', () => [source.path, backup], /is not empty, and a backup never replaces anything/],
  ['a folder in the data directory', () => [source.path, join(source.path, 'postgres', 'backup')], /is in the data directory/],
  [
    'one there whose name begins with dots',
    () => [source.path, join(source.path, 'postgres', '..b')],
    /is in the data directory/,
  ],
  [
    'one in a data directory whose database is a symbolic link',
    (target) => {
      const linked = `${target}-linked`;
      mkdirSync(linked);
      for (const name of readdirSync(source.path)) symlinkSync(join(source.path, name), join(linked, name));
      return [linked, join(source.path, 'postgres', 'backup')];
    },
    /is in the data directory/,
  ],
  ['a folder whose parent is missing', (target) => [source.path, join(target, 'x')], /cannot be created: ENOENT/],
  [
    'a file',
    () => [source.path, join(backup, 'backup-manifest.ndjson')],
    /is not a folder, and a backup never replaces anything/,
  ],
  [
    'a symbolic link to nothing',
    (target) => {
      symlinkSync(join(folder, 'nothing'), `${target}-link`);
      return [source.path, `${target}-link`];
    },
    /is a symbolic link to a folder that does not exist/,
  ],
  // A folder that every Linux has mounted.
  ...(process.platform === 'linux'
    ? ([
        [
          'the root of a file system',
          () => [source.path, '/proc'],
          /\/proc is the root of a file system.* such as \/proc\/backup/,
        ],
      ] as Case[])
    : []),
  [
    'a name under which another one is being written',
    (target) => {
      mkdirSync(`${target}.partial`);
      onTestFinished(() => rmSync(`${target}.partial`, { recursive: true }));
      return [source.path, target];
    },
    /\.partial exists: another backup is being written to it, or was interrupted/,
  ],
])('backup rejects %s', async (_, prepare, message) => {
  const [dataDir, target] = prepare(join(folder, 'rejected'));
  await expect(makeBackup(dataDir, target)).rejects.toThrow(message);
  expect(existsSync(join(folder, 'nowhere'))).toBe(false);
  expect(existsSync(join(folder, 'rejected'))).toBe(false);
});

test('a backup to a symbolic link to an empty folder is written there', async () => {
  mkdirSync(join(folder, 'linked'));
  symlinkSync(join(folder, 'linked'), join(folder, 'link'));
  await makeBackup(source.path, join(folder, 'link'));
  expect(await readManifest(join(folder, 'linked'))).toMatchObject({ systemIdentifier: manifest.systemIdentifier });
});

test.each<[string, (target: string) => void, RegExp]>([
  [
    'its folder is renamed',
    (target) => renameSync(`${target}.partial`, join(folder, 'renamed')),
    /could not be written completely: ENOENT.*What was written was removed/,
  ],
  [
    'another file gets its name',
    (target) => writeFileSync(target, ''),
    /was created during the backup, and a backup never replaces/,
  ],
])('a backup during which %s fails, says so, and leaves nothing', async (_, interfere, message) => {
  const target = join(folder, 'disturbed');
  onTestFinished(() => rmSync(target, { force: true }));
  let isDone = false;
  const disturbed = makeBackup(source.path, target, {
    onProgress() {
      if (!isDone) interfere(target);
      isDone = true;
    },
  });
  await expect(disturbed).rejects.toThrow(message);
  expect(existsSync(`${target}.partial`)).toBe(false);
});

test('no gateway creates an empty database in the place of one that a killed restore has left incomplete', async () => {
  const dataDir = newDataDir();
  mkdirSync(join(dataDir, 'restore.partial'), { recursive: true });
  const opened = openDatabase({ databaseUrl: undefined, dataDir, namedStatements: true, onEvent: () => {} });
  await expect(opened).rejects.toThrow(/restore\.partial exists: a backup is being restored .* delete the folder and restore/);
  expect(['postgres', 'postgres-password'].filter((name) => existsSync(join(dataDir, name)))).toEqual([]);
});

test('a backup that is stopped, or whose server is killed, leaves nothing; a second one at the same time is rejected', async () => {
  const stopped = new AbortController();
  await expect(
    makeBackup(source.path, join(folder, 'stopped'), {
      signal: stopped.signal,
      onProgress: () => stopped.abort(new Error('stop')),
    }),
  ).rejects.toThrow('stop');

  let second: Promise<unknown> | undefined;
  const first = makeBackup(source.path, join(folder, 'first'), {
    onProgress() {
      second ??= expect(makeBackup(source.path, join(folder, 'second'))).rejects.toThrow(/Another backup of this database/);
    },
  });
  await first;
  await second;

  let killed = false;
  const events: string[] = [];
  const lost = makeBackup(source.path, join(folder, 'lost'), {
    onProgress() {
      if (!killed) process.kill(source.postmaster() ?? 0, 'SIGKILL');
      killed = true;
    },
    onEvent: (message) => void events.push(message),
  });
  await expect(lost).rejects.toThrow(/PostgreSQL stopped during the backup|Connection terminated/);
  expect(readdirSync(folder).filter((name) => /^(stopped|second|lost)/.test(name))).toEqual([]);
});

test('a file system without enough space is reported before anything is copied', async () => {
  await expect(requireSpace(folder, 2 ** 60)).rejects.toThrow(/needs 1099511627776 MiB, and its file system has \d+ MiB left/);
  await requireSpace(folder, 1);
});

test.each<[string, (file: string) => void, RegExp]>([
  ['a named pipe', (file) => void execFileSync('mkfifo', [file]), /cannot be read: It is not a regular file/],
  [
    'larger than any',
    (file) => {
      writeFileSync(file, '');
      truncateSync(file, 2 ** 30);
    },
    /has 1073741824 bytes, more than any/,
  ],
])('a manifest that is %s is rejected without being read', async (_, write, message) => {
  const other = mkdtempSync(join(folder, 'other-'));
  write(join(other, manifestFile));
  await expect(readManifest(other)).rejects.toThrow(message);
});

test('the manifest is read as it was written', async () => {
  expect(await readManifest(backup)).toEqual(manifest);
});
