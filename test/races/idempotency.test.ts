import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { startCommitProxy } from '../support/commit-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Reply, sendRequest, startGateway, type TestGateway } from '../support/gateway.ts';
import { endProcesses, serve, until } from '../support/process.ts';

let database: TestDatabase;
/** Two gateways, each with connections of its own. */
let gateways: readonly [TestGateway, TestGateway];
let token: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const second = connectDatabase({ connectionString: database.url });
  gateways = [await startGateway(database), await startGateway({ ...second, url: database.url })];
  token = gateways[0].token;
});
afterEach(endProcesses);
afterAll(async () => {
  for (const gateway of gateways ?? []) await gateway.close();
  await gateways[1].database.pool.end();
  await database.close();
});

let last = 0;
let group: { readonly id: string; readonly teamId: number; readonly token: string };
const createGroup = async () => {
  last += 1;
  const { json } = await gateways[0].send('GET', '/api/user', { body: { user_group_id: `group ${last}` } });
  return { id: `group ${last}`, teamId: json.user_group.team_id as number, token: json.user_group.token as string };
};
beforeEach(async () => {
  group = await createGroup();
});

const rotate = (url: string, key: string, current_token: string) =>
  sendRequest(url, 'POST', '/api/user', { token, headers: { 'idempotency-key': key }, body: { current_token } });

/** The response to a request, sent again while one with the same key is being executed. */
const settled = (send: () => Promise<Reply>) =>
  until(async () => {
    const reply = await send();
    return reply.status === 409 ? undefined : reply;
  }, 'the key is no longer in use');

const rotations = (teamId: number) => database.prisma.event.count({ where: { teamId, type: 'user_group.token_rotated' } });
const currentToken = async ({ id }: { readonly id: string }) =>
  (await gateways[0].send('GET', '/api/user', { body: { user_group_id: id } })).json.user_group.token;

test('of 40 concurrent requests with one key through two gateways one is executed; all get its response, or 409 meanwhile', async () => {
  const send = (index: number) => rotate(gateways[index % 2 === 0 ? 0 : 1].url, 'concurrent', group.token);
  const replies = await Promise.all(Array.from({ length: 40 }, (_, index) => send(index)));
  const done = replies.filter(({ status }) => status === 200);
  expect(done.length).toBeGreaterThan(0);
  expect(new Set(done.map(({ text }) => text)).size).toBe(1);
  expect(done.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1);
  const others = replies.filter(({ status }) => status !== 200);
  expect(others.map(({ json }) => json.code)).toEqual(others.map(() => 'IDEMPOTENCY_KEY_IN_USE'));
  expect(await rotations(group.teamId)).toBe(1);
  expect(await currentToken(group)).toBe(done[0]?.json.user_group.token);
});

test('a rotation whose gateway is killed between COMMIT and response can be fetched from another gateway', async () => {
  const proxy = await startCommitProxy(database.url);
  onTestFinished(() => proxy.close());
  const killed = await serve({ DATABASE_URL: proxy.url });
  const committed = proxy.holdNextCommit();
  const lost = rotate(killed.url, 'killed', group.token).catch((error: NodeJS.ErrnoException) => error.code);
  await committed;
  await killed.stop('SIGKILL');
  expect(await lost).toBe('ECONNRESET');

  const reply = await rotate(gateways[0].url, 'killed', group.token);
  expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  expect(reply.json.user_group.token).not.toBe(group.token);
  expect(await currentToken(group)).toBe(reply.json.user_group.token);
  expect(await rotations(group.teamId)).toBe(1);
});

test('a connection that breaks before COMMIT undoes the change and frees the key, and the message says to send the request again', async () => {
  const holder = await database.pool.connect();
  onTestFinished(() => holder.release());
  await holder.query('begin');
  await holder.query('select from user_group where team_id = $1 for update', [group.teamId]);
  const broken = rotate(gateways[1].url, 'broken', group.token);
  const waiting = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  const pid = await until(async () => (await database.pool.query<{ pid: number }>(waiting)).rows[0]?.pid, 'the rotation waits');
  await holder.query('select pg_terminate_backend($1)', [pid]);
  const reply = await broken;
  expect(reply).toMatchObject({ status: 503, json: { code: 'UNAVAILABLE' } });
  await holder.query('commit');

  expect(await currentToken(group)).toBe(group.token);
  const again = await settled(() => rotate(gateways[1].url, 'broken', group.token));
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
});
