import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkNames, doctor } from '../../src/commands/doctor/doctor.ts';
import { type Binaries, findBinaries } from '../../src/database/embedded/binaries.ts';
import { startServer, stopServer } from '../../src/database/embedded/cluster.ts';
import { copiesFolder, type Layout, layOut } from '../../src/database/embedded/layout.ts';
import { emptyFoldersIn, makeBackup } from '../support/backup.ts';
import { makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { makeKeyedDataDir, startEmbeddedGateway } from '../support/embedded-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';
import { until } from '../support/process.ts';
import { collect } from '../support/text-stream.ts';

let primary: TestDataDir;
let gateway: TestGateway;
beforeAll(async () => {
  primary = makeKeyedDataDir();
  gateway = await startEmbeddedGateway(primary.path);
});
afterAll(async () => {
  await gateway.close();
  await primary.remove();
});

/** The findings of the command, by name. */
async function diagnose(
  environment: NodeJS.ProcessEnv,
): Promise<Map<string, { status: string; found: string; remedy?: string }>> {
  const output = collect();
  await doctor(['--json'], output.stream, { environment: { PORT: '0', ...environment } });
  const { checks } = JSON.parse(output.text()) as { checks: { name: string; status: string; found: string; remedy?: string }[] };
  return new Map(checks.map((check) => [check.name, check]));
}

test('of the bundled PostgreSQL that a gateway uses, every check is ok, and it keeps running', async () => {
  const found = await diagnose({ DATA_DIR: primary.path });
  expect([...found].map(([name, { status }]) => `${name} ${status}`)).toEqual(checkNames.map((name) => `${name} ok`));
  expect(found.get('data-directory')?.found).toContain(`runs (process ${primary.postmaster()}`);
  expect(found.get('connections')?.found).toMatch(
    /^up to 10 for each of 1 process, 0 of other programs; the server permits 100$/,
  );
  expect((await gateway.send('GET', '/readyz')).status).toBe(200);
});

test.runIf(process.platform === 'linux')(
  'of one whose process is not visible, as in another container, it says where to run',
  async () => {
    const file = join(primary.path, 'postgres', 'postmaster.pid');
    const lock = readFileSync(file, 'utf8');
    // No process has this number.
    writeFileSync(file, lock.replace(/^\d+/, '4194304'));
    try {
      const found = await diagnose({ DATA_DIR: primary.path });
      expect(found.get('data-directory')).toMatchObject({ status: 'ok', found: expect.stringContaining('is not visible') });
      expect(found.get('database')).toMatchObject({ status: 'skipped', found: expect.stringContaining('in the container') });
    } finally {
      writeFileSync(file, lock);
    }
  },
);

test.runIf(process.platform !== 'win32')(
  'folders that a copy has left out, because they have no files, are created by the command that it names',
  async () => {
    const copy = makeKeyedDataDir();
    onTestFinished(() => copy.remove());
    for (const path of emptyFoldersIn(copy.path)) rmdirSync(path);
    const missing = (await diagnose({ DATA_DIR: copy.path })).get('data-directory');
    expect(missing).toMatchObject({
      status: 'failure',
      found: expect.stringContaining('without which PostgreSQL does not work'),
    });
    execFileSync('sh', ['-c', missing?.remedy?.replace(/^.*run: /i, '') ?? 'false']);
    expect((await diagnose({ DATA_DIR: copy.path })).get('data-directory')?.status).toBe('ok');
    const started = await startEmbeddedGateway(copy.path);
    await started.database.pool.query('checkpoint');
    await makeBackup(copy.path, join(copy.path, 'backup'));
    await started.close();
  },
);

test('synchronous_commit that is off is a warning', async () => {
  const url = `${primary.databaseUrl()}?options=-c%20synchronous_commit%3Doff`;
  const found = await diagnose({ DATABASE_URL: url, ENCRYPTION_KEYS: testKey });
  expect(found.get('durability')).toMatchObject({ status: 'warning', found: expect.stringContaining('loses writes') });
});

test('standbys that commits do not wait for are a warning, none that they wait for a failure, and a standby as the database, too', async () => {
  const standby = makeDataDir();
  const { layout, binaries } = await makeStandby(standby);
  try {
    await startServer(layout, binaries, []);
    const replication = () => diagnose({ DATA_DIR: primary.path }).then((found) => found.get('replication'));
    await until(async () => (await replication())?.found.startsWith('1 standby connected'), 'the standby connects');
    expect(await replication()).toMatchObject({ status: 'warning', found: expect.stringMatching(/commits wait for none/) });

    const none = 'none of which';
    const one = 'at most 1 of which';
    for (const [names, which, needed] of [
      ['someone_else', none, 1],
      ['*', 'ok', 1],
      ['someone_else, walreceiver', 'ok', 1],
      ['2 (walreceiver, someone_else)', one, 2],
      ['1 (walreceiver, someone_else)', 'ok', 1],
      ['FIRST 2 (walreceiver, someone_else)', one, 2],
      ['any 1(*)', 'ok', 1],
      ['ANY 2 (*)', one, 2],
      ['ANY 2 (someone_else, another)', none, 2],
    ] as const) {
      const expected =
        which === 'ok'
          ? `ok 1 standby connected, commits wait for ${needed} of them`
          : `failure 1 standby connected, ${which} synchronous_standby_names (${names}) names: every write waits for ${needed}`;
      await setNames(names);
      const isFound = async () => {
        const { status, found } = (await replication()) ?? {};
        return `${status} ${found}` === expected;
      };
      await until(isFound, expected);
    }

    await setNames('*');
    await until(async () => (await replication())?.status === 'ok', 'the setting takes effect');
    const url = `${primary.databaseUrl()}?options=-c%20synchronous_commit%3Dlocal`;
    const local = await diagnose({ DATABASE_URL: url, ENCRYPTION_KEYS: testKey });
    expect(local.get('replication')).toMatchObject({
      status: 'warning',
      found: expect.stringMatching(/^1 standby connected, and commits wait for none/),
      remedy: expect.stringMatching(/synchronous_commit to on/),
    });

    const ofStandby = await diagnose({ DATABASE_URL: standby.databaseUrl(), ENCRYPTION_KEYS: testKey });
    expect(ofStandby.get('database')).toMatchObject({
      status: 'failure',
      found: expect.stringMatching(/the server is a standby$/),
      remedy: expect.stringMatching(/^Set DATABASE_URL to a server that takes writes/),
    });
    expect(ofStandby.get('replication')).toMatchObject({ status: 'skipped' });
  } finally {
    await setNames('');
    await stopServer(layout, binaries);
    await standby.remove();
  }
});

/** Sets which standbys commits of the primary wait for. */
async function setNames(names: string): Promise<void> {
  const client = await gateway.database.pool.connect();
  await client.query('set synchronous_commit = local');
  await client.query(`alter system set synchronous_standby_names = '${names}'`);
  await client.query('select pg_reload_conf()');
  client.release(true);
}

/** Makes a standby of the primary from a backup; it is not started. */
async function makeStandby({ path }: TestDataDir): Promise<{ layout: Layout; binaries: Binaries }> {
  const backup = join(path, 'backup');
  await makeBackup(primary.path, backup);
  for (const name of ['postgres', 'postgres-password']) renameSync(join(backup, name), join(path, name));
  const layout = layOut(path);
  const { port, username, password } = new URL(primary.databaseUrl());
  const address = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  appendFileSync(join(layout.cluster, 'postgresql.auto.conf'), `primary_conninfo = '${address}'\n`);
  writeFileSync(join(layout.cluster, 'standby.signal'), '');
  if (layout.user) execFileSync('chown', ['-R', `${layout.user.uid}:${layout.user.gid}`, layout.cluster]);
  return { layout, binaries: await findBinaries(layout.user, copiesFolder(layout)) };
}
