import type { Socket } from 'node:net';
import pg from 'pg';
import { applicationNames, type DatabaseUrl, type TargetSession } from './database-url.ts';

/** SQLSTATE of a write that a read-only server refuses. */
export const readOnlyState = '25006';

/**
 * What a server is at the moment, asked of the server itself: through a pooler, its reported parameters may be those of another.
 */
const roleText = `select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

interface Role {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

/**
 * Makes sure that a connection leads to a server of the requested role.
 *
 * @throws Error with the SQLSTATE of a read-only server, so that it counts as an unavailable database.
 */
export async function requireRole(client: pg.ClientBase, target: TargetSession): Promise<void> {
  const { rows } = await client.query<Role>(roleText);
  const [role] = rows;
  if (role && !role.isStandby && !(target === 'read-write' && role.isReadOnly)) return;
  const reason = role?.isStandby ? 'is a standby' : 'takes no writes (default_transaction_read_only is on)';
  throw Object.assign(new Error(`the server ${reason}`), { code: readOnlyState });
}

/**
 * The name of the segment of the log that a primary writes. Names are ever-increasing, and begin with the timeline: of several
 * servers that take writes, the one promoted last has the greatest.
 */
export async function readSegment(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ segment: string }>('select pg_walfile_name(pg_current_wal_lsn()) as segment');
  return rows[0]?.segment ?? '';
}

/**
 * The identifier of a server's cluster, which all servers have that were copied from the same one; nothing if the server does not
 * say: the role may lack the privilege.
 */
async function readCluster(client: pg.ClientBase): Promise<string | undefined> {
  const statement = 'select system_identifier::text as cluster from pg_control_system()';
  try {
    const { rows } = await client.query<{ cluster: string }>(statement);
    return rows[0]?.cluster;
  } catch (error) {
    // Only what the server itself says: another failure is that of the connection.
    if (/^(42|0A)/.test(String((error as { code?: unknown }).code))) return undefined;
    throw error;
  }
}

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
  try {
    await client.connect();
    await requireRole(client, target);
    return { server, client, cluster: await readCluster(client), end };
  } catch (error) {
    end();
    throw error;
  }
}
