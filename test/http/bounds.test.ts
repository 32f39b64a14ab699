import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectTo } from '../support/connect.ts';
import { sendRequest, startGateway, type TestGateway } from '../support/gateway.ts';
import { seedLargeGroups } from '../support/large-groups.ts';

let gateway: TestGateway;
let ids: string[];
beforeAll(async () => {
  gateway = await startGateway();
  ids = await seedLargeGroups(gateway);
});
afterAll(() => gateway.close());

/** A connection that reads nothing at first. */
async function open(): Promise<Socket> {
  const socket = connectTo(gateway);
  await once(socket, 'connect');
  socket.pause();
  return socket;
}

function text(method: string, path: string, body: unknown, headers: Record<string, string> = {}): string {
  const payload = JSON.stringify(body);
  const lines = Object.entries({
    Host: 'gateway',
    Authorization: `Token ${gateway.token}`,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(payload)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${payload}`;
}

/** All that comes until the other side ends or `isWhole` says that nothing more is due. */
async function readUntil(socket: Socket, isWhole: (text: string) => boolean): Promise<string> {
  const chunks: string[] = [];
  socket.setEncoding('latin1').resume();
  for await (const chunk of socket) {
    chunks.push(chunk);
    if (isWhole(chunks.length > 50 ? chunk : chunks.join(''))) break;
  }
  return chunks.join('');
}

/** About 6 MB: more than the buffers of the system take. */
const largeQuery = () => ({
  query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on UserGroup { properties } } }',
  variables: { ids },
});

const exists = async (providedId: string) => (await gateway.database.prisma.userGroup.count({ where: { providedId } })) > 0;

describe('requests that are pipelined on one connection', () => {
  test('are answered in order', async () => {
    const socket = await open();
    const names = Array.from({ length: 20 }, (_, index) => `pipelined ${index}`);
    socket.write(names.map((name) => text('GET', '/api/user', { user_group_id: name })).join(''));
    const responses = await readUntil(socket, (all) => all.includes('"provided_id":"pipelined 19"'));
    expect([...responses.matchAll(/"provided_id":"([^"]+)"/g)].map(([, name]) => name)).toEqual(names);
  });

  test('are not executed before the client has read the response to the one before', async () => {
    const socket = await open();
    socket.write(text('POST', '/graphql', largeQuery()) + text('GET', '/api/user', { user_group_id: 'behind a large response' }));
    // Others are served in the meantime, for many times as long as the next request would take.
    for (let i = 0; i < 50; i += 1)
      expect((await gateway.send('GET', '/api/user', { body: { user_group_id: 'other' } })).status).toBe(200);
    expect(await exists('behind a large response')).toBe(false);
    await readUntil(socket, (all) => all.includes('behind a large response'));
    expect(await exists('behind a large response')).toBe(true);
  });

  test('are served after a request with a body that comes in parts', async () => {
    const socket = await open();
    const second = text('GET', '/api/user', { user_group_id: 'in parts', properties: { long: 'x'.repeat(50_000) } });
    socket.write(text('GET', '/api/user', { user_group_id: 'first' }) + second.slice(0, 20_000));
    await gateway.send('GET', '/livez');
    socket.write(second.slice(20_000) + text('GET', '/api/user', { user_group_id: 'third' }));
    const responses = await readUntil(socket, (all) => all.includes('"provided_id":"third"'));
    expect([...responses.matchAll(/"provided_id":"([^"]+)"/g)].map(([, name]) => name)).toEqual(['first', 'in parts', 'third']);
  });

  test('close the connection when hundreds of them wait', async () => {
    const socket = await open();
    const closed = once(socket, 'close');
    socket.write(text('POST', '/graphql', largeQuery()) + 'GET /livez HTTP/1.1\r\nHost: g\r\n\r\n'.repeat(1_000));
    socket.resume();
    await closed;
    expect((await gateway.send('GET', '/livez')).status).toBe(200);
  });
});

describe('request bodies that do not end', () => {
  const unended = (headers: Record<string, string>) =>
    text('POST', '/graphql', 'x'.repeat(130_000), { 'Content-Length': '131000', ...headers });

  test('share a part of the memory for bodies without a credential, and the rest stays for others', async () => {
    const anonymous = await Promise.all(Array.from({ length: 150 }, () => open()));
    const statuses: Promise<string>[] = anonymous.map(async (socket) => {
      socket.write(unended({ Authorization: '' }).replace('Authorization: \r\n', ''));
      return (await readUntil(socket, (all) => all.includes('\r\n\r\n'))).slice(9, 12);
    });
    // Some of them do not fit, and are rejected at once; the others take their time.
    const refused = await Promise.race(statuses);
    expect(refused).toBe('503');
    const body = { user_group_id: 'x'.repeat(900_000) };
    expect((await gateway.send('GET', '/api/user', { body })).status).toBe(400);
    for (const socket of anonymous) socket.destroy();
    await Promise.allSettled(statuses);
  });
});

test('a body above 128 KiB without a credential is rejected before it is read', async () => {
  for (const header of ['Content-Length: 200000', 'Transfer-Encoding: chunked']) {
    const socket = await open();
    const part = header.startsWith('T') ? `30000\r\n${'['.repeat(0x30000)}\r\n` : '{';
    socket.write(`POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n${header}\r\n\r\n${part}`);
    expect(await readUntil(socket, (all) => all.includes('PAYLOAD_TOO_LARGE'))).toMatch(/^HTTP\/1.1 413 /);
  }
});

test('a request without a credential to a path that needs one is refused before its body is read', async () => {
  const socket = await open();
  socket.write('PUT /api/user HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{');
  expect(await readUntil(socket, (all) => all.includes('UNAUTHENTICATED'))).toMatch(/^HTTP\/1.1 401 /);
});

test.each([
  ['is too long', 'a/b;q=0,'.repeat(1_850), 400],
  ['names nothing that can be sent', 'text/plain', 406],
])('an Accept header that %s is refused with a short response', async (_, accept, status) => {
  for (const path of ['/graphql', '/graphql?query=%7B__typename%7D']) {
    const method = path === '/graphql' ? 'POST' : 'GET';
    const reply = await sendRequest(gateway.url, method, path, {
      token: gateway.token,
      headers: { accept },
      ...(method === 'POST' && { body: { query: '{ __typename }' } }),
    });
    expect([reply.status, reply.json.errors[0].extensions.code]).toEqual([status, 'INVALID_INPUT']);
    expect(JSON.stringify([...reply.headers]).length + reply.text.length).toBeLessThan(2_000);
  }
});
