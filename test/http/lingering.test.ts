import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

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

test('a client that goes on sending what was rejected is disconnected', async () => {
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
  expect(socket.bytesWritten).toBeLessThan(50_000_000);
});

test('a client that goes on sending in tiny chunks is disconnected after few of them', async () => {
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
  expect(socket.bytesWritten).toBeLessThan(1_000_000);
});

test('when many clients go on sending, most are disconnected without reading the rest', async () => {
  const bytesEach = 200_000;
  /** Sends a rejected request and, after the response, its body. @returns whether the body was accepted without a reset. */
  const isReadToItsEnd = async () => {
    const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', allowHalfOpen: true });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    let isReset = false;
    socket.on('error', () => {
      isReset = true;
    });
    const ended = new Promise((resolve) => socket.on('end', resolve).on('close', resolve));
    socket.resume();
    socket.write(head(bytesEach));
    await ended;
    for (let sent = 0; sent < bytesEach && !isReset; sent += 50_000) {
      await Promise.race([closed, new Promise((resolve) => socket.write('x'.repeat(50_000), resolve))]);
    }
    socket.end();
    await closed;
    return !isReset;
  };
  const results: boolean[] = [];
  const sendMany = async () => {
    for (let i = 0; i < 40; i += 1) results.push(await isReadToItsEnd());
  };
  await Promise.all(Array.from({ length: 10 }, sendMany));
  const bytesRead = results.filter(Boolean).length * bytesEach;
  expect(bytesRead).toBeGreaterThan(0);
  // All would be 80 MB.
  expect(bytesRead).toBeLessThan(60_000_000);
});
