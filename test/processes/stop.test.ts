import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { copyDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { endProcesses, launch, type ServeProcess, serve, until, untilServing } from '../support/process.ts';
import { isAlive } from '../support/processes.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
let gateway: ServeProcess;
let token: string;

/** A gateway on a database that the test can take part in. */
async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  const options = { name: 'test', environmentTag: null, scopes: ['groups:write'], expiresAt: null } as const;
  token = (await createApiToken(contextOn(database), options)).secret;
  gateway = await serve({ DATABASE_URL: database.url, ...settings });
}

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await endProcesses();
  await database.close();
});

/** A request that reached the database and waits there until it is released. */
async function beginWaiting() {
  const held = await holdWrites(database.url);
  onTestFinished(() => held.release());
  const reply = sendRequest(gateway.url, 'GET', '/api/user', { token, body: { user_group_id: 'in flight' } });
  void reply.catch(() => {});
  await held.untilOneWaits();
  return { reply, release: held.release };
}

/** The response of `/readyz`, and whether it closes the connection. */
function readiness(agent: Agent): Promise<{ status: number | undefined; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    request(`${gateway.url}/readyz`, { agent }, (incoming) => {
      incoming.resume().once('end', () => resolve({ status: incoming.statusCode, connection: incoming.headers.connection }));
    })
      .once('error', reject)
      .end();
  });
}

/** Whether new connections are refused: a moment after the log says that the gateway drains. */
const isRefused = () =>
  sendRequest(gateway.url, 'GET', '/livez').then(
    () => false,
    (error) => String(error).includes('ECONNREFUSED'),
  );

test.each<NodeJS.Signals>(['SIGTERM', 'SIGHUP'])(
  '%s: completes requests in flight, accepts no connections, and exits with 0',
  async (signal) => {
    await start();
    const { reply, release } = await beginWaiting();

    gateway.child.kill(signal);
    await until(
      () => gateway.output.stderr.includes(`${signal}: draining in-flight requests, then exiting`),
      'the gateway drains',
    );
    await until(isRefused, 'the listener is closed');
    expect(gateway.child.exitCode).toBeNull();

    await release();
    expect((await reply).status).toBe(200);
    expect(await gateway.ended).toMatchObject({ code: 0 });
  },
);

test.runIf(process.platform !== 'win32').each(['SIGUSR1', 'SIGUSR2'] as const)(
  '%s opens no debugger and ends nothing',
  async (signal) => {
    await start();
    gateway.child.kill(signal);
    expect((await sendRequest(gateway.url, 'GET', '/readyz')).status).toBe(200);
    expect((await gateway.stop()).stderr).not.toContain('Debugger');
  },
);

