import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Connection } from '../client.ts';
import { applicationNames } from '../database-url.ts';
import { connectionFailure, withCode } from '../errors.ts';
import { type Binaries, findBinaries, importPrograms } from './binaries.ts';
import { createCluster, startServer, stopServer, superuser } from './cluster.ts';
import { copiesFolder, type Layout, layOut } from './layout.ts';
import { passwordFile, passwordRemedy, requirePassword } from './password.ts';
import { runningPostmaster } from './server-lock.ts';

/** How long a server may take to start, including crash recovery. */
const startTimeoutMs = 120_000;

/**
 * Complete, because `pg` takes omitted settings from environment variables that are meant for other clients (PGSSLMODE,
 * PGOPTIONS).
 */
const connectionDefaults = { host: '127.0.0.1', ssl: false, options: '-c search_path=public' };

/** How to connect to a database of an embedded server. */
export function embeddedConnection(port: number | undefined, password: string, database: string): Connection {
  return { ...connectionDefaults, ...(port !== undefined && { port }), user: superuser, password, database };
}

/** A running PostgreSQL in `DATA_DIR`, shared by every process that opened it. */
export interface EmbeddedPostgres {
  /** How to connect to one of its databases; `port` is updated if the server restarts on another port. */
  connection(database: string): Connection;
  /** Releases the server. The last process to release it stops it. */
  close(): Promise<void>;
}

/** Options of {@link openEmbedded}. */
export interface EmbeddedOptions {
  /** Server settings such as `fsync=off`, for disposable clusters. */
  readonly settings?: string[];
  /** Ends the wait for the server. */
  readonly signal?: AbortSignal | undefined;
  /** Receives messages for the operator: the connection was lost, the server is running again. */
  readonly onEvent?: ((message: string) => void) | undefined;
}

/**
 * Opens the embedded PostgreSQL of a data directory. Creates the data directory if it does not exist, uses the server if it is
 * already running (another process uses it, or crashed and left it running), and starts it otherwise. While open, the server
 * is restarted whenever it exits.
 *
 * @throws Error with a message for the operator when the server cannot be started or reached.
 * @throws the reason of the signal, if it is aborted before that.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedPostgres> {
  const { signal } = options;
  const opened = await open(dataDir, options).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  if (signal?.aborted) await opened.close();
  signal?.throwIfAborted();
  return opened;
}

async function open(dataDir: string, options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  await importPrograms(); // before a folder is created for nothing
  const layout = layOut(dataDir);
  const binaries = await findBinaries(layout.user, copiesFolder(layout));
  await createCluster(layout, binaries);
  const { settings = [], signal } = options;
  const access: Access = { layout, binaries, password: requirePassword(layout, binaries), settings };

  const name = applicationNames.presencePrefix + randomUUID();
  const connections: Connection[] = [];
  let closing = false;
  let recovery: Promise<void> | undefined;
  let sentinel = await acquire({ signal });

  /**
   * Opens a connection that stays open, so that a crash of the server is noticed immediately and other processes see this one.
   */
  async function acquire(start: StartOptions): Promise<pg.Client> {
    const client = await connectOrStart(access, name, start);
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
        const client = await acquire({ port });
        sentinel = client;
        for (const connection of connections) connection.port = client.port;
        options.onEvent?.('the embedded PostgreSQL is running again');
        return;
      } catch (error) {
        options.onEvent?.(`the embedded PostgreSQL could not be restarted yet: ${(error as Error).message}`);
        await sleep(delayMs, undefined, { ref: false });
      }
    }
  }

  /** Releases the server if it runs, and stops it if this process was the last one. */
  async function releaseRunning(): Promise<void> {
    for (const deadline = Date.now() + startTimeoutMs; runningPostmaster(layout) && Date.now() < deadline; ) {
      const isLast = await release(sentinel).catch(() => undefined);
      try {
        // Before the lock is released, for which others wait.
        if (isLast) await stopServer(layout, binaries);
      } finally {
        await sentinel.end().catch(() => {});
      }
      if (isLast !== undefined) return;
      // When one of its processes crashes, the server closes every connection and continues. Other users reconnect as well.
      await sleep(reconnectMs);
      sentinel = await connect(access, runningPostmaster(layout)?.port ?? sentinel.port, name).catch(() => sentinel);
    }
  }

  return {
    connection(database) {
      const connection = embeddedConnection(sentinel.port, access.password, database);
      connections.push(connection);
      return connection;
    },
    async close() {
      closing = true;
      await recovery; // may be starting a server
      await releaseRunning();
    },
  };
}

