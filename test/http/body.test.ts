import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { readBody } from '../../src/http/body.ts';

test('the chunks that a body was received in are not kept while its request waits', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = request({ port: (server.address() as AddressInfo).port, method: 'POST' });
  const chunks: WeakRef<Buffer>[] = [];
  const received = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  client.end(Buffer.alloc(1_000_000, 'x'));
  const [incoming, outgoing] = await received;
  incoming.on('data', (chunk: Buffer) => chunks.push(new WeakRef(chunk)));
  const body = await readBody(incoming);
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  await nextTurn(); // until then a WeakRef keeps what it was made for
  collectGarbage();
  expect(chunks.length).toBeGreaterThan(5);
  expect(chunks.filter((chunk) => chunk.deref() !== undefined)).toHaveLength(0);
  expect([incoming.complete, body.length]).toEqual([true, 1_000_000]); // both are still in use
  outgoing.end();
  await once(client, 'response');
  server.close();
});
