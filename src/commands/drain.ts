import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Logger } from 'pino';

/** How long a connection without a complete request may stay silent once the listener is closed. */
const idleGraceMs = 1_000;

/** How long requests may take to be answered once the listener is closed. */
const drainTimeoutMs = 30_000;

/** The open connections of a server, for its orderly end. */
export interface Connections {
  /**
   * Stops listening and resolves when every connection is closed. A request that has arrived whole is answered. A connection
   * without one, be it idle or in the middle of sending, is cut off when nothing arrived on it for a second; everything that
   * is left, after 30 seconds.
   */
  close(log: Pick<Logger, 'warn'>): Promise<void>;
}

interface Connection {
  /** What was asked on it and is not answered: more than one where requests are pipelined. */
  readonly exchanges: Set<Exchange>;
  /** How many bytes had arrived when it was last looked at. */
  bytesSeen: number;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Begins to keep track of a server's connections; before it listens. */
export function trackConnections(server: Server): Connections {
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { exchanges: new Set(), bytesSeen: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (incoming, outgoing) => {
    const exchanges = connections.get(incoming.socket)?.exchanges;
    const exchange = { incoming, outgoing };
    exchanges?.add(exchange);
    outgoing.once('close', () => exchanges?.delete(exchange));
  });

  function cutSilent(): void {
    for (const [socket, connection] of connections) {
      if ([...connection.exchanges].some(isBeingAnswered)) continue;
      if (socket.bytesRead === connection.bytesSeen) socket.destroy();
      connection.bytesSeen = socket.bytesRead;
    }
  }

  return {
    async close(log) {
      for (const [socket, connection] of connections) connection.bytesSeen = socket.bytesRead;
      const silence = setInterval(cutSilent, idleGraceMs);
      const late = setTimeout(() => {
        log.warn(`closing connections whose requests took longer than ${drainTimeoutMs / 1_000} s`);
        server.closeAllConnections();
      }, drainTimeoutMs);
      const closed = once(server, 'close');
      // Not the HTTP server's own close(), which drops idle connections at once: a request may be on its way on one.
      NetServer.prototype.close.call(server);
      await closed;
      clearInterval(silence);
      clearTimeout(late);
    },
  };
}

/** Whether the request has arrived whole, or its response has begun, as that of one which is refused early. */
const isBeingAnswered = ({ incoming, outgoing }: Exchange): boolean => incoming.complete || outgoing.headersSent;
