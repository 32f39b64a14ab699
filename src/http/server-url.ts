import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The URL of a server that listens; `localhost` for one that listens on every address. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const host = ['0.0.0.0', '::'].includes(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
