import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { issueApiToken } from '../../src/domain/api-tokens.ts';
import { makeDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { beginLoad, tokensOf } from '../support/load.ts';
import { endProcesses, type ServeProcess, serve, until } from '../support/process.ts';

let database: TestDatabase;
let gateway: ServeProcess;
let token: string;

/** A gateway on a database that the test can take part in. */
async function start(): Promise<void> {
  const options = { name: 'test', environmentTag: null, scopes: ['groups:write'], expiresAt: null };
  token = (await issueApiToken(database.prisma, options)).secret;
  gateway = await serve({ DATABASE_URL: database.url });
}

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await endProcesses();
  await database.close();
});

/** Makes writes wait until it is released. */
async function holdWrites(): Promise<() => Promise<void>> {
  const holder = new pg.Client(database.url);
  await holder.connect();
  holder.on('error', () => {});
  await holder.query('begin; lock table user_group in access exclusive mode');
  return () => holder.end();
}

/** A request that reached the database and waits there. */
async function beginWaiting() {
  const reply = sendRequest(gateway.url, 'GET', '/api/user', { token, body: { user_group_id: 'under way' } });
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => (await database.pool.query(waiting)).rowCount, 'the request waits in the database');
  return reply;
}

test('SIGTERM: what is under way is answered, /readyz says 503 meanwhile, nobody new is let in, the exit code is 0', async () => {
  await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const readiness = () =>
    new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      request(`${gateway.url}/readyz`, { agent }, (incoming) => {
        incoming.resume().once('end', () => resolve({ status: incoming.statusCode, connection: incoming.headers.connection }));
      })
        .once('error', reject)
        .end();
    });
  expect((await readiness()).status).toBe(200);
  const release = await holdWrites();
  const reply = beginWaiting();
  void reply.catch(() => {});
  await until(async () => (await database.pool.query('select 1 from pg_locks where not granted')).rowCount, 'it waits');

  gateway.child.kill('SIGTERM');
  await until(() => gateway.output.stderr.includes('SIGTERM'), 'the gateway heard it');
  expect(await readiness()).toEqual({ status: 503, connection: 'close' });
  await expect(sendRequest(gateway.url, 'GET', '/livez')).rejects.toThrow('ECONNREFUSED');
  expect(gateway.child.exitCode).toBeNull();

  await release();
  expect((await reply).status).toBe(200);
  expect(await gateway.ended).toMatchObject({ code: 0 });
});

test('a second signal ends at once', async () => {
  await start();
  const release = await holdWrites();
  onTestFinished(release);
  const reply = beginWaiting();
  const outcome = reply.then(
    () => 'answered',
    () => 'cut off',
  );
  await until(async () => (await database.pool.query('select 1 from pg_locks where not granted')).rowCount, 'it waits');
  gateway.child.kill('SIGTERM');
  await until(() => gateway.output.stderr.includes('SIGTERM'), 'the gateway heard it');
  expect(gateway.child.exitCode).toBeNull();
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toMatchObject({ code: 1 });
  expect(await outcome).toBe('cut off');
});

test('connections on which nothing was asked, as browsers and load balancers hold them, do not hold the stop up', async () => {
  await start();
  const { hostname, port } = new URL(gateway.url);
  const silent = connect(Number(port), hostname).on('error', () => {});
  onTestFinished(() => void silent.destroy());
  await until(() => silent.readyState === 'open', 'it is connected');
  expect((await sendRequest(gateway.url, 'GET', '/livez')).status).toBe(200);
  gateway.child.kill('SIGTERM');
  let ended = false;
  void gateway.ended.then(() => {
    ended = true;
  });
  await until(() => ended, 'the gateway ends', 5_000);
  expect(await gateway.ended).toMatchObject({ code: 0 });
});

test('SIGTERM under load: every request is answered or not taken, none is cut off, all that was answered is there, PostgreSQL stops', async () => {
  const dataDir = makeDataDir();
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
