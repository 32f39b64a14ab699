import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { startCommitProxy } from '../support/commit-proxy.ts';
import { makeDataDir } from '../support/data-dir.ts';
import { createTestDatabase, untilBlocked } from '../support/database.ts';
import { makeKeyedDataDir } from '../support/embedded-gateway.ts';
import { freePort } from '../support/free-port.ts';
import { sendRequest } from '../support/gateway.ts';
import { importText } from '../support/group-files.ts';
import { testKey } from '../support/keys.ts';
import { binary, endProcesses, launch, run, serve, until } from '../support/process.ts';

afterEach(endProcesses);

function embedded() {
  const dataDir = makeKeyedDataDir();
  onTestFinished(() => dataDir.remove());
  return { dataDir, settings: { DATA_DIR: dataDir.path } };
}

const start = (settings: Readonly<Record<string, string>>, ...args: string[]) =>
  launch(process.execPath, [binary, ...args], settings);

const environment = (url: string) => ({ ...process.env, DATABASE_URL: url, ENCRYPTION_KEYS: testKey });
const otherSessions = 'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)(
  'after %s, token create prints the secret that it was creating, ends with %i, and stops the bundled PostgreSQL',
  async (signal, code) => {
    const { dataDir, settings } = embedded();
    // Leaves its PostgreSQL running, for a transaction that the command waits for.
    const killed = await serve(settings);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const client = new pg.Client(dataDir.databaseUrl());
    await client.connect();
    await client.query('begin; lock table api_token in share row exclusive mode');
    const { child, ended } = start(settings, 'token', 'create', '--name=wanted', '--environment=none');
    await until(async () => (await client.query('select from pg_locks where not granted')).rowCount, 'the command waits');
    child.kill(signal);
    await client.query('rollback');
    await client.end();
    expect(await ended).toMatchObject({ code, stdout: expect.stringMatching(/wanted.*ugk_/s), stderr: '' });
    expect(dataDir.postmaster()).toBeUndefined();
  },
);

test('SIGTERM ends a rotation of the encryption key, which the same command completes, and stops the bundled PostgreSQL', async () => {
  const { dataDir, settings } = embedded();
  const token = 'an-api-token-of-the-operator';
  const gateway = await serve({ ...settings, BOOTSTRAP_API_TOKEN: token });
  await sendRequest(gateway.url, 'GET', '/api/user', { token, body: { user_group_id: 'acme' } });
  await gateway.stop();
  const rotate = ['keys', 'rotate', 'encryption'];
  const { child, ended } = start(settings, ...rotate);
  const keys = () => readFileSync(join(dataDir.path, 'encryption-keys'), 'utf8').trim().split('\n');
  await until(() => keys().length === 2, 'there is another key');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({
    code: 143,
    stdout: expect.stringMatching(/^Encrypted 0 values with the key \S+ in this run/),
    stderr: 'Stopped by SIGTERM.\n',
  });
  expect(dataDir.postmaster()).toBeUndefined();
  const { code, stdout } = await run(rotate, settings);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Encrypted 2 tokens.*\nNo key was added: .*\nNothing uses another key/),
  });
  expect(keys()).toHaveLength(2);
});

test('Ctrl-C while the first start creates the cluster ends it without an error, and leaves no PostgreSQL', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => dataDir.remove());
  // A group of its own, whose processes all get the signal, as from a terminal.
  const args = [binary, 'token', 'create', '--name=n', '--environment=none'];
  const { child, ended } = launch(process.execPath, args, { DATA_DIR: dataDir.path }, { detached: true });
  await until(() => readdirSync(dataDir.path).some((name) => name.startsWith('postgres.')), 'the cluster is being created');
  process.kill(-(child.pid ?? Number.NaN), 'SIGINT');
  expect(await ended).toMatchObject({ code: 130, stdout: '', stderr: 'Stopped by SIGINT.\n' });
  expect(dataDir.postmaster()).toBeUndefined();
});

