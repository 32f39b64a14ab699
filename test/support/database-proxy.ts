import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

/** A way to a PostgreSQL server that can fail as networks and servers do. */
export interface DatabaseProxy {
  /** The database by way of the proxy. */
  readonly url: string;
  /** Ends every connection, and refuses others until the proxy is restored. */
  cut(): void;
  restore(): Promise<void>;
  /** Leads to another server from now on, and ends every connection to the old one. */
  moveTo(databaseUrl: string): void;
  /** Ends the connection that sends something next, after `skipped` other times. */
  endNext(how: 'close' | 'reset', skipped?: number): void;
}

/** Starts a proxy in front of the server of a database. {@link DatabaseProxy.cut} ends it. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  let upstream = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let ending: 'close' | 'reset' | undefined;
  let toSkip = 0;
  const server = createServer((client) => {
    const database = connect(Number(upstream.port), upstream.hostname);
    client.on('data', () => {
      if (toSkip > 0) {
        toSkip -= 1;
        return;
      }
      if (ending === 'close') client.destroy();
      if (ending === 'reset') client.resetAndDestroy();
      ending = undefined;
    });
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (bytes) => from.destroyed || to.write(bytes));
      from.on('close', () => sockets.delete(from) && to.end());
    }
  });
  const port = await freePort(); // still free when the proxy is restored
  const restore = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await restore();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    restore,
    moveTo(next) {
      upstream = new URL(next);
      for (const socket of sockets) socket.destroy();
    },
    endNext(how, skipped = 0) {
      ending = how;
      toSkip = skipped;
    },
  };
}
