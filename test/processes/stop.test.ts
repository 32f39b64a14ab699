import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { startCommitProxy } from '../support/commit-proxy.ts';
import { copyDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';
import { makeKeyedDataDir } from '../support/embedded-gateway.ts';
import { freePort } from '../support/free-port.ts';
import { sendRequest } from '../support/gateway.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { binary, endProcesses, launch, run, type ServeProcess, serve, until } from '../support/process.ts';
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

test('two signals at the same time are one: npm repeats what the terminal sends', async () => {
  await start();
  const { reply, release } = await beginWaiting();
  for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) gateway.child.kill(signal);
  await until(isRefused, 'the listener is closed');
  await release();
  expect((await reply).status).toBe(200);
  expect(await gateway.ended).toMatchObject({ code: 0 });
});

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

/** Whether no signal is pending, nor queued, for a process. */
const hasHandled = (pid: number): boolean => /^ShdPnd:\s*0+$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

const commands = (settings: Readonly<Record<string, string>>, ...args: string[]) =>
  launch(process.execPath, [binary, ...args], settings);

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('after %s, token create prints the secret that it was creating and ends with %i', async (signal, code) => {
  const client = await database.pool.connect();
  await client.query('begin; lock table api_token in share row exclusive mode');
  const { child, ended } = commands({ DATABASE_URL: database.url }, 'token', 'create', '--name=wanted', '--environment=none');
  await untilBlocked(database);
  child.kill(signal);
  // The signal is received before the command ends.
  await until(() => hasHandled(child.pid ?? 0), 'the signal is handled');
  await client.query('rollback');
  client.release();
  expect(await ended).toMatchObject({ code, stdout: expect.stringMatching(/wanted.*ugk_/s), stderr: '' });
});

test('SIGTERM ends a rotation of the encryption key, which the same command completes, and stops the bundled PostgreSQL', async () => {
  const dataDir = makeKeyedDataDir();
  onTestFinished(() => dataDir.remove());
  const settings = { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: 'an-api-token-of-the-operator' };
  await (await serve(settings)).stop();
  const { child, ended } = commands(settings, 'keys', 'rotate', 'encryption');
  const keys = () => readFileSync(join(dataDir.path, 'encryption-keys'), 'utf8').trim().split('\n');
  await until(() => keys().length === 2, 'there is another key');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 143, stdout: '', stderr: 'Stopped by SIGTERM.\n' });
  expect(dataDir.postmaster()).toBeUndefined();
  const { code, stdout } = await run(['keys', 'rotate', 'encryption'], settings);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Encrypted 1 tokens.*\nNo key was added: /) });
  expect(keys()).toHaveLength(2);
});

test.each([
  ['serve', 0, 'SIGTERM: stopped before listening'],
  ['migrate', 143, 'Stopped by SIGTERM.'],
] as const)('SIGTERM ends the wait of %s for a database that is not reachable, with %i', async (command, code, text) => {
  const { child, output, ended } = commands({ DATABASE_URL: `postgres://localhost:${await freePort()}/none` }, command);
  await until(() => output.stderr.includes('waiting for the database'), 'it waits');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) });
});

test('a command that loses the response to its change says that the change may have been made', async () => {
  const proxy = await startCommitProxy(database.url);
  onTestFinished(() => proxy.close());
  proxy.resetNextCommit();
  expect(await run(['token', 'create', '--name=n', '--environment=none'], { DATABASE_URL: proxy.url })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The database is unavailable: .*A change that was in progress may have been made\.\n$/),
  });
});
