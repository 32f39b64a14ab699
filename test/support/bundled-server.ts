import { appendFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type Bundled, clusterOf, findServer, openBundled, startServer, stopServer } from '../../src/database/bundled.ts';
import { DataFolder } from './data-folder.ts';
import { copyFolder, makeDatabaseFolder } from './database-folder.ts';
import { freePort } from './free-port.ts';
import { until } from './process.ts';
import { descendants, isAlive } from './processes.ts';

/** A bundled PostgreSQL that no gateway supervises, as one of several servers. */
export interface BundledServer {
  readonly port: number;
  /** The first process, by its lock file. */
  pid(): number | undefined;
  /** The user with the password as a URL has them, and the URL of the gateway's database. */
  readonly user: string;
  readonly url: string;
  /** Starts it again, on the same port, as what it was: a primary or a standby. Waits until it accepts connections. */
  start(): Promise<void>;
  /** Sends a signal to its first process, and waits until it and all below it have ended; `SIGQUIT` ends it as a crash does. */
  end(signal: 'SIGKILL' | 'SIGQUIT' | 'SIGINT'): Promise<void>;
  /** Makes a standby the primary. */
  promote(): Promise<void>;
  /** Runs a statement as the superuser in the gateway's database. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Ends it and deletes its folder. */
  remove(): Promise<void>;
}

/**
 * Starts a primary and a hot standby that follows it synchronously: a write is acknowledged once both have it.
 *
 * @param createdDataDir a `DATA_DIR` as the first start leaves it, stopped; both are copies of it.
 */
export async function startPair(
  createdDataDir: string,
): Promise<{ readonly primary: BundledServer; readonly standby: BundledServer }> {
  const primary = await startCopy(createdDataDir, () => {});
  try {
    const standby = await startCopy(createdDataDir, (cluster) => {
      writeFileSync(join(cluster, 'standby.signal'), '');
      const [user, password] = primary.user.split(':');
      const source = `host=127.0.0.1 port=${primary.port} user=${user} password=${password}`;
      appendFileSync(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
    });
    await primary.query(`alter system set synchronous_standby_names = '*'`);
    await primary.query('select pg_reload_conf()');
    const isSynchronous = `select from pg_stat_replication where sync_state = 'sync'`;
    await until(async () => (await primary.query(isSynchronous)).length > 0, 'the standby follows the primary');
    return { primary, standby };
  } catch (error) {
    await primary.remove();
    throw error;
  }
}

async function startCopy(createdDataDir: string, prepare: (cluster: string) => void): Promise<BundledServer> {
  const folder = makeDatabaseFolder();
  copyFolder(createdDataDir, folder);
  prepare(join(folder, 'postgres'));
  // A standby that lags behind when the primary crashes asks for WAL from before the checkpoint that ends the recovery. If
  // that is gone, it never follows again, and no write is acknowledged.
  const server = await startServerOn(folder, ['fsync=off', 'wal_keep_size=128MB']);
  return {
    ...server,
    async remove() {
      await server.remove();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

const onPort = (port: number): string[] => ['listen_addresses=127.0.0.1', `port=${port}`];

/** Opens a bundled PostgreSQL that other programs can reach, too. @returns also its URL, without a database. */
export async function openOnPort(
  dataDir: string,
  settings: string[] = [],
): Promise<Bundled & { readonly url: string; readonly port: number }> {
  const port = await freePort();
  const server = await openBundled(dataDir, { settings: [...onPort(port), ...settings] });
  const { user, password } = server.connection;
  return { ...server, port, url: `postgresql://${user}:${password}@127.0.0.1:${port}` };
}

/** Starts PostgreSQL on a `DATA_DIR` as the first start leaves it. `remove` ends it and leaves the folder. */
export async function startServerOn(dataDir: string, settings: string[] = []): Promise<BundledServer> {
  const folder = new DataFolder(dataDir);
  const server = await findServer(dataDir);
  const cluster = realpathSync(clusterOf(dataDir));
  const start = async () => startServer(server, cluster, [...onPort(port), ...settings]);
  const port = await freePort();
  await start();
  const url = folder.databaseUrl();
  const { username, password } = new URL(url);
  const query = async (text: string) => {
    const client = new pg.Client(url);
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    url,
    user: `${username}:${password}`,
    port,
    query,
    pid: () => folder.postmaster(),
    start,
    async end(signal) {
      const pid = folder.postmaster();
      const processes = pid ? descendants(pid) : [];
      if (pid) process.kill(pid, signal);
      await until(() => !processes.some(isAlive), `PostgreSQL ends after ${signal}`);
    },
    async promote() {
      await query('select pg_promote()');
    },
    remove: () => stopServer(server, cluster),
  };
}
