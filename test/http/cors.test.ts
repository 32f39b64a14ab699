import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { userMethods } from '../../src/user-groups/rest.ts';
import { sendText } from '../support/connect.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const app = 'https://app.example.com';
const admin = 'http://localhost:3000';
let listed: TestGateway;
let open: TestGateway;
let closed: TestGateway;
beforeAll(async () => {
  listed = await startGateway(undefined, { introspection: true, corsOrigins: [app, admin] });
  open = await startGateway(listed.database, { introspection: true, corsOrigins: ['*'], rateLimit: 1_000 });
  closed = await startGateway(listed.database);
});
afterAll(async () => {
  await Promise.all([open.close(), closed.close()]);
  await listed.close();
});

/** A response as it was sent. */
interface RawReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends a request over a socket of its own, with exactly these headers and without a body, unless one is given. */
async function send(
  { url }: TestGateway,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<RawReply> {
  const given = { host: 'gateway', connection: 'close', ...(body && { 'content-length': String(body.length) }), ...headers };
  const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = await sendText({ url }, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [start = '', ...fields] = head.split('\r\n');
  const pairs = fields.map((field): [string, string] => [
    field.slice(0, field.indexOf(':')),
    field.slice(field.indexOf(':') + 1),
  ]);
  return { status: Number(start.split(' ')[1]), headers: new Headers(pairs), body: rest.join('\r\n\r\n') };
}

const corsOf = ({ headers }: RawReply) => ({
  origin: headers.get('access-control-allow-origin'),
  methods: headers.get('access-control-allow-methods'),
  vary: headers.get('vary'),
});
const preflight = (origin: string, method = 'POST') => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,content-type,idempotency-key,x-request-id,traceparent',
});

describe('a preflight request', () => {
  test.each([
    ['/graphql', 'GET, POST'],
    ['/api/user', userMethods.join(', ')],
    ['/livez', 'GET, HEAD'],
    ['/docs/errors/NOT_FOUND', 'GET, HEAD'],
  ])('for %s gets the methods of the path', async (path, methods) => {
    const reply = await send(listed, 'OPTIONS', path, preflight(app));
    const vary = 'Origin, Access-Control-Request-Headers';
    expect([reply.status, reply.body, corsOf(reply)]).toEqual([200, '', { origin: app, methods, vary }]);
    expect(reply.headers.get('access-control-allow-headers')).toBe(preflight(app)['access-control-request-headers']);
    expect(reply.headers.get('access-control-max-age')).toBe('600');
    expect(reply.headers.get('access-control-allow-credentials')).toBeNull();
    expect(corsOf(await send(open, 'OPTIONS', path, preflight('https://any.example')))).toEqual({
      origin: '*',
      methods,
      vary: 'Access-Control-Request-Headers',
    });
  });

  test.each([
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'https://app.example.com:8443',
    `${app},${admin}`,
    'null',
    '*',
  ])('from the origin %j gets no permission, because it is not listed', async (origin) => {
    const reply = await send(listed, 'OPTIONS', '/graphql', preflight(origin));
    expect([reply.status, corsOf(reply)]).toMatchObject([200, { origin: null, vary: 'Origin, Access-Control-Request-Headers' }]);
  });

  test('for a path that does not exist is not found, and without the setting it is not supported', async () => {
    expect((await send(listed, 'OPTIONS', '/nowhere', preflight(app))).status).toBe(404);
    const reply = await send(closed, 'OPTIONS', '/graphql', preflight(app));
    expect([reply.status, reply.headers.get('allow'), corsOf(reply).origin]).toEqual([405, 'GET, POST', null]);
  });
});

/** Requests of every outcome, with the status of each. */
const requests: [status: number, method: string, path: string, body: string][] = [
  [200, 'POST', '/graphql', '{"query":"{ __typename }"}'],
  [200, 'GET', '/docs/api', ''],
  [401, 'PUT', '/api/user', '{}'],
  [404, 'GET', '/nowhere', ''],
  [415, 'POST', '/graphql', 'x'],
];

test.each(requests)('who can read the response with status %i to %s %s', async (status, method, path, body) => {
  const headersFor = (origin?: string) => ({
    ...(origin && { origin }),
    ...(body && { 'content-type': status === 415 ? 'text/plain' : 'application/json' }),
  });
  const replies = await Promise.all(
    [app, admin, 'https://evil.example', undefined].map((origin) => send(listed, method, path, headersFor(origin), body)),
  );
  expect(replies.map((reply) => [reply.status, corsOf(reply).origin])).toEqual(
    [app, admin, null, null].map((origin) => [status, origin]),
  );
  const none = await send(closed, method, path, headersFor(app), body);
  expect([none.status, [...none.headers.keys()].filter((name) => name.startsWith('access-control'))]).toEqual([status, []]);
  const own = none.headers.get('vary')?.split(', ') ?? [];
  for (const { headers } of replies) expect(new Set(headers.get('vary')?.split(', '))).toEqual(new Set([...own, 'Origin']));
  const exposed = replies[0]?.headers.get('access-control-expose-headers')?.split(', ');
  expect(exposed).toEqual(
    expect.arrayContaining(['ETag', 'Idempotency-Replayed', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'X-Request-Id']),
  );
  const any = await send(open, method, path, headersFor('https://any.example'), body);
  expect([any.status, corsOf(any).origin]).toEqual([status, '*']);
  expect(any.headers.get('vary') ?? '').not.toContain('Origin');
});
