import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sendText } from '../support/connect.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A connection, and all that came in on it. */
let socket: Socket;
let received = '';
beforeEach(async () => {
  received = '';
  socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
});
afterEach(() => void socket.destroy());

/** Waits for something to come in. */
async function until(pattern: RegExp): Promise<void> {
  while (!pattern.test(received)) {
    if (socket.closed) throw new Error(`The connection ended with: ${received}`);
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  }
}

/** The next response, once it is complete; the connection may stay open. */
async function nextResponse(): Promise<{ status: number; head: string; body: string; json: Record<string, unknown> }> {
  await until(/\r\n\r\n/);
  const at = received.indexOf('\r\n\r\n');
  const head = received.slice(0, at);
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
  const bodyOf = () => Buffer.from(received.slice(at + 4));
  while (bodyOf().length < length) await once(socket, 'data');
  const body = bodyOf().subarray(0, length).toString('utf8');
  received = bodyOf().subarray(length).toString('utf8');
  return { status: Number(head.split(' ')[1]), head, body, json: body.startsWith('{') ? JSON.parse(body) : {} };
}

/** A request's text. */
function text(id: string, { target = '/api/user', method = 'GET', headers = [] as string[] } = {}): string {
  const body = JSON.stringify({ user_group_id: id });
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: gateway', `Authorization: Token ${gateway.token}`, ...headers];
  return `${lines.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const providedId = ({ json }: { json: Record<string, unknown> }) =>
  (json['user_group'] as Record<string, unknown>)?.['provided_id'];

test('none of thousands of header lines is lost', async () => {
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'many-lines' } });
  const body = JSON.stringify({ user_group_id: 'many-lines', name: 'overwritten' });
  const lines = Array.from({ length: 2_500 }, () => 'a:\r\n').join('');
  socket.write(
    `PUT /api/user HTTP/1.1\r\nHost: gateway\r\nAuthorization: Token ${gateway.token}\r\n${lines}If-Match: "99"\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect((await nextResponse()).json).toMatchObject({ status: 412, code: 'VERSION_MISMATCH' });
});

describe('one connection', () => {
  test('handles two pipelined GETs with bodies in order', async () => {
    socket.write(text('first') + text('second'));
    expect([providedId(await nextResponse()), providedId(await nextResponse())]).toEqual(['first', 'second']);
  });

  test('handles another request after a rejected one whose body was read', async () => {
    socket.write(text('x', { headers: ['Content-Encoding: gzip'] }));
    expect((await nextResponse()).status).toBe(415);
    socket.write(text('after a rejection'));
    expect(providedId(await nextResponse())).toBe('after a rejection');
  });
});

test.each(['Token other', '', 'Bearer'])('a second Authorization header, %j, is not ignored', async (second) => {
  socket.write(text('two credentials', { headers: [`Authorization: ${second}`] }));
  const { status, json } = await nextResponse();
  expect([status, json['code']]).toEqual([401, 'UNAUTHENTICATED']);
});

test.each([
  ['http://elsewhere.example:8080/api/user', 200],
  ['HTTP://ELSEWHERE.EXAMPLE/livez?x=y', 200],
  ['http://elsewhere.example/nowhere', 404],
])('the target %s in absolute form', async (target, status) => {
  socket.write(text('absolute', { target }));
  expect((await nextResponse()).status).toBe(status);
});

describe('a body that is too large', () => {
  const head = (...headers: string[]) =>
    ['GET /api/user HTTP/1.1', 'Host: gateway', `Authorization: Token ${gateway.token}`, ...headers, '', ''].join('\r\n');

  test('is rejected while its chunks arrive', async () => {
    socket.write(head('Content-Type: application/json', 'Transfer-Encoding: chunked'));
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    for (let sent = 0; sent <= 16; sent += 1) socket.write(chunk); // one more than may be, and no end
    const { status, json } = await nextResponse();
    expect([status, json['code']]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  test('is read to its end, which is not parsed as a request', async () => {
    const smuggled = text('smuggled');
    const rest = smuggled.padEnd(2_000_000, 'x');
    socket.write(head('Content-Type: application/json', `Content-Length: ${rest.length}`));
    expect((await nextResponse()).status).toBe(413);
    socket.write(rest + text('next'));
    expect(providedId(await nextResponse())).toBe('next');
    expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'smuggled' } })).toBe(0);
  });
});

