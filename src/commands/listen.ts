import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { Config } from '../config.ts';
import { urlOf } from '../http/server-url.ts';

/** How many new connections the system keeps until they are accepted; it may have a lower limit of its own. */
const backlog = 4_096;

/** Starts listening and resolves with the URL. @throws Error that says what to change when the address cannot be bound. */
export async function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<string> {
  server.listen({ port, host, backlog });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw cannotListen(host, port, cause as NodeJS.ErrnoException);
  }
  return urlOf(server);
}

/**
 * Makes sure that the address can be listened on, before a start changes anything.
 *
 * @throws Error that says what to change when it cannot.
 */
export async function requireFreeAddress({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const problem = await tryListening(host, port);
  if (problem) throw cannotListen(host, port, problem);
}

/** Listens for a moment, and accepts nothing. @returns why it is impossible. */
export async function tryListening(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  } finally {
    server.close();
  }
}

/** Without its cause, whose codes are those of a database that cannot be reached, too. */
const cannotListen = (host: string, port: number, problem: NodeJS.ErrnoException): Error =>
  new Error(`Cannot listen on ${host}:${port}: ${listenProblem(problem)}`);

/** Why a server cannot listen, and what to do about it. */
export function listenProblem({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'the address is in use. Stop the program that uses it, or set PORT to a free port.';
    case 'EACCES':
      return (
        'permission denied; ports below 1024 are usually reserved. Set PORT to 1024 or above and use a reverse ' +
        'proxy, or grant the process the capability CAP_NET_BIND_SERVICE.'
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'HOST is not an address of this machine. Set it to 127.0.0.1 (this machine only), 0.0.0.0 (every network) or one of its addresses.';
    default:
      return `${message}. Set HOST and PORT to a free address.`;
  }
}