test('DRAIN_DELAY_SECONDS: serves all connections for that long while /readyz responds with 503', async () => {
  await start({ DRAIN_DELAY_SECONDS: '6' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  expect((await readiness(agent)).status).toBe(200);
  const begun = Date.now();
  gateway.child.kill('SIGTERM');
  await until(() => gateway.output.stderr.includes('closing the listener in 6 s'), 'the gateway begins to stop');
  expect(await readiness(agent)).toEqual({ status: 503, connection: 'close' });
  const reply = await sendRequest(gateway.url, 'GET', '/api/user', { token, body: { user_group_id: 'late' } });
  expect(reply).toMatchObject({ status: 200 });
  expect(await gateway.ended).toMatchObject({ code: 0 });
  expect(Date.now() - begun).toBeGreaterThanOrEqual(6_000);
});

test('a second signal exits immediately, also during the drain delay', async () => {
  for (const settings of [{}, { DRAIN_DELAY_SECONDS: '300' }]) {
    await start(settings);
    const { reply, release } = await beginWaiting();
    const outcome = reply.then(
      () => 'responded',
      () => 'cut off',
    );
    gateway.child.kill('SIGTERM');
    await until(() => gateway.output.stderr.includes('SIGTERM'), 'the gateway has received it');
    expect(gateway.child.exitCode).toBeNull();
    await until(() => !gateway.child.kill('SIGTERM'), 'it ends');
    expect(await gateway.ended).toMatchObject({ code: 143 });
    expect(await outcome).toBe('cut off');
    await release();
  }
});

test('signals at the same time are one: some programs send them to a process and to its group', async () => {
  await start();
  const { reply, release } = await beginWaiting();
  for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) gateway.child.kill(signal);
  await until(isRefused, 'the listener is closed');
  await release();
  expect((await reply).status).toBe(200);
  expect(await gateway.ended).toMatchObject({ code: 0 });
});

test('SIGHUP is not the second signal: a terminal sends it twice, and systemd may send it after SIGTERM', async () => {
  for (const signal of ['SIGHUP', 'SIGTERM'] as const) {
    await start();
    const { reply, release } = await beginWaiting();
    gateway.child.kill(signal);
    await until(() => gateway.output.stderr.includes(`${signal}: draining`), 'the gateway drains');
    gateway.child.kill('SIGHUP');
    await until(isRefused, 'the listener is closed');
    await release();
    expect((await reply).status).toBe(200);
    expect(await gateway.ended).toMatchObject({ code: 0 });
  }
});

const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

test.runIf(hasTerminals).each(['json', 'pretty'])(
  'a terminal that is closed: completes requests in flight, stops PostgreSQL last, and does not abort (LOG_FORMAT=%s)',
  async (format) => {
    const dataDir = copyDataDir();
    onTestFinished(() => dataDir.remove());
    token = 'bootstrap-token-of-the-terminal-test';
    const status = join(dataDir.path, 'status');
    const command = `trap 'kill -HUP $gateway' HUP; "${process.execPath}" dist/main.js serve & gateway=$!; echo process $gateway
      wait $gateway; wait $gateway; echo $? > "${status}"`;
    const settings = { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: token, LOG_FORMAT: format };
    gateway = await untilServing(launch('sh', ['-c', 'exec script -qec "$0" /dev/null >&2', command], settings));
    const pid = Number(/process (\d+)/.exec(gateway.output.stderr)?.[1]);
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')));
    const postmaster = dataDir.postmaster() ?? 0;
    const held = await holdWrites(dataDir.databaseUrl());
    const reply = sendRequest(gateway.url, 'GET', '/api/user', { token, body: { user_group_id: 'in flight' } });
    void reply.catch(() => {});
    await held.untilOneWaits();

    gateway.child.kill('SIGKILL'); // with it, the terminal is gone
    await until(isRefused, 'the listener is closed');
    expect(isAlive(postmaster)).toBe(true);
    await held.release();
    expect((await reply).status).toBe(200);
    await until(() => !isAlive(pid), 'the gateway ends');
    expect(dataDir.postmaster()).toBeUndefined();
    expect(isAlive(postmaster)).toBe(false);
    await until(() => existsSync(status) && readFileSync(status, 'utf8'), 'the shell writes the exit status');
    expect(readFileSync(status, 'utf8')).toBe('129\n');
  },
);

const headers = 'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n';
test.each([
  ['on which nothing was sent', ''],
  ['that stopped within the headers', headers],
  ['that stopped within the body', `${headers}\r\n{"query":`],
])('a connection %s does not delay the stop', async (_, sent) => {
  await start();
  const { hostname, port } = new URL(gateway.url);
  const silent = connect(Number(port), hostname).on('error', () => {});
  onTestFinished(() => void silent.destroy());
  await until(() => silent.readyState === 'open', 'it is connected');
  if (sent) await new Promise((resolve) => silent.write(sent, resolve));
  expect((await sendRequest(gateway.url, 'GET', '/livez')).status).toBe(200);
  gateway.child.kill('SIGTERM');
  let ended = false;
  void gateway.ended.then(() => {
    ended = true;
  });
  await until(() => ended, 'the gateway ends', 12_000); // before the time for headers, and that for draining, are over
  expect(await gateway.ended).toMatchObject({ code: 0 });
});

test('completes a request whose body arrives while the gateway is stopping', async () => {
  await start();
  const { hostname, port } = new URL(gateway.url);
  const slow = connect(Number(port), hostname).on('error', () => {});
  onTestFinished(() => void slow.destroy());
  let response = '';
  slow.setEncoding('utf8').on('data', (text: string) => {
    response += text;
  });
  const body = JSON.stringify({ query: '{ __typename }' });
  const send = (text: string) => new Promise((resolve) => slow.write(text, resolve));
  await send(`${headers.replace('1000', String(body.length))}\r\n`);
  expect((await sendRequest(gateway.url, 'GET', '/livez')).status).toBe(200);
  gateway.child.kill('SIGTERM');
  await until(() => gateway.output.stderr.includes('draining'), 'the gateway drains');
  // Slower than a silent connection is kept, and never silent for long.
  for (const character of body) {
    await send(character);
    await pause(50);
  }
  await until(() => response.includes('"Query"'), 'the response arrives');
  expect(await gateway.ended).toMatchObject({ code: 0 });
});

test('SIGTERM under load: completes every accepted request, keeps every confirmed write, and stops PostgreSQL', async () => {
  const dataDir = copyDataDir();
  onTestFinished(() => dataDir.remove());
  const loaded = await serve({ DATA_DIR: dataDir.path });
  const load = beginLoad(loaded.url, loaded.firstToken ?? '', 8);
  await load.successes(80);
  loaded.child.kill('SIGTERM');
  expect(await loaded.ended).toMatchObject({ code: 0 });
  await load.stop();
  expect(dataDir.postmaster()).toBeUndefined();
  expect(new Set(load.replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect(load.failures).toEqual(Array(8).fill('ECONNREFUSED'));

  const next = await serve({ DATA_DIR: dataDir.path });
  expect(await tokensOf(next.url, loaded.firstToken ?? '', load.stored.keys())).toEqual(load.stored);
  expect(await next.stop('SIGINT')).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeUndefined();
});

/** What runs a program as the first process of a container runs. */
const ownProcesses = [...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--pid', '--fork', '--kill-child'];
const canBeFirst = process.platform === 'linux' && spawnSync('unshare', [...ownProcesses, 'true']).status === 0;

test.runIf(canBeFirst)('as the first process of a container, ends at a signal while it loads its modules', async () => {
  const settings = { DATABASE_URL: 'postgresql://127.0.0.1:1/none' };
  const { child, ended } = launch('unshare', [...ownProcesses, process.execPath, 'dist/main.js', 'serve'], settings);
  // The system discards a signal that comes before Node.js runs the first module.
  const signals = setInterval(() => spawnSync('pkill', ['-TERM', '-P', String(child.pid)]), 10);
  onTestFinished(() => clearInterval(signals));
  expect((await ended).code).toBe(143);
});
