import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A proxy in front of PostgreSQL that can hold back the response to a COMMIT, or reset the connection instead: its client does
 * not know what happened.
 */
export interface CommitProxy {
  /** The database by way of the proxy. */
  readonly url: string;
  /**
   * From now on, the next connection that sends COMMIT gets nothing more from the server.
   *
   * @returns a promise that resolves once the server has responded to it: the transaction is committed.
   */
  holdNextCommit(): Promise<void>;
  /** From now on, the next connection that sends COMMIT is reset, as by a server or pooler that is killed. */
  resetNextCommit(): void;
  /** Ends the proxy and its connections. */
  close(): Promise<void>;
}

/** Starts a proxy on a free port. Each drill that kills a client between COMMIT and response takes one. */
export async function startCommitProxy(databaseUrl: string): Promise<CommitProxy> {
  const upstream = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let onCommitted: (() => void) | undefined;
  let resets = false;

  const server = createServer((client) => {
    // The bundled PostgreSQL has a socket.
    const folder = upstream.searchParams.get('host');
    const database = folder ? connect(`${folder}/.s.PGSQL.${upstream.port}`) : connect(Number(upstream.port), upstream.hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    /** What to do when the server responds to the COMMIT of this connection. */
    let held: (() => void) | undefined;
    client.on('data', (bytes) => {
      const commits = /commit\0/i.test(bytes.toString('latin1')); // a statement that ends so
      if (commits && resets) {
        resets = false;
        client.resetAndDestroy();
        return;
      }
      if (commits && onCommitted) {
        held = onCommitted;
        onCommitted = undefined;
      }
      database.write(bytes);
    });
    database.on('data', (bytes) => {
      if (held) held();
      else client.write(bytes);
    });
    client.on('close', () => database.end());
    database.on('close', () => client.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    holdNextCommit: () =>
      new Promise((resolve) => {
        onCommitted = resolve;
      }),
    resetNextCommit() {
      resets = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
