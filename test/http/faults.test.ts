import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
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
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
    await gateway.database.pool.query('drop table user_group cascade');
  });
  afterAll(() => gateway.close());

  /** What was logged of a request. */
  const logged = (id: string) => gateway.log.map((line) => JSON.parse(line)).filter(({ request }) => request === id);

  test.each(transports)('over %s is INTERNAL without its cause, which is logged under the request id', async (name, send) => {
    const reply = await send(gateway, { 'x-request-id': name });
    expect([reply.status, failureOf(reply).code]).toEqual([500, 'INTERNAL']);
    expect(reply.text).not.toMatch(/user_group|relation|exist|42P01|select|insert|prisma|postgres|\.ts|\.js|stack/i);
    expect(logged(name)).toEqual([
      expect.objectContaining({
        level: 'error',
        code: 'INTERNAL',
        err: expect.objectContaining({ message: expect.stringContaining('user_group') }),
      }),
    ]);
  });

  test('of one field does not affect the others', async () => {
    const { json } = await gateway.graphql(`{ caller { name } ${lookUp.slice(1)}`);
    expect(json.data).toEqual({ caller: { name: 'test' }, userGroup: null });
    expect(json.errors).toMatchObject([{ path: ['userGroup'], extensions: { code: 'INTERNAL' } }]);
  });
});

describe('an unreachable database', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let gateway: TestGateway;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startDatabaseProxy(database.url);
    const proxied = connectDatabase({ connectionString: proxy.url });
    gateway = await startGateway({ ...proxied, url: proxy.url });
  });
  beforeEach(() => proxy.cut());
  afterEach(() => proxy.restore());
  afterAll(async () => {
    await gateway.close();
    await gateway.database.close();
    proxy.cut();
    await database.close();
  });

  test.each(transports)('over %s is UNAVAILABLE, with Retry-After, until it is reachable again', async (_, send) => {
    const reply = await send(gateway);
    expect([reply.status, failureOf(reply).code]).toEqual([503, 'UNAVAILABLE']);
    expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(reply.text).not.toMatch(/ECONNREFUSED|127\.0\.0\.1|terminated|postgres/i);
    await proxy.restore();
    expect((await send(gateway)).status).toBe(200);
    // Also when it is lost between two requests.
    proxy.cut();
    expect((await send(gateway)).status).toBe(503);
  });

  test('is reported by /readyz, but not by /livez', async () => {
    expect((await gateway.send('GET', '/readyz', { token: null })).status).toBe(503);
    expect((await gateway.send('GET', '/livez', { token: null })).status).toBe(200);
  });
});

test('a rotation that fails half-way is INTERNAL, reveals no token and leaves it as it was', async () => {
  const gateway = await startGateway();
  const currentToken = async () => (await gateway.send('GET', '/api/user?user_group_id=acme')).json.user_group.token;
  const token = await currentToken();
  await gateway.database.pool.query('alter table retired_token add constraint never check (false)');
  const rotate =
    'mutation ($token: String!) { rotateUserGroupToken(input: { currentToken: $token, graceSeconds: 60 }) { __typename } }';
  const reply = await gateway.graphql(rotate, { token });
  expect([reply.status, failureOf(reply).code]).toEqual([500, 'INTERNAL']);
  expect(reply.text).not.toContain(token);
  expect(await currentToken()).toBe(token);
  await gateway.close();
});
