import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkNames } from '../../src/commands/doctor.ts';
import { generateEncryptionKey } from '../../src/encryption/key-texts.ts';
import { makeDataDir } from '../support/data-dir.ts';
import { createTestDatabase, inAscii, type TestDatabase } from '../support/database.ts';
import { makeKeyedDataDir } from '../support/embedded-gateway.ts';
import { storedToken, testKey } from '../support/keys.ts';
import { run, serve } from '../support/process.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const data = { providedId: 'acme', name: 'acme', environmentTag: 'Testing' as const };
  await database.prisma.userGroup.create({ data: { ...data, ...storedToken('a token of this group') } });
});
afterAll(() => database.close());

type Settings = Readonly<Record<string, string>>;
interface Report {
  ok: boolean;
  checks: { name: string; status: string; found: string; remedy: string | null }[];
}

const secrets = [testKey, generateEncryptionKey(), 'a-token-that-must-not-be-shown'];
const [, otherKey = '', BOOTSTRAP_API_TOKEN = ''] = secrets;

async function diagnose(settings: Settings): Promise<Report> {
  const { code, stdout, stderr } = await run(['doctor', '--json'], { BOOTSTRAP_API_TOKEN, ...settings });
  const { password } = new URL(settings['DATABASE_URL'] ?? database.url);
  for (const secret of [...secrets, password]) expect(stdout).not.toContain(secret);
  const report = JSON.parse(stdout) as Report;
  const isOk = report.checks.every(({ status }) => status !== 'failure');
  expect({ code, stderr, ok: report.ok }).toEqual({ code: isOk ? 0 : 1, stderr: '', ok: isOk });
  return report;
}

const at = (url: string, settings: Settings = {}): Settings => ({ DATABASE_URL: url, ...settings });

/** The settings for a database of the test's own, with what a statement changes. */
async function changed(statement: string, template?: string): Promise<Settings> {
  const other = await createTestDatabase(template);
  onTestFinished(() => other.close());
  await other.pool.query(statement);
  return at(other.url);
}

/** The settings for a role that has only what a statement grants. */
async function asRole(name: string, grants: string, url = database.url): Promise<Settings> {
  const role = `${name}_${process.pid}`;
  await database.pool.query(`create role ${role} login password 'of-a-role'; grant ${grants} to ${role}`);
  onTestFinished(async () => void (await database.pool.query(`drop owned by ${role}; drop role ${role}`)));
  return at(Object.assign(new URL(url), { username: role, password: 'of-a-role' }).href);
}

/** The settings for a `DATA_DIR` on which no server runs, with what a function changes. */
function stopped(change: (path: string) => void = () => {}): Settings {
  const dataDir = makeKeyedDataDir();
  onTestFinished(() => dataDir.remove());
  change(dataDir.path);
  return { DATA_DIR: dataDir.path };
}

function keysIn(mode: number): Settings {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'keys');
  writeFileSync(file, testKey);
  chmodSync(file, mode);
  return { ENCRYPTION_KEYS: '', ENCRYPTION_KEYS_FILE: file };
}

const set = (settings: string) =>
  `do $$ begin execute format('alter database %1$I set ${settings.split('; ').join('; alter database %1$I set ')}', current_database()); end $$`;
const pooled = (settings: Settings): Settings => ({ ...settings, DB_NAMED_STATEMENTS: 'false' });
const limits = "statement_timeout = ''5s''; lock_timeout = ''4s''";
const ahead = 'const { now } = Date; Date.now = () => now() + 3_600_000';
const newer = `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'y', '2999_newer', now())`;

