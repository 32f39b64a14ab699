import type { SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { copyDataDir, makeDataDir, type TestDataDir } from '../support/data-dir.ts';
import { sendRequest } from '../support/gateway.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { endProcesses, launch, type Running, serve, until } from '../support/process.ts';
import { isAlive } from '../support/processes.ts';
import { readSamples, sampleValue } from '../support/prometheus.ts';
import { tokensOf } from '../support/tokens.ts';

const binary = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

let dataDir: TestDataDir;
afterEach(async () => {
  await endProcesses();
  await dataDir.remove();
});

const token = 'bootstrap-token-of-the-workers-test';

const listening = ({ output }: Running) =>
  [...output.stderr.matchAll(/listening on (http:\/\/[\d.:]+)/g)].map(([, url = '']) => url);

/** Starts two workers on a copy of the data directory, with {@link token}, and waits until both listen. */
async function startTwoWorkers(options: SpawnOptions = {}): Promise<{ running: Running; url: string }> {
  dataDir = copyDataDir();
  const settings = { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: token };
  const running = launch(process.execPath, [binary, 'serve', '--workers', '2'], settings, options);
  await until(() => listening(running).length === 2, 'both workers listen');
  return { running, url: listening(running)[0] ?? '' };
}

test('several workers start on a new embedded database; one that exits is replaced; all stop together', async () => {
  dataDir = makeDataDir();
  const running = launch(process.execPath, [binary, 'serve', '--workers', '2'], { DATA_DIR: dataDir.path });
  await until(() => listening(running).length === 2, 'both workers listen');
  const [url = '', other] = listening(running);
  expect(other).toBe(url);
  expect(
    running.output.stdout.match(tokensOf('apiToken'))?.filter((each, index, all) => all.indexOf(each) === index),
  ).toHaveLength(1);

  const [printed = ''] = running.output.stdout.match(tokensOf('apiToken')) ?? [];
  const create = (id: string) => sendRequest(url, 'GET', '/api/user', { token: printed, body: { user_group_id: id } });
  expect((await create('before')).json.new_user_group).toBe(true);

  const [worker = 0] = await workersOf(running);
  process.kill(worker, 'SIGKILL');
  await until(() => listening(running).length === 3, 'another worker listens');
  expect((await create('before')).json.new_user_group).toBe(false);
  expect(running.output.stderr).toContain(`worker ${worker} was killed by SIGKILL; restarting`);
  await until(() => running.output.stderr.includes(`replaced worker ${worker}`), 'the replacement is logged');

  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(0);
  expect(dataDir.postmaster(), running.output.stderr).toBeUndefined();
});

test.each([
  ['at the same time', (_replaced: number[]) => true],
  ['the second one while the first one is being replaced', (replaced: number[]) => replaced.length > 0],
])('when every worker is killed, %s, others serve on the port that the system chose', async (_, isTime) => {
  const { running, url } = await startTwoWorkers();
  const [first = 0, second = 0] = await workersOf(running);
  process.kill(first, 'SIGKILL');
  await until(
    async () => isTime((await workersOf(running)).filter((pid) => pid !== first && pid !== second)),
    'its time has come',
  );
  process.kill(second, 'SIGKILL');

  const create = () => sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: 'after' } });
  const reply = await until(() => create().catch(() => undefined), 'the same port is served again');
  expect(reply.status).toBe(200);
  const serving = async () => (await workersOf(running)).every((pid) => running.output.stderr.includes(`worker ${pid} replaced`));
  await until(serving, 'each worker is replaced');
  expect((await create()).status).toBe(200);
});

test('no connection stays open unanswered when the worker that gets it is killed', async () => {
  const { running, url } = await startTwoWorkers();
  const { hostname, port } = new URL(url);
  const workers = await workersOf(running);
  // Stopped, they take no connection: each gets one that it does not receive.
  for (const pid of workers) process.kill(pid, 'SIGSTOP');
  const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname));
  const closed = sockets.map((socket) => {
    socket.on('error', () => {});
    socket.write('GET /livez HTTP/1.1\r\nHost: gateway\r\n\r\n');
    return new Promise((resolve) => socket.once('close', resolve));
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const pid of workers) process.kill(pid, 'SIGKILL');
  await Promise.all(closed);
});

