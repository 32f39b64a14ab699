import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Connections } from '../../src/http/connections.ts';
import { httpLimits } from '../../src/http/limits.ts';
import { connectTo } from '../support/connect.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/process.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const { maxBodyParts } = httpLimits;

/** A body in chunks, with its end. */
const chunked = (parts: readonly string[]): string =>
  [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');

const head = 'POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

/** What the gateway sends until `pattern` has matched, or the connection ends. */
async function respond(text: string, pattern: RegExp): Promise<string> {
  const socket = connectTo(gateway);
  socket.setEncoding('latin1').write(text);
  let received = '';
  for await (const chunk of socket) {
    received += chunk;
    if (pattern.test(received)) break;
  }
  return received;
}

test('chunks of a request that waits are kept as few buffers, and arrive in their order', async () => {
  let waiting: IncomingMessage | undefined;
  let outgoing: ServerResponse | undefined;
  const connections = new Connections((...exchange) => {
    [waiting, outgoing] = exchange;
  }, httpLimits.maxPipelinedRequests);
  const server = createServer(connections.add).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const parts = Array.from({ length: 4_000 }, (_, index) => (index % 500 === 250 ? 'x'.repeat(2_000) : String(index % 10)));
  const text = parts.join('');
  socket.write(head + chunked(parts).slice(0, -'0\r\n\r\n'.length));
  await until(() => waiting?.readableLength === text.length, 'the chunks are received');
  socket.end('0\r\n\r\n');

  const buffers: Buffer[] = [];
  waiting?.on('data', (buffer: Buffer) => buffers.push(buffer));
  await once(waiting as IncomingMessage, 'end');
  expect(Buffer.concat(buffers).toString()).toBe(text);
  expect(buffers.length).toBeLessThan(100);
  outgoing?.end();
  server.close();
});

test(`a body of ${maxBodyParts} chunks is accepted, and one more is not`, async () => {
  const query = '{"query":"{ __typename }"}';
  const parts = [...query, ...Array<string>(maxBodyParts - query.length).fill(' ')];
  expect(await respond(head + chunked(parts), /__typename/)).toContain('{"data":{"__typename":"Query"}}');
  expect(await respond(head + chunked([...parts, ' ']), /PAYLOAD_TOO_LARGE/)).toMatch(/^HTTP\/1\.1 413 /);
});

test('after a body of too many chunks, bodies are read: those on the same connection, and on connections after it', async () => {
  const tooMany = head + chunked(Array<string>(3 * maxBodyParts).fill(' '));
  const next = head + chunked(['{"query":', '"{ __typename }"}']);
  const result = /"__typename":"Query"/;
  const refused = /^HTTP\/1\.1 (?:413|503) /; // the latter if too many were sent in a tenth of a second
  const both = await respond(tooMany + next, result);
  expect(both).toMatch(refused);
  expect(/connection: close/i.test(both) || result.test(both)).toBe(true);
  // Never ended: Node reuses the parser once the connection is closed.
  const unended = head + chunked(Array<string>(3 * maxBodyParts).fill(' ')).slice(0, -'0\r\n\r\n'.length);
  for (let round = 0; round < 5; round += 1) {
    expect(await respond(unended, /PAYLOAD_TOO_LARGE|UNAVAILABLE/)).toMatch(refused);
    expect(await respond(next, result)).toMatch(result);
  }
});

test('of bodies whose chunks come at once in very large numbers some are refused, and none of few chunks', async () => {
  const query = '{"query":"{ __typename }"}';
  const bodyOf = (count: number) => chunked([...query, ...Array<string>(count - query.length).fill(' ')]);
  const sockets = Array.from({ length: 60 }, () => connectTo(gateway));
  for (const socket of sockets) socket.write('GET /livez HTTP/1.1\r\nHost: gateway\r\n\r\n');
  await Promise.all(sockets.map((socket) => once(socket, 'data')));
  // All connections are accepted, and all bodies are sent before the gateway reads any.
  for (const [index, socket] of sockets.entries()) socket.write(head + bodyOf(index % 2 === 0 ? 4_000 : 60));
  const statuses = await Promise.all(sockets.map(async (socket) => String((await once(socket, 'data'))[0]).slice(9, 12)));
  const [many, few] = [0, 1].map((parity) => new Set(statuses.filter((_, index) => index % 2 === parity)));
  expect(few).toEqual(new Set(['200']));
  expect(many).toContain('503');
  const isAccepted = async () => (await respond(head + bodyOf(4_000), /\r\n\r\n/)).startsWith('HTTP/1.1 200 ');
  await until(isAccepted, 'such a body is accepted again');
});
