import { rmSync, symlinkSync } from 'node:fs';
import pg from 'pg';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { copyDataDir, isAlive, makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, run, serve, until } from '../support/process.ts';

let dataDir: TestDataDir;
afterEach(async () => {
  await endProcesses();
  await dataDir.remove();
});

test('two gateways started at the same moment in an empty DATA_DIR share one server, commands too; the last one out stops it', async () => {
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

test('of those who leave at the same moment, one stops the server', async () => {
  dataDir = copyDataDir();
  for (let round = 0; round < 5; round += 1) {
    const all = [await openEmbedded(dataDir.path), await openEmbedded(dataDir.path), await openEmbedded(dataDir.path)];
    await Promise.all(all.map((each) => each.close()));
    expect(dataDir.postmaster()).toBeUndefined();
  }
});

test('one who comes while the last one leaves gets a server, and neither waits for the other', async () => {
  dataDir = copyDataDir();
  for (let round = 0; round < 4; round += 1) {
    const leaving = await openEmbedded(dataDir.path);
    const [coming] = await Promise.all([openEmbedded(dataDir.path), leaving.close()]);
    await until(async () => (await answer(coming)) === 'yes', 'the server answers', 10_000);
    await coming.close();
    expect(dataDir.postmaster()).toBeUndefined();
  }
});

test('several who come just after the server was killed get one server', async () => {
  dataDir = copyDataDir();
  const lost = await openEmbedded(dataDir.path);
  const postmaster = dataDir.postmaster() ?? 0;
  process.kill(postmaster, 'SIGKILL');
  const others = await Promise.all([openEmbedded(dataDir.path), openEmbedded(dataDir.path)]);
  const all = [lost, ...others];
  await until(async () => (await Promise.all(all.map(answer))).every((word) => word === 'yes'), 'all have a server');
  expect(dataDir.postmaster()).not.toBe(postmaster);
  expect(new Set(all.map((each) => each.connection('postgres').port)).size).toBe(1);
  for (const each of all) await each.close();
  expect(dataDir.postmaster()).toBeUndefined();
});

test('a DATA_DIR that is named by two paths, one through a link, is one', async () => {
  dataDir = copyDataDir();
  const link = `${dataDir.path}-link`;
  symlinkSync(dataDir.path, link);
  onTestFinished(() => rmSync(link));
  const first = await openEmbedded(dataDir.path);
  const postmaster = dataDir.postmaster();
  const second = await openEmbedded(link);
  expect(dataDir.postmaster()).toBe(postmaster);
  expect(await answer(second)).toBe('yes');
  await first.close();
  expect(await answer(second)).toBe('yes');
  await second.close();
  expect(dataDir.postmaster()).toBeUndefined();
});

/** Whether a server can be asked at this moment. */
async function answer(server: Awaited<ReturnType<typeof openEmbedded>>): Promise<string> {
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
