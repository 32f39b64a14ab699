import pg from 'pg';
import { findBinaries } from '../../src/database/embedded/binaries.ts';
import { startServer, stopServer } from '../../src/database/embedded/cluster.ts';
import { copiesFolder, layOut } from '../../src/database/embedded/layout.ts';
import { descendants } from '../processes.ts';
import { until } from '../wait.ts';
import { endGateway, type Instance } from './instance.ts';

/** A bundled PostgreSQL that no gateway supervises, so that it is down for as long as a row wants. */
export interface PostgresServer {
  /** What gateways take as `DATABASE_URL`; the same after a restart. */
  readonly url: string;
  /** The first process and all below it. */
  processes(): number[];
  /** Sends a signal to its first process, and waits until it has ended. */
  end(signal: 'SIGKILL' | 'SIGQUIT' | 'SIGINT'): Promise<void>;
  /** Starts it again on its port. @returns when it accepted connections, by `performance.now()`. */
  start(): Promise<number>;
}

/** Creates a database by a gateway that is stopped again, and starts PostgreSQL on it. It ends with the row. */
export async function startPostgres(instance: Instance, onEnd: (close: () => Promise<void>) => void): Promise<PostgresServer> {
  const gateway = await instance.start();
  await instance.createToken(gateway.port);
  await endGateway(gateway, 'SIGTERM');
  const layout = layOut(instance.dataDir);
  const binaries = findBinaries(layout.user, copiesFolder(layout));
  onEnd(() => stopServer(layout, binaries));
  await startServer(layout, binaries, []);
  const url = instance.databaseUrl();
  const port = Number(new URL(url).port);
  const first = () => instance.runningPostmaster();
  return {
    url,
    processes: () => descendants(first()),
    async end(signal) {
      const all = descendants(first());
      process.kill(first(), signal);
      await until(() => all.every((pid) => descendants(pid).length === 0), `PostgreSQL ends after ${signal}`);
    },
    async start() {
      await startServer(layout, binaries, [], port); // waits until it accepts connections
      return performance.now();
    },
  };
}

/** Waits until a database accepts connections. @returns when, by `performance.now()`. */
export async function untilAccepting(url: () => string): Promise<number> {
  await until(async () => {
    try {
      const client = new pg.Client({ connectionString: url(), connectionTimeoutMillis: 1_000 });
      client.on('error', () => {});
      await client.connect();
      await client.query('select 1');
      await client.end();
      return true;
    } catch {
      return false;
    }
  }, 'the database accepts connections');
  return performance.now();
}
