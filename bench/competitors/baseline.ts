// The baseline: Node's HTTP server alone. It reads no body, and sends a constant response, as long as a correct one.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './support/server.ts';

const body = Buffer.from(process.env['RESPONSE'] ?? '');

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