test('a request after one with Connection: close is not executed', async () => {
  socket.write(`GET /livez HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n${text('after the last')}`);
  expect((await nextResponse()).head).toMatch(/\r\nconnection: close/i);
  if (!socket.closed) await once(socket, 'close');
  expect(received).toBe('');
  expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'after the last' } })).toBe(0);
});

test.each([
  ['CONNECT a:1 HTTP/1.1', /^$/],
  ['TRACE / HTTP/1.1', /^HTTP\/1\.1 405 /],
  ['GET /livez HTTP/1.0', /^HTTP\/1\.1 200 /],
  ['GET /livez HTTP/1.1\r\nUpgrade: websocket', /^HTTP\/1\.1 200 /],
])('%j gets a response, or the connection ends', async (line, response) => {
  socket.write(`${line}\r\nHost: a\r\nConnection: close\r\n\r\n`);
  if (!socket.closed) await once(socket, 'close');
  expect(received).toMatch(response);
});

describe('invalid HTTP', () => {
  const filler = (bytes: number) => `X-Filler: ${'x'.repeat(bytes)}`;
  // What else is malformed, the parser of Node.js rejects in the same way.
  test.each<[string, () => string, number]>([
    ['is no HTTP at all', () => 'BANANA\r\n\r\n', 400],
    ['is TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['has no Host', () => 'GET / HTTP/1.1\r\n\r\n', 400],
    [
      'has a length and chunks',
      () => 'GET / HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['has 20 KB of headers', () => text('x', { headers: [filler(20_000)] }), 431],
    ['has a target of 20 KB', () => text('x', { target: `/${'x'.repeat(20_000)}` }), 431],
  ])('%s: a problem with the request id', async (_, request, status) => {
    socket.write(request(), 'latin1');
    const { head, json, status: actual } = await nextResponse();
    expect(actual).toBe(status);
    expect(head).toMatch(/^x-content-type-options: nosniff\r?$/im);
    expect(head).toMatch(/^cache-control: no-store\r?$/im);
    expect(head).not.toMatch(/^(server|x-powered-by):/im);
    expect(json).toMatchObject({ success: 0, status, request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(head.toLowerCase()).toContain(`x-request-id: ${json['request_id']}`);
  });
});

describe('a client that disconnects', () => {
  test.each([
    ['in the middle of the headers', () => 'GET /api/user HTTP/1.1\r\nHost: gat'],
    ['in the middle of the body', () => text('gone').slice(0, -5)],
    ['in the middle of a chunk', () => 'POST /api/user HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx'],
    ['before the response', () => text('gone before the response')],
  ])('%s does not affect the server', async (_, part) => {
    socket.write(part());
    socket.resetAndDestroy();
    const reply = await gateway.send('GET', '/api/user', { body: { user_group_id: 'still here' } });
    expect(reply.status).toBe(200);
    expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'gone' } })).toBe(0);
    expect(gateway.log.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });
});

test('a body that does not arrive is 408 REQUEST_TIMEOUT', async () => {
  const slow = await startGateway();
  slow.server.headersTimeout = slow.server.requestTimeout = 100;
  const reply = await sendText(slow, 'PUT /api/user HTTP/1.1\r\nHost: gateway\r\nContent-Length: 10\r\n\r\n{');
  expect([reply.slice(0, 13), reply.includes('"code":"REQUEST_TIMEOUT"')]).toEqual(['HTTP/1.1 408 ', true]);
  await slow.close();
});
