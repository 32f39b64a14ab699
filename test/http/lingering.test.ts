import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { maxHeldConnections, maxLingerBytesPerSecond, maxLingeringConnections } from '../../src/http/limits.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** The gateway's end of the connection that was accepted last. */
let accepted: Socket | undefined;
const onAccepted = (message: unknown) => {
  accepted = (message as { socket: Socket }).socket;
};
beforeAll(() => subscribe('net.server.socket', onAccepted));
afterAll(() => void unsubscribe('net.server.socket', onAccepted));

const head = (bytes: number) =>
  `POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;

test('a client that is still sending a rejected body gets the response, and the connection ends without a reset', async () => {
  const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', allowHalfOpen: true });
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  const ended = once(socket, 'end');
  socket.write(head(300_000));
  await ended;
  expect(text).toMatch(/^HTTP\/1\.1 413 .*PAYLOAD_TOO_LARGE/s);
  const closed = once(socket, 'close');
  // A gateway that has closed its side resets the connection at the first of these.
  for (let sent = 0; sent < 300_000; sent += 50_000) await new Promise((resolve) => socket.write('x'.repeat(50_000), resolve));
  socket.end();
  await closed;
  expect(errors).toEqual([]);
});

test('a client that sends far more than is discarded before it reads anything still gets the response', async () => {
  const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', allowHalfOpen: true });
  const errors: Error[] = [];
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('error', (error) => errors.push(error));
  socket.pause();
  socket.write(head(100_000_000));
  // A connection that the gateway has closed is reset by what comes then, and writing fails.
  for (let sent = 0; sent < 600_000 && !socket.destroyed; sent += 50_000) {
    await Promise.race([closed, new Promise((resolve) => socket.write('x'.repeat(50_000), resolve))]);
    await new Promise((resolve) => void setImmediate(resolve)); // the gateway, in this process, reads too
  }
  expect(errors).toEqual([]);
  const ended = once(socket, 'end');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  socket.resume();
  await ended;
  expect(text).toMatch(/^HTTP\/1\.1 413 .*PAYLOAD_TOO_LARGE/s);
  socket.destroy();
});

test('a client that keeps sending what was rejected is disconnected', async () => {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('error', () => {});
  socket.resume();
  socket.write(head(100_000_000));
  const send = () => {
    while (!socket.destroyed && socket.write('x'.repeat(50_000)));
  };
  socket.on('drain', send);
  send();
  await closed;
  expect(accepted?.bytesRead).toBeGreaterThan(100_000);
  expect(accepted?.bytesRead).toBeLessThan(1_000_000);
});

test('a client that keeps sending in tiny chunks is disconnected after few of them', async () => {
  const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', allowHalfOpen: true });
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('error', () => {});
  const ended = once(socket, 'end');
  socket.resume();
  const chunks = '1\r\n[\r\n'.repeat(1_000);
  socket.write('POST /graphql HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
  socket.write(chunks.repeat(5)); // more than a body may have
  await ended;
  while (!socket.closed) {
    await Promise.race([closed, new Promise((resolve) => socket.write(chunks, resolve))]);
    await new Promise((resolve) => void setImmediate(resolve)); // the gateway, in this process, reads too
  }
  // By bytes alone it could send 262,144 chunks.
  expect(accepted?.bytesRead).toBeGreaterThan(1_000);
  expect(accepted?.bytesRead).toBeLessThan(200_000);
});

test('when many clients keep sending what was rejected, most are not read further, and beyond a limit connections are closed at once', async () => {
  const count = 800;
  const bytesEach = 200_000;
  const clients = Array.from({ length: count }, () =>
    connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {}),
  );
  await Promise.all(clients.map((socket) => once(socket, 'connect')));

  const sockets: Socket[] = [];
  const closings: Promise<unknown>[] = [];
  let open = 0;
  let mostOpen = 0;
  const onResponse = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    sockets.push(socket);
    closings.push(new Promise((resolve) => socket.once('close', resolve)));
    // Once Node.js has ended the connection, or closed it.
    setImmediate(() => {
      if (socket.destroyed) return;
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      socket.once('close', () => {
        open -= 1;
      });
    });
  };
  subscribe('http.server.response.finish', onResponse);
  onTestFinished(() => void unsubscribe('http.server.response.finish', onResponse));
  let received = 0;
  /** Sends a rejected request and, after the response, its body. All do at once: a connection is held for two seconds only. */
  const sendRejected = async (socket: Socket) => {
    socket.once('data', () => {
      received += 1;
    });
    socket.write(head(bytesEach));
    await new Promise((resolve) => socket.on('end', resolve).on('close', resolve));
    socket.end('x'.repeat(bytesEach));
  };
  const startedMs = performance.now();
  await Promise.all(clients.map(sendRejected));
  await Promise.all(closings);
  const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
  expect(sockets).toHaveLength(count);
  expect(received).toBe(count);
  // All would be 160 MB. Of each, some may be read when it is held, or was before.
  const bytesRead = sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
  expect(bytesRead).toBeGreaterThan(1_000_000);
  expect(bytesRead).toBeLessThan((seconds + 1) * maxLingerBytesPerSecond + 64 * 65_536);
  expect(mostOpen).toBeGreaterThan(maxLingeringConnections);
  expect(mostOpen).toBeLessThanOrEqual(maxLingeringConnections + maxHeldConnections);
});
