import pg from 'pg';
import { type BundledServer, startServerOn } from '../../test/support/bundled-server.ts';
import { until } from '../../test/support/process.ts';
import { endGateway, type Instance } from '../instance.ts';

/**
 * Creates a database by a gateway that is stopped again, and starts PostgreSQL on it without one, so that it is down for as long
 * as a scenario wants. It ends with the scenario.
 */
export async function startPostgres(instance: Instance, onEnd: (close: () => Promise<void>) => void): Promise<BundledServer> {
  const gateway = await instance.start();
  await instance.createToken(gateway.port);
  await endGateway(gateway, 'SIGTERM');
  const server = await startServerOn(instance.path);
  onEnd(() => server.remove());
  return server;
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
