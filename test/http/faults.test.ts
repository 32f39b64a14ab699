import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { type Reply, startGateway, type TestGateway } from '../support/gateway.ts';

const getOrCreate = (id: string) => `mutation { getOrCreateUserGroup(input: { providedId: "${id}" }) {
  __typename ... on GetOrCreateUserGroupPayload { userGroup { token } } } }`;
const lookUp = '{ userGroup(by: { providedId: "acme" }) { id } }';

/** The same operation over REST and GraphQL. */
const transports: [string, (gateway: TestGateway, headers?: Record<string, string>) => Promise<Reply>][] = [
  ['REST', (gateway, headers = {}) => gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' }, headers })],
  ['GraphQL', (gateway, headers = {}) => gateway.graphql(getOrCreate('acme'), {}, { headers })],
];

/** The code, status and message of a failure, over either transport. */
const failureOf = ({ json }: Reply) =>
  json.errors
    ? { code: json.errors[0].extensions.code, text: json.errors[0].message }
    : { code: json.code, text: json.detail, success: json.success };

describe('an unexpected failure', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  beforeEach(async () => {
    database = await createTestDatabase();
    gateway = await startGateway(database);
    await database.pool.query('drop table user_group cascade');
  });
  afterEach(async () => {
    await gateway.close();
    await database.close();
  });

  test.each(transports)('over %s is INTERNAL', async (_, send) => {
    const reply = await send(gateway);
    expect([reply.status, failureOf(reply).code]).toEqual([500, 'INTERNAL']);
  });

  test.each(transports)('over %s does not reveal its cause', async (_, send) => {
    const reply = await send(gateway);
    expect(reply.text).not.toMatch(/user_group|relation|exist|42P01|select|insert|prisma|postgres|\.ts|\.js|stack/i);
  });

  test.each(transports)('over %s is logged with its cause under the request id', async (_, send) => {
    await send(gateway, { 'x-request-id': 'the-one-that-failed' });
    const entries = gateway.log.map((line) => JSON.parse(line)).filter(({ request }) => request === 'the-one-that-failed');
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      level: 'error',
      code: 'INTERNAL',
      err: { message: expect.stringContaining('user_group') },
    });
  });

  test('of several fields with one cause is logged once', async () => {
    const { json } = await gateway.graphql(`{ a: ${lookUp.slice(1, -1)} b: ${lookUp.slice(1, -1)} }`);
    expect(json.errors).toHaveLength(2);
    expect(gateway.log.filter((line) => JSON.parse(line).level === 'error')).toHaveLength(1);
  });

  test.each(transports)('over %s leaves no secret in the log', async (_, send) => {
    await send(gateway);
    expect(gateway.log.join('\n')).not.toContain(gateway.token);
  });

  test('of one field does not affect the others', async () => {
    const { json } = await gateway.graphql(`{ caller { name } ${lookUp.slice(1)}`);
    expect(json.data).toEqual({ caller: { name: 'test' }, userGroup: null });
    expect(json.errors).toMatchObject([{ path: ['userGroup'], extensions: { code: 'INTERNAL' } }]);
  });

  test('is logged differently from an expected failure', async () => {
    await gateway.send('GET', '/api/user', { body: { user_group_id: 5 } });
    await gateway.send('GET', '/nowhere');
    expect(gateway.log.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });
});

describe('an unreachable database', () => {
  let database: TestDatabase;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let gateway: TestGateway;
  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await startProxy(database.url);
    const proxied = connectDatabase({ connectionString: proxy.url });
    gateway = await startGateway({ ...proxied, url: proxy.url });
  });
  afterEach(async () => {
    await gateway.close();
    await gateway.database.close();
    proxy.cut();
    await database.close();
  });

  test.each(transports)('over %s is UNAVAILABLE, with Retry-After', async (_, send) => {
    proxy.cut();
    const reply = await send(gateway);
    expect([reply.status, failureOf(reply).code]).toEqual([503, 'UNAVAILABLE']);
    expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(reply.text).not.toMatch(/ECONNREFUSED|127\.0\.0\.1|terminated|postgres/i);
  });

  test('is reported by /readyz, but not by /livez', async () => {
    proxy.cut();
    expect((await gateway.send('GET', '/readyz', { token: null })).status).toBe(503);
    expect((await gateway.send('GET', '/livez', { token: null })).status).toBe(200);
  });

  test.each(transports)('over %s serves requests again as soon as it is reachable', async (_, send) => {
    expect((await send(gateway)).status).toBe(200);
    proxy.cut();
    expect((await send(gateway)).status).toBe(503);
    await proxy.restore();
    expect((await send(gateway)).status).toBe(200);
  });
});

describe('a read-only database', () => {
  let database: TestDatabase;
  let readOnly: Database;
  let gateway: TestGateway;
  beforeEach(async () => {
    database = await createTestDatabase();
    readOnly = connectDatabase({ connectionString: `${database.url}?options=-c%20default_transaction_read_only%3Don` });
    gateway = await startGateway({ ...readOnly, prisma: database.prisma, url: database.url });
  });
  afterEach(async () => {
    await gateway.close();
    await readOnly.close();
    await database.close();
  });

  test.each(transports)('over %s is UNAVAILABLE, with Retry-After', async (_, send) => {
    const reply = await send(gateway);
    expect([reply.status, failureOf(reply).code]).toEqual([503, 'UNAVAILABLE']);
    expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });

  test('still serves requests that need no database', async () => {
    expect((await gateway.graphql(lookUp)).json).toEqual({ data: { userGroup: null } });
  });
});

describe('a rotation that fails half-way', () => {
  let gateway: TestGateway;
  let token: string;
  beforeEach(async () => {
    gateway = await startGateway();
    token = (await gateway.send('GET', '/api/user?user_group_id=acme')).json.user_group.token;
    await gateway.database.pool.query('alter table retired_token add constraint never check (false)');
  });
  afterEach(() => gateway.close());

  const rotate = () =>
    gateway.graphql(
      'mutation ($token: String!) { rotateUserGroupToken(input: { currentToken: $token, graceSeconds: 60 }) { __typename } }',
      { token },
    );

  test('is INTERNAL and leaves the token as it was', async () => {
    const reply = await rotate();
    expect([reply.status, failureOf(reply).code]).toEqual([500, 'INTERNAL']);
    expect((await gateway.send('GET', '/api/user?user_group_id=acme')).json.user_group.token).toBe(token);
  });

  test('reveals no token', async () => {
    expect((await rotate()).text).not.toContain(token);
  });
});

/** A way to a database that can be cut and restored. */
async function startProxy(target: string) {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(Number(targetPort), hostname);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket) && other.destroy());
      socket.pipe(other);
    }
  });
  const port = await freePort(); // it is still free when the proxy is restored
  const listen = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen();
  const url = new URL(target);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    restore: listen,
  };
}
