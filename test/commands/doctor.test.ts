import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkNames, type DoctorOptions, doctor } from '../../src/commands/doctor/doctor.ts';
import { UsageError } from '../../src/commands/options.ts';
import { generateEncryptionKey } from '../../src/encryption/key-texts.ts';
import { makeDataDir } from '../support/data-dir.ts';
import { createTestDatabase, inAscii, type TestDatabase } from '../support/database.ts';
import { makeKeyedDataDir } from '../support/embedded-gateway.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { storedToken, testKey } from '../support/keys.ts';
import { lockReplication } from '../support/lock-replication.ts';
import { collect } from '../support/text-stream.ts';

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await startGateway(database);
});
afterAll(async () => {
  await gateway.close();
  await database.close();
});

interface Report {
  ok: boolean;
  version: string;
  checks: { name: string; status: string; found: string; remedy: string | null }[];
}

const bootstrapToken = 'a-token-that-must-not-be-shown';
const otherKey = generateEncryptionKey();

/** Runs the command. No output may contain a secret. */
async function diagnose(settings: NodeJS.ProcessEnv, options: Partial<DoctorOptions> = {}): Promise<Report & { code: number }> {
  const environment = { PORT: '0', BOOTSTRAP_API_TOKEN: bootstrapToken, ...settings };
  const output = collect();
  const code = await doctor(['--json'], output.stream, { environment, ...options });
  const { password } = new URL(settings['DATABASE_URL'] ?? database.url);
  for (const secret of [bootstrapToken, testKey, otherKey, password]) expect(output.text()).not.toContain(secret);
  const report = JSON.parse(output.text()) as Report;
  for (const { status, found, remedy } of report.checks) {
    expect(remedy !== null).toBe(['warning', 'failure'].includes(status));
    expect(`${found}${remedy}`).not.toMatch(/\n/);
  }
  return { code, ...report };
}

const reports = new Map<string, ReturnType<typeof diagnose>>();

/** The report on settings without options, which rows of the table share. */
function diagnoseOnce(settings: NodeJS.ProcessEnv): ReturnType<typeof diagnose> {
  const key = JSON.stringify(settings);
  const report = reports.get(key) ?? diagnose(settings);
  reports.set(key, report);
  return report;
}

const own = (url: string = database.url, settings: NodeJS.ProcessEnv = {}) => ({
  DATABASE_URL: url,
  ENCRYPTION_KEYS: testKey,
  ...settings,
});

/** A database of the test's own, with what a statement changes. */
async function changed(statement: string, template?: string): Promise<string> {
  const other = await createTestDatabase(template);
  onTestFinished(() => other.close());
  await other.pool.query(statement);
  return other.url;
}

const withOption = (option: string) => `${database.url}?options=${encodeURIComponent(`-c ${option}`)}`;

/** The URL of the database for a role that has only what a statement grants. */
async function asRole(name: string, grants: string): Promise<string> {
  const role = `${name}_${process.pid}`;
  await database.pool.query(`create role ${role} login password 'of-a-role'; grant ${grants} to ${role}`);
  onTestFinished(async () => void (await database.pool.query(`drop owned by ${role}; drop role ${role}`)));
  const url = new URL(database.url);
  [url.username, url.password] = [role, 'of-a-role'];
  return url.href;
}

/** Listens on a port until the test ends. */
async function listening(server: Server): Promise<string> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

/** A `DATA_DIR` on which no server runs, with what a function changes. */
function stopped(change: (path: string) => void): NodeJS.ProcessEnv {
  const dataDir = makeKeyedDataDir();
  onTestFinished(() => dataDir.remove());
  change(dataDir.path);
  return { DATA_DIR: dataDir.path };
}

