import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A delivery as it arrived. */
export interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An endpoint on a real socket. */
export interface Receiver {
  /** `http://ADDRESS:PORT`. */
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** How many connections were made. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** Starts an endpoint. @param respond writes the response to each delivery, after it has arrived; by default 204. */
export async function startReceiver(
  respond: (response: ServerResponse, delivery: Received, number: number) => void = (response) =>
    void response.writeHead(204).end(),
  address = '127.0.0.1',
  port = 0,
): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url: path, headers } = request;
    const delivery = { method, path, headers, body: Buffer.concat(chunks).toString() };
    received.push(delivery);
    respond(response, delivery, received.length);
  };
  const server = createServer((request, response) => void listener(request, response));
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(port, address);
  await once(server, 'listening');
  const actual = (server.address() as AddressInfo).port;
  return {
    url: `http://${address}:${actual}`,
    port: actual,
    received,
    connections: () => connections,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