test.each<[check: string, status: string, state: () => Settings | Promise<Settings>, text: RegExp]>([
  ['settings', 'ok', () => at(database.url), /^valid$/],
  ['settings', 'failure', () => at(database.url, { PORT: '65536' }), /^PORT must be a whole number.* Correct the setting/],
  ['settings', 'failure', () => at(database.url, { ENCRYPTION_KEYS: '' }), /^ENCRYPTION_KEYS must be set.*database Correct/],
  ['settings', 'warning', () => at(database.url, { HOST: '0.0.0.0' }), /PUBLIC_URL is not set Set it to the URL/],
  ['disk', 'skipped', () => at(database.url), /DATABASE_URL is set/],
  ['disk', 'ok', () => stopped(), /^\d+ MiB free in /],
  ['database', 'ok', () => at(database.url), /^127\S+ accepts writes$/],
  ['database', 'skipped', () => stopped(), /is not running, and this command starts nothing/],
  [
    'database',
    'failure',
    () => stopped((path) => rmSync(join(path, 'postgres'), { recursive: true })),
    /no database .* Mount the disk/,
  ],
  ['database', 'failure', () => at('postgresql://u:secret@127.0.0.1:1/x'), /^127.0.0.1:1\/x cannot be used: .*ECONNREFUSED/],
  ['database', 'failure', () => at(database.url.replace(/:[^:@/]+@/, ':wrong@')), /password authentication failed/],
  ['database', 'failure', () => at(`${database.url}?options=-c%20default_transaction_read_only%3Don`), /takes no writes/],
  [
    'database',
    'failure',
    () => changed('select', inAscii),
    /has the encoding SQL_ASCII, .* create database NAME encoding 'UTF8'/,
  ],
  ['database', 'failure', () => changed('create schema authorization current_user'), /set search_path = public;$/],
  ['version', 'ok', () => at(database.url), /^PostgreSQL \d+\.\d+/],
  ['migrations', 'ok', () => at(database.url), /^all \d+ are applied$/],
  ['migrations', 'warning', () => changed('select', 'template0'), /^not applied: 0000.* The next start applies them/],
  ['migrations', 'warning', () => changed(newer), /2999_newer Update this gateway/],
  ['migrations', 'failure', () => changed("update _prisma_migrations set checksum = repeat('0', 64)"), /was modified/],
  ['privileges', 'ok', () => at(database.url), /^the role has those/],
  [
    'privileges',
    'failure',
    () => asRole('reader', 'pg_read_all_data'),
    /lacks privileges.* grant update, insert, delete on table user_group to/,
  ],
  [
    'privileges',
    'failure',
    async () => {
      const { DATABASE_URL = '' } = await changed('select', 'template0');
      return asRole('nothing', `connect on database ${new URL(database.url).pathname.slice(1)}`, DATABASE_URL);
    },
    /may not create what the migration .* grant usage, create on schema public to/,
  ],
  ['encryption-keys', 'ok', () => at(database.url), /^1 there, 1 in use$/],
  [
    'encryption-keys',
    'failure',
    () => at(database.url, { ENCRYPTION_KEYS: otherKey }),
    /not there: [0-9a-f]{8} Add it to ENCRYPTION_KEYS/,
  ],
  ['encryption-keys', 'warning', () => at(database.url, keysIn(0o644)), /others than the owner can use .*keys Run chmod 600/],
  ['encryption-keys', 'ok', () => at(database.url, keysIn(0o600)), /in use$/],
  ['clock', 'ok', () => at(database.url), /differs by -?\d s/],
  [
    'clock',
    'failure',
    () => at(database.url, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ahead)}` }),
    /-3\d{3} s .*NTP/,
  ],
  ['sessions', 'ok', () => changed(set("timezone = ''Asia/Kolkata''")), /^begin with the settings/],
  ['sessions', 'ok', async () => pooled(await changed(set(`${limits}; timezone = ''Etc/UTC''`))), /^begin with the settings/],
  [
    'sessions',
    'warning',
    async () => pooled(await changed(set(`${limits}; timezone = ''Asia/Kolkata''`))),
    /timezone Asia\/Kolkata: .* Run: alter role \w+ set timezone = 'UTC';$/,
  ],
  [
    'sessions',
    'warning',
    async () => pooled(await changed(set("statement_timeout = ''5s''; timezone = ''UTC''"))),
    /lock_timeout 0: .* Run: alter role \w+ set lock_timeout = '4s';$/,
  ],
])('%s is %s', async (check, status, state, text) => {
  const { checks } = await diagnose(await state());
  const found = checks.find(({ name }) => name === check);
  expect({ status: found?.status, text: `${found?.found} ${found?.remedy ?? ''}`.trim() }).toEqual({
    status,
    text: expect.stringMatching(text),
  });
});

test('prints a line for each check, and what to do; those that need the database are skipped without one', async () => {
  const { code, stdout } = await run(['doctor'], at('postgresql://u:secret@127.0.0.1:1/x'));
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  expect(code).toBe(1);
  expect(lines.map(([, name]) => name)).toEqual(checkNames);
  expect(lines.map(([status]) => status)).toEqual(['ok', 'skipped', 'failure', ...Array(checkNames.length - 3).fill('skipped')]);
  expect(lines[2]?.[2]).toMatch(/ECONNREFUSED.*\. Start the server, and check DATABASE_URL/);
});

test('changes nothing: no DATA_DIR is created, and no server started', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => dataDir.remove());
  await diagnose({ DATA_DIR: join(dataDir.path, 'absent') });
  expect(existsSync(join(dataDir.path, 'absent'))).toBe(false);
  const { DATA_DIR = '' } = stopped();
  const before = readdirSync(DATA_DIR, { recursive: true });
  await diagnose({ DATA_DIR });
  expect(readdirSync(DATA_DIR, { recursive: true })).toEqual(before);
});

test('of the bundled PostgreSQL that a gateway uses, every check is ok', async () => {
  const settings = stopped();
  const gateway = await serve(settings);
  const { checks } = await diagnose(settings);
  expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual(checkNames.map((name) => `${name} ok`));
  expect(await gateway.stop()).toMatchObject({ code: 0 });
});
