import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, launch, type Running, until } from '../support/process.ts';

const binary = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

let dataDir: TestDataDir;
beforeEach(() => {
  dataDir = makeDataDir();
});
afterEach(async () => {
  await endProcesses();
  await dataDir.remove();
});

const listening = ({ output }: Running) =>
  [...output.stderr.matchAll(/listening on (http:\/\/[\d.:]+)/g)].map(([, url = '']) => url);

test('several workers start on a new embedded database, one that dies is replaced, and all stop together', async () => {
  const running = launch(process.execPath, [binary, 'serve', '--workers', '2'], { DATA_DIR: dataDir.path });
  await until(() => listening(running).length === 2, 'both workers listen');
  const [url = '', other] = listening(running);
  expect(other).toBe(url);
  expect(
    running.output.stdout.match(/ugk_[0-9A-Za-z]{36}/g)?.filter((each, index, all) => all.indexOf(each) === index),
  ).toHaveLength(1);

  const [token = ''] = running.output.stdout.match(/ugk_[0-9A-Za-z]{36}/) ?? [];
  const create = (id: string) => sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: id } });
  expect((await create('before')).json.new_user_group).toBe(true);

  const worker = await workerOf(running);
  process.kill(worker, 'SIGKILL');
  await until(() => listening(running).length === 3, 'another worker listens');
  expect((await create('before')).json.new_user_group).toBe(false);

  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(0);
  expect(dataDir.postmaster()).toBeUndefined();
});

/** The process of a worker: the first child of the first process. */
async function workerOf({ child }: Running): Promise<number> {
  const children = await launch('pgrep', ['-P', String(child.pid), '-f', 'main.js'], {}).ended;
  return Number(children.stdout.split('\n')[0]);
}