/** How long the processes that use a server have to connect again after it has ended all connections. */
const reconnectMs = 1_000;

/** The key of the advisory lock that serializes releases. A process that comes waits for one that stops the server. */
const releaseLock = 727_073;

/**
 * Ends this process's registration as a user of the server. The lock is held until the connection or the server is closed.
 *
 * @returns whether this process was the last one.
 * @throws Error when the connection is lost.
 */
async function release(sentinel: pg.Client): Promise<boolean> {
  await sentinel.query('select pg_advisory_lock($1)', [releaseLock]);
  await sentinel.query("set application_name = ''");
  const others = await sentinel.query(
    `select from pg_stat_activity where application_name like '${applicationNames.presencePrefix}%'`,
  );
  return others.rowCount === 0;
}

/** What is needed to connect to the server of a data directory, or to start it. */
interface Access {
  readonly layout: Layout;
  readonly binaries: Binaries;
  /** The superuser's password, read once: later changes to the file do not affect a running process. */
  readonly password: string;
  readonly settings: string[];
}

/** How a server is started. */
interface StartOptions {
  /** The port that it had before. */
  readonly port?: number;
  /** Ends the wait for it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects to the running server, or starts it.
 *
 * @throws Error when that fails; a server that this call started is stopped again.
 */
async function connectOrStart(access: Access, applicationName: string, start: StartOptions): Promise<pg.Client> {
  const { layout, binaries, settings } = access;
  const deadline = Date.now() + startTimeoutMs;
  let started = false;
  for (let { port } = start; ; ) {
    const running = runningPostmaster(layout);
    try {
      if (running) return await connect(access, running.port, applicationName);
      await startServer(layout, binaries, settings, port);
      started = true;
    } catch (error) {
      // Starting up, shutting down, recovering, or another process started it first: try again. Anything else is final.
      if (
        start.signal?.aborted ||
        Date.now() > deadline ||
        !(isTransient(error) || (!running && (runningPostmaster(layout) || port)))
      ) {
        if (started) await stopServer(layout, binaries);
        if (isPasswordRejected(error)) throw wrongPassword(layout, binaries, error);
        if (!(error instanceof pg.DatabaseError)) throw error;
        const text = `The embedded PostgreSQL cannot be used: ${error.message}. Run the command doctor.`;
        throw new Error(text, { cause: error });
      }
      if (!running) port = undefined; // another program may use it now
      await sleep(50);
    }
  }
}

/** Connects, after which no other process stops the server. @throws Error also if one is stopping it. */
async function connect({ password }: Access, port: number, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...embeddedConnection(port, password, 'postgres'),
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    keepAlive: true,
  });
  client.on('error', () => {});
  try {
    await withCode(client.connect());
    await withCode(client.query('select pg_advisory_lock_shared($1), pg_advisory_unlock_shared($1)', [releaseLock]));
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Whether the server rejected the password of a connection, whose errors have codes. */
export const isPasswordRejected = (error: unknown): boolean =>
  ['28P01', '28000'].includes((error as { code?: string }).code ?? '');

function wrongPassword(layout: Layout, binaries: Binaries, cause: unknown): Error {
  return new Error(
    `The embedded PostgreSQL does not accept the password in ${passwordFile(layout)}. ${passwordRemedy(layout, binaries)}`,
    { cause },
  );
}

/** Whether a connection, whose errors have codes, failed because the server is starting, stopping or slow. */
export function isTransient(error: unknown): boolean {
  const { code } = error as { code?: string };
  return ['57P03', '57P01', connectionFailure, 'ECONNREFUSED', 'ECONNRESET'].includes(code ?? '');
}
