import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from '../../src/http/connections.ts';

test('no more pipelined requests of a connection are parsed than may wait', async () => {
  const maxWaiting = 8;
  const connections = new Connections(() => {}, maxWaiting); // which never responds
  const server = createServer(connections.add);
  let requests = 0;
  server.on('request', () => {
    requests += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {}); // the reset
  socket.write('GET /livez HTTP/1.1\r\nHost: g\r\n\r\n'.repeat(1_000)); // which the server reads as one chunk
  await once(socket, 'close');
  server.close();
  await once(server, 'close'); // then every connection is
  expect(requests).toBe(maxWaiting + 2); // one is executed, and one is too many
});

/** Starts a server that does not respond before `release`. */
async function startHolding(maxWaiting: number) {
  const responses: ServerResponse[] = [];
  let isReleased = false;
  const connections = new Connections((_incoming, outgoing) => {
    if (isReleased) outgoing.end();
    else responses.push(outgoing);
  }, maxWaiting);
  const server = createServer(connections.add).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const release = () => {
    isReleased = true;
    for (const response of responses) response.end();
  };
  return { server, port, release };
}

const head = 'POST /livez HTTP/1.1\r\nHost: g\r\n';
test.each([
  ['without a body', `${head}\r\n`],
  ['with a body', `${head}Content-Length: 1\r\n\r\nx`],
  ['with a body in chunks', `${head}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`],
])('while requests %s wait on a connection, no more are read from it', async (_, request) => {
  const { server, port, release } = await startHolding(8);
  const read = new Map<number | undefined, number>();
  server.on('request', ({ socket }) => void read.set(socket.remotePort, (read.get(socket.remotePort) ?? 0) + 1));
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const send = (count: number) => new Promise((resolve) => socket.write(request.repeat(count), resolve));
  await send(6);
  await expect.poll(() => read.get(socket.localPort)).toBe(6);
  await send(6); // with them, more would wait than may
  const other = connect(port, '127.0.0.1');
  other.write(request);
  await expect.poll(() => read.get(other.localPort)).toBe(1); // so the server had time to read them
  expect(read.get(socket.localPort)).toBe(6);

  release();
  await expect.poll(() => read.get(socket.localPort)).toBe(12);
  for (const each of [socket, other]) each.destroy();
  server.close();
});

test('of large requests that wait on a connection, no more than a chunk or two are read', async () => {
  const { server, port, release } = await startHolding(64);
  const received: Socket[] = [];
  server.on('request', ({ socket }) => received.push(socket));
  const socket = connect(port, '127.0.0.1');
  socket.write(`${head}Content-Length: 15000\r\n\r\n${'x'.repeat(15_000)}`.repeat(60));
  await expect.poll(() => received.length).toBeGreaterThan(1);
  // Until the server has handled all of these, it has time to read more.
  for (let count = 0; count < 10; count += 1) {
    const other = connect(port, '127.0.0.1');
    other.write(`${head}\r\n`);
    await expect.poll(() => received.filter((each) => each.remotePort === other.localPort)).toHaveLength(1);
    other.destroy();
  }
  expect(received[0]?.bytesRead).toBeLessThanOrEqual(4 * 65_536);

  release();
  await expect.poll(() => received.filter((each) => each === received[0])).toHaveLength(60);
  socket.destroy();
  server.close();
});
