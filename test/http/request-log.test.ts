import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { traceIdOf } from '../../src/log.ts';
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
  'a failure': [
    ...(['PUT', '/api/user', { body: { user_group_id: 'no such', name: 'x' } }] as const),
    { method: 'PUT', route: '/api/user', operation: 'updateUserGroup', status: 404, errors: ['NOT_FOUND'] },
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
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${parent}-01`, undefined],
  ['a parent id of zeros', `00-${trace}-${'0'.repeat(16)}-01`, undefined],
  ['other text', 'secret', undefined],
  ['nothing', undefined, undefined],
])('the trace id in a traceparent header: %s', (_, traceparent, expected) => {
  expect(traceIdOf({ ...(traceparent !== undefined && { traceparent }) })).toBe(expected);
});
