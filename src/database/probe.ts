import type { Socket } from 'node:net';
import pg from 'pg';
import { applicationNames } from './application-names.ts';
import type { DatabaseUrl } from './database-url.ts';
import { readCluster, requireRole } from './server-role.ts';

/** One of the servers of a URL with several hosts. */
export interface Server {
  readonly url: string;
  readonly host: string;
  readonly port: number;
}

/** A server that takes writes, with the connection that shows it. */
export interface Candidate {
  readonly server: Server;
  readonly client: pg.Client;
  /** The identifier of its cluster; nothing if the server does not say. */
  readonly cluster: string | undefined;
  /** Ends the connection without waiting: the server may not respond. */
  end(): void;
}

/** How long a server may take to say what it is. */
const responseTimeoutMs = 2_000;

/**
 * How many bytes a server may send until then, and how often they are counted: a host that is not a database could send any
 * number.
 */
const maxBytes = 1_048_576;
const countEveryMs = 20;

/** The settings of a URL that say what is asked, and how the sockets are opened. */
export interface ProbeOptions extends Pick<DatabaseUrl, 'target' | 'connectTimeoutMs'> {
  readonly openSocket: () => Socket;
}

/** Asks a server whether it takes writes. @throws Error that says why it is not used. */
export async function probe(server: Server, { target, connectTimeoutMs, openSocket }: ProbeOptions): Promise<Candidate> {
  const socket = openSocket();
  const client = new pg.Client({
    connectionString: server.url,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: responseTimeoutMs,
    keepAlive: true,
    application_name: applicationNames.failover,
    stream: () => socket,
  });
  client.on('error', () => {});
  const end = () => {
    client.end().catch(() => {});
    setTimeout(() => socket.destroy(), responseTimeoutMs).unref();
  };
  const counting = setInterval(() => {
    if (socket.bytesRead > maxBytes) socket.destroy(new Error('the host sends more than a PostgreSQL server does'));
  }, countEveryMs);
  try {
    await client.connect();
    await requireRole(client, target);
    return { server, client, cluster: await readCluster(client), end };
  } catch (error) {
    end();
    throw error;
  } finally {
    clearInterval(counting);
  }
}
