import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRequestLog, traceIdOf } from '../../src/log.ts';
import { type RequestOptions, startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let caller: { secret: string; id: number };
beforeAll(async () => {
  gateway = await startGateway(undefined, { introspection: true, logRequests: 1 });
  caller = await gateway.issue();
});
afterAll(() => gateway.close());
beforeEach(() => gateway.log.splice(0));

const trace = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';
const headers = { 'x-request-id': 'of-the-test', traceparent: `00-${trace}-${parent}-01` };
const query = 'query Log($id: String!) { userGroup(by: { providedId: $id }) { name } }';

const requests: Record<string, [method: string, path: string, options: RequestOptions, line: object]> = {
  GraphQL: [
    ...(['POST', '/graphql', { body: { query, variables: { id: 'acme' } } }] as const),
    { method: 'POST', route: '/graphql', operation: 'Log', status: 200, cost: expect.any(Number) },
  ],
  REST: [
    ...(['GET', '/api/user/', { body: { user_group_id: 'acme' } }] as const),
    { method: 'GET', route: '/api/user', operation: 'getOrCreateUserGroup', status: 200 },
  ],
  'a failure': [
    ...(['PUT', '/api/user', { body: { user_group_id: 'no such', name: 'x' } }] as const),
    { method: 'PUT', route: '/api/user', operation: 'updateUserGroup', status: 404, errors: ['NOT_FOUND'] },
  ],
  'input that is not valid': [
    ...(['PUT', '/api/user', { body: { user_group_id: 'acme', name: 5 } }] as const),
    { method: 'PUT', route: '/api/user', operation: 'updateUserGroup', status: 400, errors: ['INVALID_INPUT'] },
  ],
  'a page': ['GET', '/docs/errors/NOT_FOUND?secret', {}, { method: 'GET', route: '/docs/errors/{code}', status: 200 }],
  'a path without a route': ['GET', '/secret', {}, { method: 'GET', status: 404, errors: ['NOT_FOUND'] }],
};

test.each(Object.entries(requests))('logs a line for each request: %s', async (name, [method, path, options, line]) => {
  const { headers: replied } = await gateway.send(method, path, { token: caller.secret, headers, ...options });
  expect(replied.get('x-request-id')).toBe('of-the-test');
  expect(gateway.log).toHaveLength(1);
  const knowsCaller = path.startsWith('/graphql') || path.startsWith('/api');
  expect([name, JSON.parse(gateway.log[0] ?? '')]).toEqual([
    name,
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      msg: 'request',
      request: 'of-the-test',
      trace,
      durationMs: expect.any(Number),
      ...(knowsCaller && { apiToken: caller.id }),
      ...line,
    },
  ]);
  expect(gateway.log[0]).not.toContain('secret');
});

test('an id that could be a secret or is not plain text is replaced', async () => {
  for (const id of [caller.secret, 'a b', 'x'.repeat(129)]) {
    const reply = await gateway.send('GET', '/livez', { headers: { 'x-request-id': id } });
    const replaced = reply.headers.get('x-request-id');
    expect(replaced).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(gateway.log.at(-1) ?? '').request).toBe(replaced);
  }
});

test.each([
  ['version 00', `00-${trace}-${parent}-00`, trace],
  ['a later version with more', `01-${trace}-${parent}-01-more`, trace],
  ['version 00 with more', `00-${trace}-${parent}-01-more`, undefined],
  ['the invalid version', `ff-${trace}-${parent}-01`, undefined],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${parent}-01`, undefined],
  ['a parent id of zeros', `00-${trace}-${'0'.repeat(16)}-01`, undefined],
  ['upper case', `00-${trace.toUpperCase()}-${parent}-01`, undefined],
  ['other text', 'secret', undefined],
  ['a long text', `01-${trace}-${parent}-01-${'x'.repeat(300)}`, undefined],
  ['nothing', undefined, undefined],
])('the trace id in a traceparent header: %s', (_, traceparent, expected) => {
  expect(traceIdOf({ ...(traceparent !== undefined && { traceparent }) })).toBe(expected);
});

test('a fraction of the requests is logged, and none without one', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  expect(createRequestLog(log, 0)).toBeUndefined();
  const write = createRequestLog(log, 0.25);
  for (let i = 0; i < 4_000; i += 1) write?.({ durationMs: 1, errorCodes: [], caller: {} } as never);
  expect(lines.length).toBeGreaterThan(700);
  expect(lines.length).toBeLessThan(1_300);
});