test.each([
  ['serve', 0, 'SIGTERM: stopped before listening'],
  ['migrate', 143, 'Stopped by SIGTERM.'],
] as const)('SIGTERM ends the wait of %s for a database that is not reachable, with %i', async (command, code, text) => {
  const args = command.split(' ');
  const { child, output, ended } = start({ DATABASE_URL: `postgres://localhost:${await freePort()}/none` }, ...args);
  await until(() => output.stderr.includes('waiting for the database'), 'it waits');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) });
});

test('SIGTERM ends the wait for another process that applies migrations', async () => {
  const database = await createTestDatabase('template1');
  onTestFinished(() => database.close());
  const other = await database.pool.connect();
  await other.query('select pg_advisory_lock(72707369)');
  const { child, ended } = start({ DATABASE_URL: database.url }, 'migrate');
  await until(async () => (await other.query('select from pg_locks where not granted')).rowCount, 'it waits for the lock');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 143, stdout: '', stderr: 'Stopped by SIGTERM.\n' });
  await other.query('select pg_advisory_unlock_all()');
  other.release();
});

test('a command that loses the response to its change says that the change may have been made', async () => {
  const database = await createTestDatabase();
  const proxy = await startCommitProxy(database.url);
  onTestFinished(async () => {
    await proxy.close();
    await database.close();
  });
  proxy.resetNextCommit();
  const create = ['token', 'create', '--name=n', '--environment=none'];
  expect(await run(create, { DATABASE_URL: proxy.url })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The database is unavailable: .*A change that was in progress may have been made\.\n$/),
  });
});

test('a command that only reads does not say so when it loses the database', async () => {
  const database = await createTestDatabase();
  const other = await database.pool.connect();
  onTestFinished(async () => {
    other.release(true);
    await database.close();
  });
  await other.query('begin; lock table api_token');
  const { ended } = start({ DATABASE_URL: database.url }, 'token', 'list');
  await untilBlocked(database);
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  expect(await ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The database is unavailable: .*administrator command\n$/s),
  });
});

test('SIGTERM ends an export whose reader does not read, and says that it is incomplete', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  // The first groups are already more than fits into the pipe.
  const properties = { text: 'x'.repeat(10_000) };
  const lines = Array.from({ length: 500 }, (_, index) => JSON.stringify({ user_group_id: `g${index}`, properties }));
  await importText(database, lines.join('\n'), { environment: 'Testing' });
  const child = spawn(process.execPath, [binary, 'groups', 'export'], { env: environment(database.url) });
  const exit = once(child, 'exit');
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  await once(child.stdout, 'readable');
  child.kill('SIGTERM');
  await until(() => stderr.includes('Stopped by SIGTERM: the export is incomplete.'), 'it has stopped');
  expect(await exit).toEqual([143, null]);
});

test('a command whose work is done, and whose output nobody reads, is ended by SIGTERM', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const secretHash = (index: number) => Buffer.from(String(index).padStart(32, '0'));
  const data = Array.from({ length: 2_000 }, (_, index) => ({
    name: 'x'.repeat(200),
    scopes: [],
    secretHash: secretHash(index),
  }));
  await database.prisma.apiToken.createMany({ data });
  const child = spawn(process.execPath, [binary, 'token', 'list'], { env: environment(database.url) });
  const exit = once(child, 'exit');
  await once(child.stdout, 'readable');
  await database.prisma.$disconnect();
  await until(async () => (await database.pool.query(otherSessions)).rowCount === 0, 'it has closed its connections');
  child.kill('SIGTERM');
  // The status, if it has not yet noticed that the connections are closed.
  expect([
    [null, 'SIGTERM'],
    [143, null],
  ]).toContainEqual(await exit);
});

test('a signal that arrives as the work of a command ends is not lost', async () => {
  const program = fileURLToPath(new URL('late-signal.ts', import.meta.url));
  expect(await launch(process.execPath, ['--import', 'tsx', program], {}).ended).toMatchObject({ code: null, signal: 'SIGTERM' });
});
