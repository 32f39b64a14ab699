import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { isResponding, urlOf } from '../http/server.ts';

/** How many new connections the system keeps until they are accepted; it may have a lower limit of its own. */
const backlog = 4_096;

/** Where a server listens. */
interface Address {
  readonly host: string;
  readonly port: number;
}

/** A server that listens, and can be stopped without cutting off a request. */
export interface Listener {
  readonly url: string;
  /**
   * Stops listening and resolves when every connection is closed. A request that was received completely gets its response; of
   * several that are pipelined on a connection, the first. A connection without one, idle or still sending, is closed when
   * nothing was received on it for a second; every other connection after 30 seconds.
   */
  close(log: Logger): Promise<void>;
}

/** Starts listening. @throws Error that says what to change when the address cannot be bound. */
export async function listen(server: Server, { host, port }: Address): Promise<Listener> {
  /** The number of bytes that each connection had received at the last check. */
  const connections = new Map<Socket, number>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, 0);
    socket.once('close', () => connections.delete(socket));
  });
  // The socket that listens belongs to another server, because only that one's close() leaves idle connections open: a request
  // may be in transit on one.
  const owner = createServer();
  owner.listen({ port, host, backlog });
  try {
    await once(owner, 'listening');
  } catch (cause) {
    throw cannotListen(host, port, cause as NodeJS.ErrnoException);
  }
  server.listen(owner, backlog);
  await once(server, 'listening');
  return { url: urlOf(server), close: (log) => drain(server, owner, connections, log) };
}

/**
 * Makes sure that the address can be listened on, before a start changes anything.
 *
 * @throws Error that says what to change when it cannot.
 */
export async function requireFreeAddress({ host, port }: Address): Promise<void> {
  const problem = await tryListening(host, port);
  if (problem) throw cannotListen(host, port, problem);
}

/** Listens for a moment, and accepts nothing. @returns why it is impossible. */
export async function tryListening(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ host, port });
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

/** How long a connection without a complete request may stay silent once the listener is closed. */
const idleGraceMs = 1_000;

/** How long in-flight requests may take once the listener is closed. */
const drainTimeoutMs = 30_000;

/** Does what {@link Listener} promises of `close`. */
async function drain(server: Server, owner: NetServer, connections: Map<Socket, number>, log: Logger): Promise<void> {
  owner.close();
  for (const socket of connections.keys()) connections.set(socket, socket.bytesRead);
  const closeSilent = (): void => {
    for (const [socket, bytes] of connections) {
      if (isResponding(socket)) continue;
      if (socket.bytesRead === bytes) socket.destroy();
      connections.set(socket, socket.bytesRead);
    }
  };
  // After what has arrived was read, also where the process was held up.
  const silence = setInterval(() => setImmediate(closeSilent), idleGraceMs);
  const drainTimer = setTimeout(() => {
    log.warn(`closing connections whose requests took longer than ${drainTimeoutMs / 1_000} s`);
    server.closeAllConnections();
  }, drainTimeoutMs);
  // Not `once` of node:events, which rejects when a client resets its connection.
  const closed = [...connections.keys()].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  await Promise.all(closed);
  clearInterval(silence);
  clearTimeout(drainTimer);
  server.close();
}
