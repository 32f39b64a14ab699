import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries } from '../../src/database/embedded/binaries.ts';
import { startServer, stopServer } from '../../src/database/embedded/cluster.ts';
import { copiesFolder, layOut } from '../../src/database/embedded/layout.ts';
import { isPostmaster, runningPostmaster } from '../../src/database/embedded/server-lock.ts';
import { copyFolder, makeDatabaseFolder } from './database-folder.ts';

/** A bundled PostgreSQL that no gateway supervises, as one of several servers. */
export interface BundledServer {
  readonly port: number;
  /** The first process, while it runs. */
  pid(): number | undefined;
  /** The user, the password and the address, as a URL has them. */
  readonly user: string;
  readonly address: string;
  /** Starts it again, on the same port, as what it was: a primary or a standby. */
  start(): Promise<void>;
  /** Ends it as a crash does. */
  crash(): Promise<void>;
  /** Makes a standby the primary. */
  promote(): Promise<void>;
  /** Runs a statement as the superuser in the gateway's database. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Ends it and deletes its folder. */
  remove(): Promise<void>;
}

/** How long the end of a server may take. */
const endTimeoutMs = 20_000;

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
    for (const deadline = Date.now() + endTimeoutMs; (await primary.query(isSynchronous)).length === 0; await pause(20)) {
      if (Date.now() > deadline) throw new Error('The standby does not follow the primary.');
    }
    return { primary, standby };
  } catch (error) {
    await primary.remove();
    throw error;
  }
}

async function startCopy(createdDataDir: string, prepare: (cluster: string) => void): Promise<BundledServer> {
  const folder = makeDatabaseFolder();
  copyFolder(createdDataDir, folder);
  const layout = layOut(folder);
  const binaries = findBinaries(layout.user, copiesFolder(layout));
  prepare(layout.cluster);
  const start = (port?: number) => startServer(layout, binaries, ['fsync=off'], port);
  await start();
  const { port } = runningPostmaster(layout) as { port: number };
  const user = `gateway:${readFileSync(join(folder, 'postgres-password'), 'utf8').trim()}`;
  const address = `127.0.0.1:${port}`;
  const query = async (text: string) => {
    const client = new pg.Client(`postgresql://${user}@${address}/user_group_gateway`);
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    ...{ port, user, address, query },
    pid: () => runningPostmaster(layout)?.pid,
    start: () => start(port),
    async crash() {
      const running = runningPostmaster(layout);
      if (!running) return;
      process.kill(running.pid, 'SIGQUIT');
      for (const deadline = Date.now() + endTimeoutMs; isPostmaster(running.pid, layout); await pause(10)) {
        if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${running.pid}) did not end.`);
      }
    },
    async promote() {
      await query('select pg_promote()');
    },
    async remove() {
      await stopServer(layout, binaries);
      for (const path of [folder, layout.home]) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
