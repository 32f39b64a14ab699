import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../config.ts';

/** How many new connections the system keeps until they are accepted; it may have a lower limit of its own. */
const backlog = 4_096;

/** Listens, and answers with the URL. @throws Error with what to change when the address cannot be had. */
export async function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<string> {
  server.listen({ port, host, backlog });
  try {
    await once(server, 'listening');
  } catch (cause) {
    // Without its cause, whose codes are those of a database that cannot be reached, too.
    throw new Error(`Cannot listen on ${host}:${port}: ${listenProblem(cause as NodeJS.ErrnoException)}`);
  }
  return urlOf(server.address() as AddressInfo);
}

/** What keeps a server from listening, and what to do, in words. */
export function listenProblem({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'another program listens there already. Stop it, or set PORT to a port that is free.';
    case 'EACCES':
      return (
        'this user may not use that port; those below 1024 are usually reserved. Set PORT to 1024 or above and let a proxy pass ' +
        'requests on, or grant the process the capability CAP_NET_BIND_SERVICE.'
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'HOST is no address of this machine. Set it to 127.0.0.1 (this machine only), 0.0.0.0 (every network) or one of its addresses.';
    default:
      return `${message}. Set HOST and PORT to an address that is free.`;
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = ['0.0.0.0', '::'].includes(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
