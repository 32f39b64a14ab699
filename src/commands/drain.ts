import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { isResponding } from '../http/connection.ts';

/** How long a connection without a complete request may stay silent once the listener is closed. */
const idleGraceMs = 1_000;

/** How long in-flight requests may take once the listener is closed. */
const drainTimeoutMs = 30_000;

/** The open connections of a server, for graceful shutdown. */
export interface Connections {
  /**
   * Stops listening and resolves when every connection is closed. A request that was received completely gets its response; of
   * several that are pipelined on a connection, the first. A connection without one, idle or still sending, is closed when
   * nothing was received on it for a second; every other connection after 30 seconds.
   */
  close(log: Pick<Logger, 'warn'>): Promise<void>;
}

/** Tracks the connections of a server. Call it before the server listens. */
export function trackConnections(server: Server): Connections {
  /** The number of bytes that each connection had received at the last check. */
  const bytesSeen = new Map<Socket, number>();
  server.on('connection', (socket: Socket) => {
    bytesSeen.set(socket, 0);
    socket.once('close', () => bytesSeen.delete(socket));
  });

  function closeSilent(): void {
    for (const [socket, bytes] of bytesSeen) {
      if (isResponding(socket)) continue;
      if (socket.bytesRead === bytes) socket.destroy();
      bytesSeen.set(socket, socket.bytesRead);
    }
  }

  return {
    async close(log) {
      for (const socket of bytesSeen.keys()) bytesSeen.set(socket, socket.bytesRead);
      const silence = setInterval(closeSilent, idleGraceMs);
      const drainTimer = setTimeout(() => {
        log.warn(`closing connections whose requests took longer than ${drainTimeoutMs / 1_000} s`);
        server.closeAllConnections();
      }, drainTimeoutMs);
      const closed = once(server, 'close');
      // Not the HTTP server's own close(), which closes idle connections immediately: a request may be in transit on one.
      NetServer.prototype.close.call(server);
      await closed;
      clearInterval(silence);
      clearTimeout(drainTimer);
    },
  };
}
