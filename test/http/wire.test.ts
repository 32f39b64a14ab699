import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { connectTo } from '../support/connect.ts';
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

  test('reads a body that arrives byte by byte', async () => {
    for (const character of text('byte by byte')) socket.write(character);
    expect(providedId(await nextResponse())).toBe('byte by byte');
  });
});

test.each(['Token other', '', 'Bearer'])('a second Authorization header, %j, is not ignored', async (second) => {
  socket.write(text('two credentials', { headers: [`Authorization: ${second}`] }));
  const { status, json } = await nextResponse();
  expect([status, json['code']]).toEqual([401, 'UNAUTHENTICATED']);
});

test('an idle connection is kept open for 65 seconds', async () => {
  socket.write(text('kept open'));
  expect((await nextResponse()).head).toMatch(/^Keep-Alive: timeout=65$/m);
});

describe('Expect: 100-continue', () => {
  test('gets 100 Continue before the body is sent', async () => {
    const [head = '', body = ''] = text('expected', { headers: ['Expect: 100-continue'] }).split('\r\n\r\n');
    socket.write(`${head}\r\n\r\n`);
    await until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    received = '';
    socket.write(body);
    expect(providedId(await nextResponse())).toBe('expected');
  });
});

describe('the target in absolute form', () => {
  test.each([
    ['with a path', 'http://elsewhere.example/api/user', 200],
    ['with a port', 'http://elsewhere.example:8080/api/user', 200],
    ['with a query', 'http://elsewhere.example/livez?x=y', 200],
    ['in upper case', 'HTTP://ELSEWHERE.EXAMPLE/api/user', 200],
    ['of another path', 'http://elsewhere.example/nowhere', 404],
  ])('%s', async (name, target, status) => {
    socket.write(text(`absolute ${name}`, { target }));
    expect((await nextResponse()).status).toBe(status);
  });

  test('without a path is the root', async () => {
    socket.write('GET http://elsewhere.example HTTP/1.1\r\nHost: gateway\r\n\r\n');
    expect((await nextResponse()).json).toMatchObject({ name: 'user-group-gateway' });
  });
});

