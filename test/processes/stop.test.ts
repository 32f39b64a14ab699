import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { copyDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { binary, endProcesses, launch, type ServeProcess, serve, until } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';
import { sendRequest } from '../support/request.ts';

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

const logged = (text: string) => until(() => gateway.output.stderr.includes(text), `the log has "${text}"`);

/** Waits until new connections are refused: a moment after the log says that the gateway drains. */
const untilClosed = () =>
  until(
    () =>
      sendRequest(gateway.url, 'GET', '/livez').then(
        () => false,
        (error) => String(error).includes('ECONNREFUSED'),
      ),
    'the listener is closed',
  );

test.each<[string, NodeJS.Signals[]]>([
  ['SIGTERM', ['SIGTERM']],
  ['SIGHUP', ['SIGHUP']],
  ['two signals at the same time, as npm repeats what the terminal sends', ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT']],
])('%s: completes requests in flight, accepts no connections, and exits with 0', async (_, signals) => {
  await start();
  const { reply, release } = await beginWaiting();
  for (const signal of signals) gateway.child.kill(signal);
  await logged('draining in-flight requests, then exiting');
  await untilClosed();
  expect(gateway.child.exitCode).toBeNull();
  await release();
  expect((await reply).status).toBe(200);
  expect(await gateway.ended).toMatchObject({ code: 0 });
});

test('SIGUSR1 opens no debugger; DRAIN_DELAY_SECONDS: serves for that long while /readyz responds with 503', async () => {
  await start({ DRAIN_DELAY_SECONDS: '2' });
  gateway.child.kill('SIGUSR1');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  expect((await sendRequest(gateway.url, 'GET', '/readyz', { agent })).status).toBe(200);
  const begun = Date.now();
  gateway.child.kill('SIGTERM');
  await logged('closing the listener in 2 s');
  const { status, headers } = await sendRequest(gateway.url, 'GET', '/readyz', { agent });
  expect([status, headers.get('connection')]).toEqual([503, 'close']);
  expect((await sendRequest(gateway.url, 'GET', '/api/user', { token, body: { user_group_id: 'late' } })).status).toBe(200);
  const { code, stderr } = await gateway.ended;
  expect(code).toBe(0);
  expect(stderr).not.toContain('Debugger');
  expect(Date.now() - begun).toBeGreaterThanOrEqual(2_000);
});

test.each(['0', '300'])('a second signal exits immediately, with a drain delay of %s s', async (DRAIN_DELAY_SECONDS) => {
  await start({ DRAIN_DELAY_SECONDS });
  const { reply } = await beginWaiting();
  gateway.child.kill('SIGTERM');
  await logged('SIGTERM');
  expect(gateway.child.exitCode).toBeNull();
  await until(() => !gateway.child.kill('SIGTERM'), 'it ends');
  expect(await gateway.ended).toMatchObject({ code: 143 });
  await expect(reply).rejects.toThrow();
});

test('connections that stopped within a request do not delay the stop; a body that still arrives is answered', async () => {
  await start();
  const { hostname, port } = new URL(gateway.url);
  const open = () => {
    const socket = connect(Number(port), hostname).on('error', () => {});
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  const body = JSON.stringify({ query: '{ __typename }' });
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  for (const sent of ['', head, `${head}\r\n{"query":`]) open().write(sent);
  const slow = open();
  let response = '';
  slow.setEncoding('utf8').on('data', (text: string) => {
    response += text;
  });
  slow.write(`${head}\r\n${body.slice(0, 5)}`);
  expect((await sendRequest(gateway.url, 'GET', '/livez')).status).toBe(200);
  gateway.child.kill('SIGTERM');
  slow.write(body.slice(5)); // at once: the gateway waits two seconds for it
  await logged('draining');
  await until(() => response.includes('"Query"'), 'the response arrives');
  let isOver = false;
  void gateway.ended.then(() => {
    isOver = true;
  });
  await until(() => isOver, 'the gateway ends', 12_000); // before the time for headers, and that for draining, are over
  expect(await gateway.ended).toMatchObject({ code: 0 });
});

test('SIGTERM under load: completes every accepted request, keeps every confirmed write, and stops PostgreSQL', async () => {
  const dataDir = copyDataDir();
  onTestFinished(() => dataDir.remove());
  const settings = { DATA_DIR: dataDir.path };
  const loaded = await serve(settings);
  const load = beginLoad(loaded.url, loaded.firstToken ?? '', 8);
  await load.successes(80);
  loaded.child.kill('SIGTERM');
  expect(await loaded.ended).toMatchObject({ code: 0 });
  await load.stop();
  expect(dataDir.postmaster()).toBeUndefined();
  expect(new Set(load.replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect(load.failures).toEqual(Array(8).fill('ECONNREFUSED'));
  const next = await serve(settings);
  expect(await tokensOf(next.url, loaded.firstToken ?? '', load.stored.keys())).toEqual(load.stored);
  expect(await next.stop('SIGINT')).toMatchObject({ code: 0 });
  expect(dataDir.postmaster()).toBeUndefined();
});

/** Whether no signal is pending, nor queued, for a process. */
const hasHandled = (pid = 0): boolean => /^ShdPnd:\s*0+$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

const command = (settings: Readonly<Record<string, string>>, ...args: string[]) =>
  launch(process.execPath, [binary, ...args], settings);

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('after %s, token create prints the secret that it was creating and ends with %i', async (signal, code) => {
  const client = await database.pool.connect();
  await client.query('begin; lock table api_token in share row exclusive mode');
  const { child, ended } = command({ DATABASE_URL: database.url }, 'token', 'create', '--name=wanted', '--environment=none');
  await untilBlocked(database);
  child.kill(signal);
  // The signal is received before the command ends.
  await until(() => hasHandled(child.pid), 'the signal is handled');
  await client.query('rollback');
  client.release();
  expect(await ended).toMatchObject({ code, stdout: expect.stringMatching(/wanted.*ugk_/s), stderr: '' });
});

test.each([
  ['serve', 0, 'SIGTERM: stopped before listening'],
  ['migrate', 143, 'Stopped by SIGTERM.'],
] as const)('SIGTERM ends the wait of %s for a database that is not reachable, with %i', async (name, code, text) => {
  const { child, output, ended } = command({ DATABASE_URL: `postgres://localhost:${await freePort()}/none` }, name);
  await until(() => output.stderr.includes('waiting for the database'), 'it waits');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) });
});
