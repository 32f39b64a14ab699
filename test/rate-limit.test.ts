import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Scope } from '../src/scopes.ts';
import { type Reply, type RequestOptions, startGateway, type TestGateway } from './support/gateway.ts';
import { until } from './support/process.ts';

const limit = 3;
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(undefined, { introspection: true, rateLimit: limit });
});
afterAll(() => gateway.close());

const fields = ({ headers }: Reply) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];
const policy = `"api-token";q=${limit};w=60`;

/** Issues an API token and uses it up. */
async function exhaust(...scopes: Scope[]): Promise<string> {
  const { secret } = await gateway.issue({ scopes: scopes.length > 0 ? scopes : ['groups:read', 'groups:write'] });
  for (let sent = 1; sent <= limit; sent += 1) {
    const reply = await gateway.graphql('{ caller { name } }', {}, { token: secret });
    expect(reply.json).toEqual({ data: { caller: { name: 'test' } } });
  }
  return secret;
}

/** Expects what is left, in seconds, of a minute that began after a time. */
function expectWindow(left: readonly number[], startedMs: number): void {
  const passed = Math.ceil((performance.now() - startedMs) / 1_000);
  for (const seconds of left) {
    expect(seconds).toBeGreaterThanOrEqual(60 - passed);
    expect(seconds).toBeLessThanOrEqual(60);
  }
}

test('responses state the policy, what remains, and when there is more', async () => {
  const { secret: token } = await gateway.issue();
  const startedMs = performance.now();
  const replies = [
    await gateway.send('GET', '/api/user', { token, body: { user_group_id: 'a' } }),
    await gateway.send('PUT', '/api/user', { token, body: { user_group_id: 'unknown' } }),
    await gateway.graphql('{ nothing }', {}, { token }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 404, 200]);
  const states = replies.map(fields);
  expect(states).toEqual([2, 1, 0].map((remaining) => [policy, expect.stringMatching(`^"api-token";r=${remaining};t=\\d+$`)]));
  expectWindow(
    states.map(([, state]) => Number(state?.split('t=')[1])),
    startedMs,
  );
});

const mutation = 'mutation { getOrCreateUserGroup(input: { providedId: "refused" }) { __typename } }';
const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'token=a' };

/** The requests that count; each with its format. */
const requests: readonly (readonly [method: string, path: string, form: 'problem' | 'graphql', options: RequestOptions])[] = [
  ['GET', '/api/user', 'problem', { body: { user_group_id: 'refused' } }],
  ['QUERY', '/api/user', 'problem', { body: { user_group_id: 'refused' } }],
  ['GET', '/api/user/?user_group_id=refused', 'problem', {}],
  ['PUT', '/api/user', 'problem', { body: { user_group_id: 'refused' } }],
  ['PUT', '/api/user', 'problem', { body: { user_group_id: 'refused' }, headers: { 'idempotency-key': 'key' } }],
  ['POST', '/api/user', 'problem', { body: { current_token: 'x' } }],
  ['PUT', '/api/user', 'problem', { body: { user_group_id: 'refused', name: 'x'.repeat(100_000) } }],
  ['POST', '/graphql', 'graphql', { body: { query: '{ caller { name } }' } }],
  ['POST', '/graphql', 'graphql', { body: { query: mutation } }],
  ['POST', '/graphql', 'graphql', { body: { query: mutation }, headers: { 'idempotency-key': 'key' } }],
  ['POST', '/graphql', 'graphql', { body: '{' }],
  ['GET', '/graphql?query={__typename}', 'graphql', {}],
  ['GET', '/metrics', 'problem', {}],
  ['POST', '/oauth2/introspect', 'problem', form],
];

test.each(requests)(
  '%s %s (%s) of an API token that has sent too many requests is refused',
  async (method, path, format, options) => {
    const startedMs = performance.now();
    const token = await exhaust();
    const reply = await gateway.send(method, path, { ...options, token });
    const retryAfter = Number(reply.headers.get('retry-after'));
    expect(reply.status).toBe(429);
    expectWindow([retryAfter], startedMs);
    // Written a moment after Retry-After was counted, which may be in the next second.
    const states = [retryAfter, retryAfter - 1].map((seconds) => [policy, `"api-token";r=0;t=${seconds}`]);
    expect(states).toContainEqual(fields(reply));
    const extensions = { code: 'RATE_LIMITED' };
    const message = expect.stringContaining('within 60 seconds');
    if (format === 'graphql') expect(reply.json).toEqual({ errors: [{ message, extensions }] });
    else expect(reply.json).toMatchObject({ success: 0, status: 429, code: 'RATE_LIMITED', detail: message });
  },
);

test('refused requests change nothing, and are not stored under their Idempotency-Key', async () => {
  const { rows } = await gateway.database.pool.query("select from user_group where provided_id = 'refused'");
  const { rows: records } = await gateway.database.pool.query('select from idempotency_record');
  expect([rows.length, records.length]).toEqual([0, 0]);
});

