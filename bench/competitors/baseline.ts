// The baseline: Node's HTTP server alone. It reads no body, and sends a constant response of the correct length.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WorkloadId, workloads } from '../load/workloads.ts';
import { announce } from './support/server.ts';

const body = Buffer.from(workloads[(process.env['WORKLOAD'] ?? 'gql-token') as WorkloadId].specimen);

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
