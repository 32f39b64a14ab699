import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
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
