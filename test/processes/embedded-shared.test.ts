import { spawnSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { copyDataDir, makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, run, serve, until } from '../support/process.ts';
import { descendants, isAlive } from '../support/processes.ts';

let dataDir: TestDataDir;
afterEach(async () => {
  await endProcesses();
  await dataDir.remove();
});

test('two gateways and a command that start concurrently in an empty DATA_DIR share one server; the last one to exit stops it', async () => {
  dataDir = makeDataDir();
  const [first, second] = await Promise.all([serve({ DATA_DIR: dataDir.path }), serve({ DATA_DIR: dataDir.path })]);
  const postmaster = dataDir.postmaster() ?? 0;
  expect([first.firstToken, second.firstToken].filter(Boolean)).toHaveLength(1);

  expect(await run(['token', 'list'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
  expect(await first.stop()).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBe(postmaster);
  expect((await sendRequest(second.url, 'GET', '/readyz')).status).toBe(200);

  expect(await second.stop()).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeUndefined();
  expect(isAlive(postmaster)).toBe(false);
});

test('of several concurrent releases, one stops the server', async () => {
  dataDir = copyDataDir();
  for (let round = 0; round < 5; round += 1) {
    const all = [await openEmbedded(dataDir.path), await openEmbedded(dataDir.path), await openEmbedded(dataDir.path)];
    await Promise.all(all.map((each) => each.close()));
    expect(dataDir.postmaster()).toBeUndefined();
  }
});

test('a process that starts while the last one exits gets a server that stays', async () => {
  dataDir = copyDataDir();
  for (let round = 0; round < 12; round += 1) {
    const leaving = await openEmbedded(dataDir.path);
    const opening = openEmbedded(dataDir.path);
    await setTimeout(round * 2); // so that some come between the last look for others and the stop
    const closing = leaving.close();
    const coming = await opening;
    const postmaster = dataDir.postmaster();
    await closing;
    expect(dataDir.postmaster()).toBe(postmaster);
    await coming.close();
    expect(dataDir.postmaster()).toBeUndefined();
  }
});

test('several processes that start just after the server was killed share one server', async () => {
  dataDir = copyDataDir();
  const lost = await openEmbedded(dataDir.path);
  const postmaster = dataDir.postmaster() ?? 0;
  const processes = descendants(postmaster);
  process.kill(postmaster, 'SIGKILL');
  // Until then, PostgreSQL takes its shared memory for used.
  await until(async () => !processes.some(isAlive), 'the server is gone');
  const others = await Promise.all([openEmbedded(dataDir.path), openEmbedded(dataDir.path)]);
  const all = [lost, ...others];
  await until(async () => (await Promise.all(all.map(isServing))).every((word) => word === 'yes'), 'all have a server');
  expect(dataDir.postmaster()).not.toBe(postmaster);
  expect(new Set(all.map((each) => each.connection('postgres').port)).size).toBe(1);
  for (const each of all) await each.close();
  expect(dataDir.postmaster()).toBeUndefined();
});

test.runIf(process.platform === 'linux')(
  'a release just after the crash of one of its processes leaves the server to the others',
  async () => {
    dataDir = copyDataDir();
    const [staying, leaving] = [await openEmbedded(dataDir.path), await openEmbedded(dataDir.path)];
    const postmaster = dataDir.postmaster();
    const client = new pg.Client(staying.connection('postgres'));
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query('select pid from pg_stat_activity where client_addr is not null');
    const backends = rows.map(({ pid }: { pid: number }) => pid);
    // Waits without the event loop, which would notice that the connections are lost.
    spawnSync('sh', ['-c', `kill -9 ${backends[0]}; while kill -0 ${backends.join(' ')}; do sleep 0.01; done`]);
    await leaving.close();
    expect(dataDir.postmaster()).toBe(postmaster);
    await until(async () => (await isServing(staying)) === 'yes', 'the server is used');
    await staying.close();
    expect(dataDir.postmaster()).toBeUndefined();
  },
);

test('two paths of one DATA_DIR, one through a symbolic link, share one server', async () => {
  dataDir = copyDataDir();
  const link = `${dataDir.path}-link`;
  symlinkSync(dataDir.path, link);
  onTestFinished(() => rmSync(link));
  const first = await openEmbedded(dataDir.path);
  const postmaster = dataDir.postmaster();
  const second = await openEmbedded(link);
  expect(dataDir.postmaster()).toBe(postmaster);
  expect(await isServing(second)).toBe('yes');
  await first.close();
  expect(await isServing(second)).toBe('yes');
  await second.close();
  expect(dataDir.postmaster()).toBeUndefined();
});

/** `yes` if the server accepts a query now, otherwise the error. */
async function isServing(server: Awaited<ReturnType<typeof openEmbedded>>): Promise<string> {
  const client = new pg.Client(server.connection('postgres'));
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query("select 'yes' as word")).rows[0].word;
  } catch (error) {
    return String(error);
  } finally {
    await client.end().catch(() => {});
  }
}