/** A file in a folder of its own. */
function someFile(content: string, mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file');
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

const at = (ms: number) => () => Date.now() + ms;
const insertMigration =
  "insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'y', '29990101000000_newer', now())";
/** A statement that changes a setting of the database, for sessions that begin afterwards. */
const setForDatabase = (setting: string) =>
  `do $$ begin execute format('alter database %I set ${setting}', current_database()); end $$`;
const limited = `${setForDatabase("statement_timeout = ''5s''")}; ${setForDatabase("lock_timeout = ''4s''")}`;
const inUtc = `${limited}; ${setForDatabase("timezone = ''Etc/UTC''")}`;
const inKolkata = `${limited}; ${setForDatabase("timezone = ''Asia/Kolkata''")}`;
const waitingLong = `${inUtc}; ${setForDatabase("lock_timeout = ''5s''")}`;
const pooled = { DB_NAMED_STATEMENTS: 'false' };

type State = { settings: NodeJS.ProcessEnv; options?: Partial<DoctorOptions> };
type Case = [check: string, what: string, status: string, state: () => State | Promise<State>, text: RegExp];

/** A state that a check finds, with the settings alone or with options. */
const when = (settings: NodeJS.ProcessEnv, options?: Partial<DoctorOptions>): State => ({
  settings,
  ...(options && { options }),
});

test.each<Case>([
  ['settings', 'valid', 'ok', () => when(own()), /^valid; set: PORT, DATABASE_URL, ENCRYPTION_KEYS, BOOTSTRAP_API_TOKEN$/],
  ['settings', 'invalid', 'failure', () => when(own(undefined, { PORT: '65536' })), /^PORT must be a whole number/],
  [
    'settings',
    'no keys',
    'failure',
    () => when({ DATABASE_URL: database.url }),
    /^ENCRYPTION_KEYS must be set.*database Correct/,
  ],
  [
    'settings',
    'no public URL',
    'warning',
    () => when(own(undefined, { HOST: '0.0.0.0' })),
    /PUBLIC_URL is not set Set PUBLIC_URL/,
  ],
  [
    'settings',
    'misspelled',
    'warning',
    () => when(own(undefined, { RATE_LIMT: '5' })),
    /; RATE_LIMT is not a setting, and RATE_LIMIT is not set Correct the name/,
  ],
  [
    'settings',
    'empty',
    'warning',
    () => when(own(undefined, { PERSISTED_OPERATIONS: '' })),
    /; PERSISTED_OPERATIONS is empty, which counts as not set Give it a value/,
  ],
  [
    'settings',
    'files that cannot be read',
    'failure',
    () => when(own(undefined, { PERSISTED_OPERATIONS: '/nosuch' })),
    /^PERSISTED_OPERATIONS cannot be read: ENOENT.*\/nosuch' Correct the files/,
  ],
  ['node', 'supported', 'ok', () => when(own(), { nodeVersion: 'v25.0.0' }), /v25.0.0/],
  [
    'node',
    'too old',
    'failure',
    () => when(own(), { nodeVersion: 'v20.18.9' }),
    /v20.18.9 is not supported Install a version that/,
  ],
  ['node', 'left out', 'failure', () => when(own(), { nodeVersion: 'v23.9.0' }), /v23.9.0 is not supported/],
  ['port', 'of a gateway', 'ok', () => when(own(undefined, { PORT: new URL(gateway.url).port })), /^a gateway listens on 127/],
  [
    'port',
    'of a program that does not speak HTTP',
    'failure',
    async () => when(own(undefined, { PORT: await listening(createServer((socket) => socket.write('hello\r\n'))) })),
    /^another program listens on 127.*PORT to a free port/,
  ],
  [
    'port',
    'of another web server',
    'failure',
    async () => when(own(undefined, { PORT: await listening(createHttpServer((_, reply) => reply.end('alive'))) })),
    /^another program listens on/,
  ],
  [
    'port',
    'of another machine',
    'failure',
    () => when(own(undefined, { HOST: '192.0.2.1', PORT: '4711' })),
    /HOST is not an address/,
  ],
  ['data-directory', 'not used', 'skipped', () => when(own()), /DATABASE_URL is set/],
  ['data-directory', 'stopped', 'ok', () => when(stopped(() => {})), /postgres: PostgreSQL \d+$/],
  [
    'data-directory',
    'of another version',
    'failure',
    () => when(stopped((path) => writeFileSync(join(path, 'postgres/PG_VERSION'), '14\n'))),
    /^the data is of PostgreSQL 14, and this gateway bundles PostgreSQL \d+ Make a backup with/,
  ],
  [
    'data-directory',
    'whose data is gone',
    'failure',
    () => when(stopped((path) => rmSync(join(path, 'postgres'), { recursive: true }))),
    /has encryption keys, but no database that can be read Mount the disk/,
  ],
  [
    'data-directory',
    'that is empty',
    'ok',
    () => when(stopped((path) => readdirSync(path).map((name) => rmSync(join(path, name), { recursive: true })))),
    /has no database yet: the first start creates it/,
  ],
  ['data-directory', 'in a file', 'failure', () => when({ DATA_DIR: join(someFile('', 0o600), 'x') }), /file is not writable/],
  [
    'disk',
    'full',
    'failure',
    () =>
      when(
        stopped(() => {}),
        { freeBytes: { warning: 2 ** 60, failure: 2 ** 60 } },
      ),
    /free at .*every write/,
  ],
  [
    'disk',
    'nearly full',
    'warning',
    () =>
      when(
        stopped(() => {}),
        { freeBytes: { warning: 2 ** 60, failure: 0 } },
      ),
    /free at/,
  ],
  [
    'open-files',
    'enough',
    'ok',
    () => when(own(), { maxOpenFiles: 20_000 }),
    /^the system permits 20000; a gateway may need 4206$/,
  ],
  [
    'open-files',
    'few',
    'warning',
    () => when(own(), { maxOpenFiles: 1_024 }),
    /1024 open files.*may need 4206.*Raise the limit to 4206/,
  ],
  ['database', 'reachable', 'ok', () => when(own()), /^PostgreSQL \d+\.\d+ \(127.*\), \d+ MiB, accepts writes$/],
  [
    'database',
    'of another encoding',
    'failure',
    async () => when(own(await changed('select', inAscii))),
    /^The database test_\w+ has the encoding SQL_ASCII, .* Create another one: create database NAME encoding 'UTF8' locale 'C.UTF-8' template template0;/,
  ],
  ['database', 'not running', 'skipped', () => when(stopped(() => {})), /is not running, and this command starts nothing/],
  [
    'database',
    'unreachable',
    'failure',
    () => when(own('postgresql://u:secret@127.0.0.1:1/x')),
    /^cannot be used \(127.0.0.1:1\/x\): connect ECONNREFUSED 127.0.0.1:1 Start the server, and check DATABASE_URL/,
  ],
  [
    'database',
    'silent',
    'failure',
    async () => when(own(`postgresql://u:secret@127.0.0.1:${await listening(createServer())}/x`), { timeoutMs: 200 }),
    /^did not finish within 0.2 s/,
  ],
  [
    'database',
    'rejecting the password',
    'failure',
    () => when(own(database.url.replace(/:[^:@/]+@/, ':wrong@'))),
    /password authentication failed/,
  ],
  [
    'database',
    'read-only',
    'failure',
    () => when(own(withOption('default_transaction_read_only=on'))),
    /takes no writes.*turn off default_transaction_read_only/,
  ],
  // The server of the tests is thrown away after the run, and so does not wait for the disk.
  ['durability', 'without fsync', 'failure', () => when(own()), /^fsync and full_page_writes off: a crash of the machine/],
  [
    'replication',
    'none',
    'ok',
    async () => {
      await lockReplication();
      return when(own(), {});
    },
    /there are no standbys/,
  ],
  ['migrations', 'applied', 'ok', () => when(own()), /^all \d+ are applied$/],
  [
    'migrations',
    'of none',
    'warning',
    async () => when(own(await changed('select', 'template0'))),
    /^(\d+) of \1 are not applied: 0000/,
  ],
  [
    'migrations',
    'of a newer version',
    'warning',
    async () => when(own(await changed(insertMigration))),
    /29990101000000_newer Update.* may not work/,
  ],
  [
    'migrations',
    'that were changed',
    'failure',
    async () => when(own(await changed("update _prisma_migrations set checksum = repeat('0', 64)"))),
    /_init was modified after it was applied/,
  ],
  ['privileges', 'complete', 'ok', () => when(own()), /has what requests need/],
  [
    'privileges',
    'of a role that may only read',
    'failure',
    async () => when(own(await asRole('reader', 'pg_read_all_data'))),
    /lacks privileges in the database.*insert, update, delete on table user_group.* grant insert, update, delete on table user_group to/,
  ],
  [
    'privileges',
    'of a role that may not create tables',
    'failure',
    async () => {
      const empty = await createTestDatabase('template0');
      onTestFinished(() => empty.close());
      const url = new URL(await asRole('nothing', `connect on database ${new URL(database.url).pathname.slice(1)}`));
      url.pathname = new URL(empty.url).pathname;
      return when(own(url.href));
    },
    /lacks the privilege to create tables and types.*grant usage, create on schema public/,
  ],
  ['extensions', 'there', 'ok', () => when(own()), /pg_trgm is installed/],
  [
    'extensions',
    'missing',
    'failure',
    async () => when(own(await changed('drop extension pg_trgm cascade'))),
    /create extension pg_trgm;$/,
  ],
  [
    'connections',
    'enough',
    'ok',
    () => when(own()),
    /^up to 10 for each of at least 1 process, \d+ of other programs; the server permits 400$/,
  ],
  [
    'connections',
    'those of another role, which only their number is known of',
    'ok',
    async () => {
      const connection = new pg.Client(database.url); // of a superuser, without a name
      await connection.connect();
      onTestFinished(() => connection.end());
      return when(own(await asRole('modest', 'pg_read_all_data')));
    },
    /, [1-9]\d* of other programs/,
  ],
  [
    'connections',
    'too few for one',
    'failure',
    () => when(own(undefined, { DB_POOL_SIZE: '401' })),
    /permits 400 Lower DB_POOL_SIZE/,
  ],
  [
    'connections',
    'limited for the database',
    'failure',
    async () =>
      when(own(await changed("do $$ begin execute format('alter database %I connection limit 7', current_database()); end $$"))),
    /permits 7 Lower DB_POOL_SIZE/,
  ],
  ['clock', 'right', 'ok', () => when(own()), /by less than \d s$/],
  [
    'clock',
    'slow',
    'warning',
    () => when(own(), { now: at(-10_000) }),
    /^the clock of the database is (9\.\d|10\.\d) s ahead of.*NTP.*: that of the database decides when tokens expire/,
  ],
  [
    'clock',
    'far ahead',
    'failure',
    () => when(own(), { now: at(3_600_000) }),
    /^the clock of the database is 3\d{3}\.\d s behind/,
  ],
  ['schema', 'public', 'ok', () => when(own()), /^tables are found in public$/],
  [
    'schema',
    'of the name of the role',
    'failure',
    async () => when(own(await changed('create schema authorization current_user'))),
    /^The schema \w+ comes first .* Run: alter role \w+ in database \w+ set search_path = public;/,
  ],
  [
    'sessions',
    'without a pooler',
    'ok',
    async () => when(own(await changed(inKolkata))),
    /^sessions begin with the settings of the gateway$/,
  ],
  ['sessions', 'in UTC', 'ok', async () => when(own(await changed(inUtc), pooled)), /^sessions begin in UTC, with timeouts$/],
  [
    'sessions',
    'that wait for locks for long',
    'warning',
    async () => when(own(await changed(waitingLong), pooled)),
    /^sessions of the role begin with lock_timeout 5000: .* Run: alter role \w+ set lock_timeout = '4s';$/,
  ],
  [
    'sessions',
    'of another time zone',
    'warning',
    async () => when(own(await changed(inKolkata), pooled)),
    /^sessions of the role begin with timezone Asia\/Kolkata: .* Run: alter role \w+ set timezone = 'UTC';$/,
  ],
  [
    'encryption-keys',
    'not in use',
    'ok',
    async () => when(own(await changed('delete from signing_key'))),
    /^1 key; rows use 0 of them$/,
  ],
  [
    'encryption-keys',
    'that rows use, missing',
    'failure',
    () => when(own(undefined, { ENCRYPTION_KEYS: otherKey })),
    /^rows are encrypted with a key that is not configured: [0-9a-f]{8} Add it to ENCRYPTION_KEYS/,
  ],
  [
    'encryption-keys',
    'in a file that others can read',
    'warning',
    () => when({ DATABASE_URL: database.url, ENCRYPTION_KEYS_FILE: someFile(testKey, 0o644) }),
    /^1 key; rows use 1 of them; .*file can be used by others than its owner/,
  ],
  [
    'encryption-keys',
    'damaged',
    'failure',
    () => when(stopped((path) => writeFileSync(join(path, 'encryption-keys'), testKey.slice(4)))),
    /encryption-keys must be 32-byte keys in base64/,
  ],
  [
    'encryption-keys',
    'missing next to a database',
    'warning',
    () => when(stopped((path) => rmSync(join(path, 'encryption-keys')))),
    /encryption-keys is missing, and there is a database.*Restore the file/,
  ],
  ['encryption-keys', 'not yet made', 'ok', () => when({ DATA_DIR: '/nowhere/x' }), /the first start creates them/],
])('%s: %s is %s', async (check, _, status, state, text) => {
  if (check === 'encryption-keys') await storeGroup();
  const { settings, options } = await state();
  const { code, ok, checks } = await (options ? diagnose(settings, options) : diagnoseOnce(settings));
  const found = checks.find(({ name }) => name === check);
  expect({ status: found?.status, text: `${found?.found} ${found?.remedy ?? ''}`.trim() }).toEqual({
    status,
    text: expect.stringMatching(text),
  });
  const failed = checks.some((each) => each.status === 'failure');
  expect({ code, ok }).toEqual({ code: failed ? 1 : 0, ok: !failed });
});

/** Has a row that uses the tests' key. */
async function storeGroup(): Promise<void> {
  const data = { providedId: 'acme', name: 'acme', environmentTag: 'Testing' as const };
  await database.prisma.userGroup.deleteMany();
  await database.prisma.userGroup.create({ data: { ...data, ...storedToken('a token of this group') } });
}

test('makes every check, in order; of a silent database, no other check waits for it', async () => {
  const port = await listening(createServer());
  const { checks } = await diagnose(own(`postgresql://u:secret@127.0.0.1:${port}/x`), { timeoutMs: 200 });
  expect(checks.map(({ name }) => name)).toEqual(checkNames);
  const after = checks.slice(checkNames.indexOf('database') + 1).filter(({ name }) => name !== 'encryption-keys');
  expect(new Set(after.map(({ status }) => status))).toEqual(new Set(['skipped']));
});

test('prints a line for each check and one with the counts; the exit code is 1 if one fails', async () => {
  const output = collect();
  expect(await doctor([], output.stream, { environment: own('postgresql://u:secret@127.0.0.1:1/x', { PORT: '0' }) })).toBe(1);
  const lines = output.text().trimEnd().split('\n');
  expect(lines).toHaveLength(checkNames.length + 1);
  expect(lines.find((line) => /^\w+ +database /.test(line))).toMatch(
    /^failure {2}database {9}cannot be used .*\. Start the server/,
  );
  expect(lines.at(-1)).toMatch(/^\d ok, 0 warnings, 1 failure, \d+ skipped$/);
});

test('changes nothing: a DATA_DIR that does not exist is not created, and a stopped server is not started', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => dataDir.remove());
  const absent = join(dataDir.path, 'absent');
  await diagnose({ DATA_DIR: absent });
  expect(existsSync(absent)).toBe(false);
  const { DATA_DIR: path = '' } = stopped(() => {});
  const before = readdirSync(path, { recursive: true });
  await diagnose({ DATA_DIR: path });
  expect(readdirSync(path, { recursive: true })).toEqual(before);
});

test('an unknown argument is a usage error', async () => {
  await expect(doctor(['--jsn'], process.stdout)).rejects.toThrow(UsageError);
  await expect(doctor(['now'], process.stdout)).rejects.toThrow(/accepts only --json/);
});