test('a target with unencoded letters is read as intended, or rejected', async () => {
  socket.write(
    text('x', { target: '/api/user?user_group_id=unencoded&name=Grüße' })
      .replace(/\{.*/, '')
      .replace(/Length: \d+/, 'Length: 0'),
  );
  const { status, json } = await nextResponse();
  const name = (json['user_group'] as Record<string, unknown> | undefined)?.['name'];
  expect([status, name]).toEqual(status === 400 ? [400, undefined] : [200, 'Grüße']);
});

describe('a body that is too large', () => {
  const head = (...headers: string[]) =>
    ['GET /api/user HTTP/1.1', 'Host: gateway', `Authorization: Token ${gateway.token}`, ...headers, '', ''].join('\r\n');

  test('is rejected by its declared length before it arrives', async () => {
    socket.write(head('Content-Type: application/json', 'Content-Length: 1048577'));
    const { status, json } = await nextResponse();
    expect([status, json['code']]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  test('is rejected also if its declared length exceeds the range of numbers', async () => {
    socket.write(head('Content-Type: application/json', 'Content-Length: 99999999999999999999'));
    expect([400, 413]).toContain((await nextResponse()).status);
  });

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

test('a client that sends a rejected body without end gets the response, and is disconnected in the end', async () => {
  const { requestTimeout } = gateway.server;
  gateway.server.requestTimeout = 1_000;
  onTestFinished(() => {
    gateway.server.requestTimeout = requestTimeout;
  });
  const endless = connectTo(gateway);
  const head = 'POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  endless.setEncoding('utf8').write(head + `10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(17));
  const [text] = await once(endless, 'data');
  expect(text).toMatch(/^HTTP\/1\.1 413 /);
  const sending = setInterval(() => endless.writable && endless.write(`100\r\n${'x'.repeat(256)}\r\n`), 50);
  onTestFinished(() => clearInterval(sending));
  if (!endless.closed) await new Promise((resolve) => endless.once('close', resolve));
});

test('a client that sends no HTTP and keeps its side open is disconnected', async () => {
  const accepted = once(gateway.server, 'connection');
  const silent = connectTo(gateway, { allowHalfOpen: true });
  const count = () => new Promise<number>((resolve) => gateway.server.getConnections((_, open) => resolve(open)));
  await Promise.all([accepted, once(silent, 'connect')]);
  const before = await count();
  silent.resume().write('BANANA\r\n\r\n');
  await once(silent, 'end');
  await expect.poll(count, { timeout: 10_000 }).toBeLessThan(before);
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
  ['OPTIONS * HTTP/1.1', /^HTTP\/1\.1 404 /],
  ['GET /livez HTTP/1.0', /^HTTP\/1\.1 200 /],
  ['GET /livez HTTP/1.1\r\nUpgrade: websocket', /^HTTP\/1\.1 200 /],
])('%j gets a response, or the connection ends', async (line, response) => {
  socket.write(`${line}\r\nHost: a\r\nConnection: close\r\n\r\n`);
  if (!socket.closed) await once(socket, 'close');
  expect(received).toMatch(response);
  expect((await gateway.send('GET', '/livez')).status).toBe(200);
});

test('a request followed by invalid HTTP gets its own response, then the connection is closed', async () => {
  socket.write(`${text('before garbage')}BANANA\r\n\r\n`);
  const response = await nextResponse();
  expect([response.status, providedId(response)]).toEqual([200, 'before garbage']);
  if (!socket.closed) await once(socket, 'close');
  expect(received).toBe('');
});

test('a connection stays open after a request without a body to an unknown path', async () => {
  socket.write('GET /nowhere HTTP/1.1\r\nHost: gateway\r\n\r\n');
  const { status, head } = await nextResponse();
  expect(status).toBe(404);
  expect(head).not.toMatch(/\r\nconnection: close/i);
  socket.write(text('on the same connection'));
  expect(providedId(await nextResponse())).toBe('on the same connection');
});

describe('invalid HTTP', () => {
  const filler = (bytes: number) => `X-Filler: ${'x'.repeat(bytes)}`;
  // What else is malformed, the parser of Node.js rejects in the same way.
  test.each<[string, () => string, number]>([
    ['is no HTTP at all', () => 'BANANA\r\n\r\n', 400],
    ['is TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['has no Host', () => 'GET / HTTP/1.1\r\n\r\n', 400],
    ['has two Hosts', () => 'GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n', 400],
    ['has two lengths', () => 'GET / HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'has a length and chunks',
      () => 'GET / HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    [
      'has a chunk whose size is not a number',
      () => 'POST /graphql HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n',
      400,
    ],
    ['has 20 KB of headers', () => text('x', { headers: [filler(20_000)] }), 431],
    ['has a target of 20 KB', () => text('x', { target: `/${'x'.repeat(20_000)}` }), 431],
  ])('%s', async (_, request, status) => {
    socket.write(request(), 'latin1');
    expect((await nextResponse()).status).toBe(status);
  });

  test.each([
    ['400', () => 'BANANA\r\n\r\n'],
    ['431', () => text('x', { headers: [filler(20_000)] })],
  ])('gets %s as a problem with that status and the request id', async (status, request) => {
    socket.write(request());
    const { head, json } = await nextResponse();
    expect(head).toMatch(/content-type: application\/problem\+json/i);
    expect(json).toMatchObject({ success: 0, status: Number(status), request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(head.toLowerCase()).toContain(`x-request-id: ${json['request_id']}`);
  });

  test.each(['[::1', 'a b', '%', '../..'])('a Host header “%s” causes no internal error', async (host) => {
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n{"query":"{__typename}"}`,
    );
    expect((await nextResponse()).status).toBeLessThan(500);
  });

  test('accepts 10 KB of headers', async () => {
    socket.write(text('much ado', { headers: [filler(10_000)] }));
    expect(providedId(await nextResponse())).toBe('much ado');
  });
});

describe('a client that disconnects', () => {
  test.each([
    ['in the middle of the headers', () => 'GET /api/user HTTP/1.1\r\nHost: gat'],
    ['before the body', () => text('gone').split('\r\n\r\n')[0] ?? ''],
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
