import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyDataDir, type TestDataDir } from '../support/data-dir.ts';
import { beginLoad, type Load, tokensOf } from '../support/load.ts';
import { endProcesses, type ServeProcess, serve, until } from '../support/process.ts';
import { isAlive } from '../support/processes.ts';
import { sendRequest } from '../support/request.ts';

let dataDir: TestDataDir;
let gateway: ServeProcess;
let token: string;
let load: Load;
let postmaster: number;

beforeEach(async () => {
  dataDir = copyDataDir();
  gateway = await serve({ DATA_DIR: dataDir.path });
  token = gateway.firstToken ?? '';
  postmaster = dataDir.postmaster() ?? 0;
  load = beginLoad(gateway.url, token);
  await load.successes(60);
});
afterEach(async () => {
  await endProcesses();
  await dataDir.remove();
});

test.each([
  ['alone, and restarts on the PostgreSQL that is still running', false],
  ['together with its PostgreSQL', true],
])('the gateway that is killed during writes %s has every confirmed write', async (_, isKilled) => {
  if (isKilled) process.kill(postmaster, 'SIGKILL');
  await gateway.stop('SIGKILL');
  await load.stop();
  const next = await serve({ DATA_DIR: dataDir.path });
  expect(dataDir.postmaster() === postmaster).toBe(!isKilled);
  expect(next.firstToken).toBeUndefined();
  expect(load.stored.size).toBeGreaterThan(30);
  expect(await tokensOf(next.url, token, load.stored.keys())).toEqual(load.stored);
  expect(await next.stop()).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeUndefined();
});

test('when only PostgreSQL is killed, requests get 503 until the gateway has restarted it', async () => {
  // Without its settings it cannot start, so that it is unavailable until requests have failed.
  const settings = join(dataDir.path, 'postgres', 'postgresql.conf');
  renameSync(settings, `${settings}.away`);
  process.kill(postmaster, 'SIGKILL');
  const failed = () => load.replies.filter(({ status }) => status !== 200);
  await until(() => failed().length >= 20, 'requests fail');
  renameSync(`${settings}.away`, settings);
  await load.successes(60);
  await load.stop();
  expect(load.failures).toEqual([]);
  for (const { status, headers, text } of failed()) {
    expect({ status, text }).toEqual({ status: 503, text: expect.stringContaining('UNAVAILABLE') });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(await tokensOf(gateway.url, token, load.stored.keys())).toEqual(load.stored);
  expect((await sendRequest(gateway.url, 'GET', '/readyz')).status).toBe(200);
  // Stopped just after another one was killed, it leaves no server running.
  process.kill(dataDir.postmaster() ?? 0, 'SIGKILL');
  await gateway.stop();
  const left = dataDir.postmaster();
  expect(left && isAlive(left)).toBeFalsy();
});
