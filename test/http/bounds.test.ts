import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectTo } from '../support/connect.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
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
    if (isWhole(chunks.join(''))) break;
  }
  return chunks.join('');
}

const headOf = async (socket: Socket): Promise<string> =>
  (await readUntil(socket, (all) => all.includes('\r\n\r\n'))).toLowerCase();

describe('memory', () => {
  test('bodies that are being received have 64 MiB; a small body is read all the same', async () => {
    const unended = text('POST', '/graphql', 'x'.repeat(1_048_000), { 'Content-Length': '1048576' });
    const sockets = await Promise.all(Array.from({ length: 70 }, () => open()));
    for (const socket of sockets) socket.write(unended);
    const head = await Promise.race(sockets.map(headOf));
    expect(head).toMatch(/^http\/1\.1 503 .*retry-after: 1/s);
    expect((await gateway.send('GET', '/api/user', { body: { user_group_id: 'small' } })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    const body = { user_group_id: 'large', properties: { text: 'x'.repeat(60_000) } };
    await expect.poll(async () => (await gateway.send('GET', '/api/user', { body })).status).toBe(200);
  });

  test('responses that clients have not read have 32 MiB; a small one is sent all the same', async () => {
    // About 12 MB each: more than the buffers of the system take.
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on UserGroup { a: properties b: properties } } }';
    const send = () => gateway.graphql(query, { ids });
    const sockets = await Promise.all(Array.from({ length: 16 }, () => open()));
    for (const socket of sockets) socket.write(text('POST', '/graphql', { query, variables: { ids } }));
    let refused = await send();
    while (refused.status !== 503) refused = await send();
    expect([refused.json.errors[0].extensions.code, refused.headers.get('retry-after')]).toEqual(['UNAVAILABLE', '1']);
    expect((await gateway.graphql('{ caller { name } }')).json.data.caller.name).toBe('test');
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await send()).status).toBe(200);
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
