import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Connection } from '../client.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { createCluster, startServer, stopServer, superuser } from './cluster.ts';
import { copiesFolder, type Layout, layOut } from './layout.ts';
import { passwordAdvice, passwordFile, requirePassword } from './password.ts';
import { runningPostmaster } from './server-lock.ts';

/** How long a server may take to come up, recovery after a crash included. */
const startTimeoutMs = 120_000;

/** What tells the gateway's own connections from others in `pg_stat_activity`: each process adds a name of its own. */
const presencePrefix = 'user-group-gateway-presence-';

/** Said in full, because `pg` takes what is left out from the environment's settings for other clients (PGSSLMODE, PGOPTIONS). */
const ownTerms = { host: '127.0.0.1', ssl: false, options: '-c search_path=public' };

/** A running PostgreSQL in `DATA_DIR`, shared by every process that opened it. */
export interface EmbeddedPostgres {
  /** How to connect to a database of it; `port` follows the server if it had to move. */
  connection(database: string): Connection;
  /** Lets go of it: the last process to do so stops the server. */
  close(): Promise<void>;
}

/** What {@link openEmbedded} may be told. */
export interface EmbeddedOptions {
  /** Server settings such as `fsync=off`, for throw-away clusters. */
  readonly settings?: string[];
  /** Hears what an operator should know: that the server was lost and came back. */
  readonly onEvent?: (message: string) => void;
}

/**
 * Opens the embedded PostgreSQL of a data directory: makes it if it is not there, adopts it if it runs (another process
 * uses it, or one died and left it), starts it otherwise. While it is open it is restarted when it dies.
 *
 * @throws Error with a text for the operator when it cannot be had.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedPostgres> {
  const layout = layOut(dataDir);
  const binaries = findBinaries(layout.user, copiesFolder(layout));
  await createCluster(layout, binaries);
  const access: Access = { layout, binaries, password: requirePassword(layout, binaries), settings: options.settings ?? [] };

  const name = presencePrefix + randomUUID();
  const connections: Connection[] = [];
  let closing = false;
  let recovery: Promise<void> | undefined;
  let presence = await attend();

  /** Connects once and stays, so that the loss of the server is noticed at once and other processes see this one. */
  async function attend(port?: number): Promise<pg.Client> {
    const client = await connectOrStart(access, name, port);
    client.on('error', () => {}); // followed by 'end'
    client.once('end', () => {
      if (!closing) recovery = recover(client.port);
    });
    return client;
  }

  async function recover(port: number): Promise<void> {
    options.onEvent?.('lost the connection to the embedded PostgreSQL; restarting it');
    for (let delayMs = 100; !closing; delayMs = Math.min(delayMs * 2, 5_000)) {
      try {
        const client = await attend(port);
        presence = client;
        for (const connection of connections) connection.port = client.port;
        options.onEvent?.('the embedded PostgreSQL is running again');
        return;
      } catch (error) {
        options.onEvent?.(`the embedded PostgreSQL could not be restarted yet: ${(error as Error).message}`);
        await sleep(delayMs, undefined, { ref: false });
      }
    }
  }

  return {
    connection(database) {
      const { port } = presence;
      const connection = { ...ownTerms, port, user: superuser, password: access.password, database };
      connections.push(connection);
      return connection;
    },
    async close() {
      closing = true;
      await recovery; // which may be starting a server at this moment
      const last = await leave(presence);
      await presence.end().catch(() => {});
      if (last) await stopServer(layout, binaries);
    },
  };
}

/** Makes processes that leave at once do so one after another, as a number for an advisory lock. */
const leavingLock = 727_073;

/**
 * Takes a process off the list of those that use the server, and tells whether it was the last. The lock that is held from
 * then on ends with the connection, or with the server.
 */
async function leave(presence: pg.Client): Promise<boolean> {
  try {
    await presence.query('select pg_advisory_lock($1)', [leavingLock]);
    await presence.query("set application_name = ''");
    const others = await presence.query(`select from pg_stat_activity where application_name like '${presencePrefix}%'`);
    return others.rowCount === 0;
  } catch {
    return true; // the server is gone, or on its way: stopping it once more does no harm
  }
}

/** What it takes to get to the server of a data directory, or to start it. */
interface Access {
  readonly layout: Layout;
  readonly binaries: Binaries;
  /** The superuser's, read once: what becomes of its file does not matter to a process that runs. */
  readonly password: string;
  readonly settings: string[];
}

/** @throws Error when there is no way to connect; a server that was started for it is stopped again. */
async function connectOrStart(access: Access, applicationName: string, preferredPort?: number): Promise<pg.Client> {
  const { layout, binaries, settings } = access;
  const deadline = Date.now() + startTimeoutMs;
  let started = false;
  for (let port = preferredPort; ; ) {
    const running = runningPostmaster(layout);
    try {
      if (running) return await connect(access, running.port, applicationName);
      await startServer(layout, binaries, settings, port);
      started = true;
    } catch (error) {
      // Starting up, shutting down, recovering, or another process was faster: look again. Anything else is final.
      if (Date.now() > deadline || !(passing(error) || (!running && (runningPostmaster(layout) || port)))) {
        if (started) await stopServer(layout, binaries);
        throw isRefused(error) ? wrongPassword(layout, binaries, error) : error;
      }
      if (!running) port = undefined; // perhaps taken by another program since
      await sleep(50);
    }
  }
}

async function connect({ password }: Access, port: number, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...{ ...ownTerms, port, user: superuser, password, database: 'postgres' },
    ...{ application_name: applicationName, connectionTimeoutMillis: 10_000, query_timeout: 10_000, keepAlive: true },
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Whether the server refused the password. */
const isRefused = (error: unknown): boolean => ['28P01', '28000'].includes((error as { code?: string }).code ?? '');

function wrongPassword(layout: Layout, binaries: Binaries, cause: unknown): Error {
  return new Error(
    `The embedded PostgreSQL does not accept the password in ${passwordFile(layout)}. ${passwordAdvice(layout, binaries)}`,
    { cause },
  );
}

/** Whether a failed connection says that the server is on its way up or down. */
function passing(error: unknown): boolean {
  const { code } = error as { code?: string };
  return ['57P03', '57P01', 'ECONNREFUSED', 'ECONNRESET'].includes(code ?? '') || /terminated/.test(String(error));
}