test('other API tokens, requests without one, and paths that need none are not limited', async () => {
  const token = await exhaust();
  expect((await gateway.send('GET', '/metrics', { token })).status).toBe(429);
  for (let sent = 1; sent <= limit + 1; sent += 1) {
    const replies = [
      await gateway.send('GET', '/livez', { token }),
      await gateway.graphql('{ __typename }', {}, { token: null }),
      await gateway.send('GET', '/nowhere', { token }),
    ];
    expect(replies.map((reply) => [reply.status, ...fields(reply)])).toEqual(
      [200, 200, 404].map((status) => [status, null, null]),
    );
  }
  expect((await gateway.send('PUT', '/api/user', { token: 'ugk_wrong' })).headers.get('ratelimit')).toBeNull();
  await exhaust();
});

test('refused requests are counted', async () => {
  const token = await exhaust('metrics:read');
  await gateway.send('GET', '/metrics', { token });
  const shows = async (line: RegExp) => {
    const { secret } = await gateway.issue({ scopes: ['metrics:read'] });
    return line.test((await gateway.send('GET', '/metrics', { token: secret })).text);
  };
  // It is counted when it was sent: the client may be faster.
  await until(() => shows(/^gateway_errors_total\{route="\/metrics",code="RATE_LIMITED"\} [1-9]/m), 'the refusal is counted');
  expect(await shows(/^gateway_rate_limit_syncs_total\{result="success"\} [1-9]/m)).toBe(true);
});

test('gateways on one database share the limit, and while the database fails or blocks, each one enforces its own', async () => {
  const other = await startGateway(gateway.database, { introspection: true, rateLimit: limit });
  try {
    const remaining = async (token: string) =>
      Number(/r=(\d+)/.exec((await other.send('GET', '/metrics', { token })).headers.get('ratelimit') ?? '')?.[1]);
    const token = await exhaust();
    const { secret } = await gateway.issue();
    await until(async () => (await other.send('GET', '/metrics', { token })).status === 429, 'the other gateway refuses too');

    // Requests do not wait for the exchange.
    const client = await gateway.database.pool.connect();
    await client.query('begin; lock table request_count');
    await exhaust();
    expect(await remaining(secret)).toBe(2);
    await client.query('rollback; alter table request_count rename to gone');
    await until(() => other.log.some((line) => line.includes('limits the rate of requests by itself')), 'the failure is logged');
    expect([await remaining(secret), await remaining(secret)]).toEqual([1, 0]);
    expect((await other.send('GET', '/metrics', { token: secret })).status).toBe(429);
    await client.query('alter table gone rename to request_count');
    client.release();
    await until(
      async () => (await gateway.send('GET', '/metrics', { token: secret })).status === 429,
      'the first one refuses too',
    );
    expect(other.log.filter((line) => line.includes('limits the rate of requests by itself'))).toHaveLength(1);
    await until(() => other.log.some((line) => line.includes('together again')), 'the recovery is logged');
  } finally {
    await other.close();
  }
});

test.each([
  ['without a limit', 0],
  ['with a lower one', 1],
])('on gateways %s, an API token has its own limit, and a change of it counts from the next request on', async (_, rateLimit) => {
  const [one, other] = [
    await startGateway(gateway.database, { introspection: true, rateLimit }),
    await startGateway(gateway.database, { introspection: true, rateLimit }),
  ];
  try {
    const { secret: token, id } = await gateway.issue();
    const limitTo = (own: number | null) => gateway.database.prisma.apiToken.update({ where: { id }, data: { rateLimit: own } });
    const send = (to: TestGateway) => to.send('GET', '/api/user', { token, body: { user_group_id: 'a' } });
    await limitTo(2);
    const replies = [await send(one), await send(one), await send(one)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(replies.map(fields)).toEqual(
      [1, 0, 0].map((remaining) => ['"api-token";q=2;w=60', expect.stringMatching(`r=${remaining};`)]),
    );
    await until(async () => (await send(other)).status === 429, 'the other gateway refuses too');
    await limitTo(1_000);
    expect((await send(one)).status).toBe(200);
    await limitTo(null);
    const last = await send(one);
    if (rateLimit > 0) expect(last.status).toBe(429);
    else expect([last.status, ...fields(last)]).toEqual([200, null, null]);
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
});

test('what was counted is kept when the database loses it, as it does in a crash', async () => {
  const token = await exhaust('metrics:read');
  const { pool } = gateway.database;
  const shared = async () => ((await pool.query('select 1 from request_count')).rowCount ?? 0) > 0;
  await until(shared, 'the counts are shared');
  await pool.query('truncate request_count');
  await until(shared, 'they are shared again');
  expect((await gateway.send('GET', '/metrics', { token })).status).toBe(429);
});

test('a minute after the first request, as many are permitted again', async () => {
  const { secret: token, id } = await gateway.issue({ scopes: ['metrics:read'] });
  const status = async () => (await gateway.send('GET', '/metrics', { token })).status;
  await until(async () => (await status()) === 429, 'the API token has sent too many requests');
  // A share of counts later, the gateway knows that the window began long ago.
  const age =
    "update request_count set started_at = clock_timestamp() - interval '56 seconds' where api_token_id = $1 and count = $2 returning 1";
  await until(async () => (await gateway.database.pool.query(age, [id, limit])).rows.length > 0, 'the count is shared');
  await until(async () => (await status()) === 200, 'another window begins');
});

test('without a limit there are no headers', async () => {
  const unlimited = await startGateway(gateway.database);
  const reply = await unlimited.send('GET', '/api/user', { body: { user_group_id: 'a' } });
  expect([reply.status, ...fields(reply)]).toEqual([200, null, null]);
  await unlimited.close();
});
