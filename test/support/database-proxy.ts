import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

/** A way to a PostgreSQL server that can fail as networks and servers do. */
export interface DatabaseProxy {
  /** The database by way of the proxy, and `HOST:PORT`. */
  readonly url: string;
  readonly address: string;
  /** How many connections there have been. */
  accepted(): number;
  /** Ends every connection, and refuses others until the proxy is restored. */
  cut(): void;
  restore(): Promise<void>;
  /** Forwards nothing from now on, and leaves connections open, as a network that loses every packet. */
  freeze(): void;
  /** Ends the connection that sends something next, after `skipped` other times. */
  endNext(how: 'close' | 'reset', skipped?: number): void;
}

/** Starts a proxy in front of the server of a database. {@link DatabaseProxy.cut} ends it. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const upstream = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let accepted = 0;
  let isFrozen = false;
  let ending: 'close' | 'reset' | undefined;
  let toSkip = 0;
  const server = createServer((client) => {
    accepted += 1;
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
      from.on('data', (bytes) => isFrozen || from.destroyed || to.write(bytes));
      from.on('close', () => sockets.delete(from) && !isFrozen && to.end());
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
    address: url.host,
    accepted: () => accepted,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    restore,
    freeze() {
      isFrozen = true;
    },
    endNext(how, skipped = 0) {
      ending = how;
      toSkip = skipped;
    },
  };
}
