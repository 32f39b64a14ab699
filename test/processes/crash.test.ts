import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyDataDir, type TestDataDir } from '../support/data-dir.ts';
import { sendRequest } from '../support/gateway.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { endProcesses, type ServeProcess, serve, until } from '../support/process.ts';
import { isAlive } from '../support/processes.ts';

let dataDir: TestDataDir;
let gateway: ServeProcess;
let token: string;

beforeEach(async () => {
  dataDir = copyDataDir();
  gateway = await serve({ DATA_DIR: dataDir.path });
  token = gateway.firstToken ?? '';
});
afterEach(async () => {
  await endProcesses();
  await dataDir.remove();
});

test('killed during writes, the gateway restarts on the PostgreSQL that is still running, with every confirmed write', async () => {
  const load = beginLoad(gateway.url, token);
  await load.successes(60);
  const survivor = dataDir.postmaster();
  await gateway.stop('SIGKILL');
  await load.stop();
  expect(survivor && isAlive(survivor)).toBe(true);

  const next = await serve({ DATA_DIR: dataDir.path });
  expect(dataDir.postmaster()).toBe(survivor);
  expect(next.firstToken).toBeUndefined();
  expect(load.stored.size).toBeGreaterThan(30);
  expect(await tokensOf(next.url, token, load.stored.keys())).toEqual(load.stored);

  expect(await next.stop()).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeUndefined();
});

test('killed together with its PostgreSQL, the gateway recovers every confirmed write', async () => {
  const load = beginLoad(gateway.url, token);
  await load.successes(60);
  const postmaster = dataDir.postmaster() ?? 0;
  process.kill(postmaster, 'SIGKILL');
  await gateway.stop('SIGKILL');
  await load.stop();

  const next = await serve({ DATA_DIR: dataDir.path });
  expect(dataDir.postmaster()).not.toBe(postmaster);
  expect(load.stored.size).toBeGreaterThan(30);
  expect(await tokensOf(next.url, token, load.stored.keys())).toEqual(load.stored);
});

test('when only PostgreSQL is killed, requests get 503 until the gateway has restarted it', async () => {
  const load = beginLoad(gateway.url, token);
  await load.successes(60);
  const postmaster = dataDir.postmaster() ?? 0;
  // Without its settings it cannot start, so that it is unavailable until requests have failed.
  const settings = join(dataDir.path, 'postgres', 'postgresql.conf');
  renameSync(settings, `${settings}.away`);
  process.kill(postmaster, 'SIGKILL');
  const failed = () => load.replies.filter(({ status }) => status !== 200);
  await until(() => failed().length >= 20, 'requests fail');
  renameSync(`${settings}.away`, settings);
  await until(() => ![undefined, postmaster].includes(dataDir.postmaster()), 'another PostgreSQL runs');
  await load.successes(60);
  await load.stop();

  expect(load.failures).toEqual([]);
  expect(gateway.child.exitCode).toBeNull();
  expect(failed().length).toBeGreaterThanOrEqual(20);
  for (const { status, headers, text } of failed()) {
    expect({ status, text }).toEqual({ status: 503, text: expect.stringContaining('UNAVAILABLE') });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(await tokensOf(gateway.url, token, load.stored.keys())).toEqual(load.stored);
  expect((await sendRequest(gateway.url, 'GET', '/readyz')).status).toBe(200);
});

test('stopped just after PostgreSQL was killed, the gateway leaves no server running', async () => {
  process.kill(dataDir.postmaster() ?? 0, 'SIGKILL');
  await until(() => gateway.output.stderr.includes('lost the connection'), 'the gateway notices');
  expect(await gateway.stop()).toMatchObject({ code: 0 });
  const left = dataDir.postmaster();
  expect(left && isAlive(left)).toBeFalsy();
});
