import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { probe } from '../../src/database/probe.ts';

test('a host that sends without end, as no database server does, is cut off', async () => {
  const chunk = Buffer.alloc(65_536, 'S'); // the beginning of a message of more than 1 GiB
  const server = createServer((socket) => {
    const send = () => {
      while (socket.write(chunk));
    };
    socket.on('drain', send).on('error', () => {});
    send();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = new Socket();
  const asked = probe(
    { url: `postgresql://user@127.0.0.1:${port}/database`, host: '127.0.0.1', port },
    { target: 'read-write', connectTimeoutMs: 20_000, openSocket: () => socket },
  );
  await expect(asked).rejects.toThrow('the host sends more than a PostgreSQL server does');
  expect(socket.destroyed).toBe(true);
});
