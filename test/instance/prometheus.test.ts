import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { metricDefinitions } from '../../src/metrics/metrics.ts';
import { connectTo } from '../support/connect.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { readSamples, sampleValue } from '../support/prometheus.ts';
import { routes } from '../support/routes.ts';

let gateway: TestGateway;
let reader: string;
beforeAll(async () => {
  gateway = await startGateway(undefined, { introspection: true, rateLimit: 1_000_000 });
  reader = (await gateway.issue({ scopes: ['metrics:read'] })).secret;
});
afterAll(() => gateway.close());

const scrape = () => gateway.send('GET', '/metrics', { token: null, headers: { authorization: `Bearer ${reader}` } });

type Count = (metric: string, labels: Record<string, string>) => number;

/** Runs `work`. @returns what was counted meanwhile under some labels. */
async function countsOf(work: () => Promise<unknown>): Promise<Count> {
  const before = readSamples((await scrape()).text);
  await work();
  const after = readSamples((await scrape()).text);
  return (metric, labels) => sampleValue(after, metric, labels) - sampleValue(before, metric, labels);
}

const countedBy = async (work: () => Promise<unknown>, ...counted: Parameters<Count>) => (await countsOf(work))(...counted);

const query = 'query Prometheus_test { userGroup(by: { providedId: "no such" }) { name } }';
const times = async (count: number, send: () => Promise<unknown>) => {
  for (let i = 0; i < count; i += 1) await send();
};

/** Requests on each way through the gateway, and the labels that count them. */
const counted: Record<string, [send: () => Promise<unknown>, route: string, operation: string, status: string]> = {
  'GraphQL, by the full pipeline, the fast path, and compiled': [
    () => gateway.graphql(query),
    '/graphql',
    'Prometheus_test',
    '200',
  ],
  'GraphQL, by the full pipeline only': [
    () => gateway.send('GET', `/graphql?query=${encodeURIComponent(query.replace('_test', '_get'))}`),
    ...(['/graphql', 'Prometheus_get', '200'] as const),
  ],
  'GraphQL, an operation without a name': [() => gateway.graphql('{ caller { name } }'), '/graphql', 'anonymous', '200'],
  'GraphQL, a document that is not valid': [() => gateway.graphql('query Invalid { no }'), '/graphql', '', '200'],
  REST: [() => gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } }), '/api/user', 'getOrCreateUserGroup', '200'],
  'REST, without a credential': [() => gateway.send('GET', '/api/user', { token: null }), '/api/user', '', '401'],
  'a page with a parameter': [() => gateway.send('GET', '/docs/errors/NOT_FOUND'), '/docs/errors/{code}', '', '200'],
  'a path without a route': [() => gateway.send('GET', '/docs/errors/NOT_FOUND/x'), 'unmatched', '', '404'],
};

test.each(Object.entries(counted))('counts each request: %s', async (_, [send, route, operation, status]) => {
  const labels = { route, operation, status };
  expect(await countedBy(() => times(6, send), 'gateway_http_requests_total', labels)).toBe(6);
  const durations = 'gateway_http_request_duration_seconds';
  const ofOperation = { route, operation };
  expect(await countedBy(() => times(2, send), `${durations}_count`, ofOperation)).toBe(2);
  expect(await countedBy(send, `${durations}_bucket`, { ...ofOperation, le: '+Inf' })).toBe(1);
  expect(await countedBy(send, `${durations}_sum`, ofOperation)).toBeGreaterThan(0);
});

test('counts a request whose client disconnects before the response', async () => {
  const connections = promisify(gateway.server.getConnections).bind(gateway.server);
  const disconnect = async () => {
    const held = await holdWrites(gateway.database.url);
    const open = await connections();
    const socket = connectTo(gateway);
    socket.write(`GET /api/user?user_group_id=acme HTTP/1.1\r\nHost: g\r\nAuthorization: Token ${gateway.token}\r\n\r\n`);
    await held.untilOneWaits();
    socket.destroy();
    await expect.poll(connections).toBe(open);
    await held.release();
    await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  };
  const labels = { route: '/api/user', operation: 'getOrCreateUserGroup', status: 'disconnected' };
  expect(await countedBy(disconnect, 'gateway_http_requests_total', labels)).toBe(1);
});

test('counts errors by route and code, and the keys of batches', async () => {
  const update = 'mutation { updateUserGroup(input: { by: { providedId: "no such" } name: "x" }) { __typename } }';
  const sent = () => times(5, () => gateway.graphql(update));
  expect(await countedBy(sent, 'gateway_errors_total', { route: '/graphql', code: 'NOT_FOUND' })).toBe(5);
  // More keys than the gateway ever looks up by itself.
  const fields = Array.from(
    { length: 30 },
    (_, index) => `g${index}: userGroup(by: { providedId: "no such ${index}" }) { name }`,
  );
  const counted = await countsOf(() => gateway.graphql(`{ ${fields.join(' ')} }`));
  const withAtMost = (le: string) => counted('gateway_database_batch_keys_bucket', { le });
  expect(withAtMost('50') - withAtMost('20')).toBe(1);
});

test('each route has a series of internal errors before the first one: Prometheus sees no increase of one that it has not seen', async () => {
  const errors = readSamples((await scrape()).text).filter(({ name }) => name === 'gateway_errors_total');
  const internal = errors.filter(({ labels }) => labels['code'] === 'INTERNAL');
  expect(new Set(internal.map(({ labels }) => labels['route']))).toEqual(new Set(routes.map(({ path }) => path)));
});

test('measures the pool, the queues and the process', async () => {
  // What the gateway does by itself may occupy a connection, or open one, at any time.
  const { pool } = gateway.database;
  const connections = async () => {
    const found = readSamples((await scrape()).text);
    return sampleValue(found, 'gateway_database_connections', { state: 'idle' });
  };
  await expect.poll(async () => (await connections()) === pool.totalCount).toBe(true);
  const samples = readSamples((await scrape()).text);
  const value = (name: string, labels?: Record<string, string>) => sampleValue(samples, name, labels);
  expect(value('gateway_database_connections_max')).toBe(10);
  expect(value('gateway_queue_length', { queue: 'database_connections' })).toBe(0);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(10e6);
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0.1);
  expect(value('process_start_time_seconds')).toBeCloseTo(Date.now() / 1_000 - process.uptime(), -1);
  expect(value('gateway_build_info', { node_version: process.version })).toBe(1);
});

test('each metric has one type and its samples together, in the text format', async () => {
  await scrape(); // one request at least has been counted
  const { status, headers, text } = await scrape();
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  // Each metric has one type and its samples together, and all samples have the labels of the definition.
  const types = [...text.matchAll(/^# TYPE ([a-z_]+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(types).toEqual(Object.values(metricDefinitions).map(({ name, type }) => `${name} ${type}`));
  const suffixes = { counter: [''], gauge: [''], histogram: ['_bucket', '_sum', '_count'] };
  const expected = Object.values(metricDefinitions).flatMap(({ name, type }) =>
    suffixes[type].map((suffix) => `${name}${suffix}`),
  );
  expect(new Set(readSamples(text).map(({ name }) => name))).toEqual(new Set(expected));
});