test('when the first process is killed, its workers end at once, and the next start uses the PostgreSQL that is still running', async () => {
  const { running, url } = await startTwoWorkers();
  const workers = await workersOf(running);
  expect(workers).toHaveLength(2);
  const postmaster = dataDir.postmaster();
  const held = await holdWrites(dataDir.databaseUrl());
  const body = { user_group_id: 'in flight' };
  const reply = sendRequest(url, 'GET', '/api/user', { token, body }).then(
    () => 'a response',
    () => 'no response',
  );
  await held.untilOneWaits();

  running.child.kill('SIGKILL');
  expect(await reply).toBe('no response');
  await running.ended; // when no worker holds its output any more
  await until(() => !workers.some(isAlive), 'the workers have ended');
  await held.release();

  const next = await serve({ DATA_DIR: dataDir.path });
  expect(dataDir.postmaster()).toBe(postmaster);
  expect((await sendRequest(next.url, 'GET', '/api/user', { token, body })).status).toBe(200);
  expect(await next.stop()).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeUndefined();
});

test('SIGHUP to every process, as a closed terminal sends it: the workers complete requests in flight, and PostgreSQL stops last', async () => {
  const { running, url } = await startTwoWorkers({ detached: true });
  const held = await holdWrites(dataDir.databaseUrl());
  const reply = sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: 'in flight' } });
  void reply.catch(() => {});
  await held.untilOneWaits();

  process.kill(-(running.child.pid ?? Number.NaN), 'SIGHUP');
  await until(() => running.output.stderr.match(/draining in-flight/g)?.length === 2, 'both workers drain');
  await held.release();
  expect((await reply).status).toBe(200);
  expect((await running.ended).code).toBe(0);
  expect(dataDir.postmaster()).toBeUndefined();
});

test('metrics are those of all workers, and remain when a worker does not respond or exits', async () => {
  const { running, url } = await startTwoWorkers();
  const headers = { connection: 'close' }; // each connection goes to the next worker
  for (let i = 0; i < 10; i += 1) {
    await sendRequest(url, 'GET', '/api/user', { token, headers, body: { user_group_id: 'acme' } });
    await sendRequest(url, 'PUT', '/api/user', { token, headers, body: { user_group_id: 'no such', name: 'x' } });
  }
  const failures = async (): Promise<number | undefined> => {
    const query = '{ metrics { errors { code count } } }';
    const { json } = await sendRequest(url, 'POST', '/graphql', { token, headers, body: { query } });
    return json.data.metrics.errors[0]?.count;
  };
  await until(async () => (await failures()) === 10, 'the failures of both workers are counted');
  const scrape = async () => readSamples((await sendRequest(url, 'GET', '/metrics', { token, headers })).text);
  const notFound = { route: '/api/user', operation: 'updateUserGroup', status: '404' };
  const counted = async () => sampleValue(await scrape(), 'gateway_http_requests_total', notFound);
  expect([await counted(), await counted()]).toEqual([10, 10]);
  await until(async () => sampleValue(await scrape(), 'gateway_processes') === 2, 'the state of both workers is known');
  for (const replaced of [1, 2]) {
    const [worker = 0] = await workersOf(running);
    process.kill(worker, 'SIGSTOP');
    expect([await counted(), await counted()]).toEqual([10, 10]);
    process.kill(worker, 'SIGKILL');
    await until(() => listening(running).length === 2 + replaced, 'another worker listens');
    expect([await failures(), await failures()]).toEqual([10, 10]);
    expect([await counted(), await counted()]).toEqual([10, 10]);
    await until(
      async () => sampleValue(await scrape(), 'gateway_processes') === 2,
      'the state of the killed worker is no longer known',
    );
  }
});

test('workers end when the first process is killed while they load their modules', async () => {
  dataDir = copyDataDir();
  const running = launch(process.execPath, [binary, 'serve', '--workers', '2'], { DATA_DIR: dataDir.path });
  await until(async () => (await workersOf(running)).filter((pid) => pid > 0).length === 2, 'both workers run');
  const workers = await workersOf(running);
  running.child.kill('SIGKILL');
  await running.ended;
  await until(() => !workers.some(isAlive), 'the workers have ended');
});

/** The processes of the workers: the children of the first process. */
async function workersOf({ child }: Running): Promise<number[]> {
  const children = await launch('pgrep', ['-P', String(child.pid), '-f', 'main.js'], {}).ended;
  return children.stdout.trim().split('\n').map(Number);
}
