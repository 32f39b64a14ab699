import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/database/client.ts';
import { openDatabase } from '../../src/database/open.ts';
import { type BundledServer, startPair } from '../../test/support/bundled-server.ts';
import { until } from '../../test/support/process.ts';
import { isReady } from '../client.ts';
import { endGateway, type GatewayProcess, Instance, withDatabase } from '../instance.ts';
import { missingPrograms, startPgBouncer } from '../scale/programs.ts';
import type { ScenarioContext } from '../scenario.ts';

/** Gateways behind PgBouncer, in front of a primary with a standby. */
export interface Deployment {
  /** Has the API token of the scope `admin`. */
  readonly instance: Instance;
  /** API tokens that read and write groups and read events. */
  readonly tokens: { readonly testing: string; readonly customer: string };
  /** The URL of the database through PgBouncer. */
  readonly url: string;
  /** The port of a gateway, of another one each time. While it is restarted, nothing listens there. */
  port(): number;
  /** SIGKILL of a gateway, and a start in its place. */
  killGateway(index: number): Promise<void>;
  /** Ends the primary as a crash does, and starts it again two seconds later. */
  crashPrimary(): Promise<void>;
  /** Ends the primary as a crash does, and puts the standby in its place two seconds later. */
  failOver(): Promise<void>;
  /** Waits until every gateway is ready. */
  untilReady(): Promise<void>;
  /** Executes a statement on the primary. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Uses the database of the primary. */
  withDatabase<Result>(use: (database: Database) => Promise<Result>): Promise<Result>;
}

const gatewayCount = 3;

/** Connections to the server, fewer than the gateways have. */
const poolSize = 12;

/** For how long nothing takes the place of a server that crashed. */
const outageMs = 2_000;

/** The time limit of waits: the machine may be busy. */
const waitMs = 90_000;

const tokenScopes = ['GROUPS_READ', 'GROUPS_WRITE', 'AUDIT_READ'];

/** Why a deployment cannot be started here. */
export const missingProgram = (): string | undefined => missingPrograms({ pgbouncer: 'pgbouncer' });

/**
 * Starts a deployment; it ends with the scenario. A write is acknowledged once the standby has it: a failover loses nothing.
 *
 * @param settings further settings of the gateways.
 */
export async function startDeployment(
  context: ScenarioContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<Deployment> {
  const { folder, onEnd } = context;
  const created = join(folder, 'created');
  mkdirSync(created);
  chmodSync(created, 0o755);
  await (await openDatabase({ databaseUrl: undefined, dataDir: created, namedStatements: true, onEvent: () => {} })).close();
  const { primary, standby } = await startPair(created);
  onEnd(async () => {
    await standby.remove();
    await primary.remove();
  });
  let server: BundledServer = primary;
  const bouncer = await startPgBouncer(context, primary.url, poolSize);

  const instance = new Instance(context, { DATABASE_URL: bouncer.url, DB_NAMED_STATEMENTS: 'false', ...settings });
  const gateways: GatewayProcess[] = [await instance.start()];
  while (gateways.length < gatewayCount) gateways.push(await instance.start());
  const [{ port: firstPort } = { port: 0 }] = gateways;
  const tokens = {
    testing: await instance.createToken(firstPort, tokenScopes),
    customer: await instance.createToken(firstPort, tokenScopes, 'CUSTOMER'),
  };
  let turn = 0;
  return {
    instance,
    tokens,
    url: bouncer.url,
    port() {
      turn += 1;
      return gateways[turn % gateways.length]?.port ?? 0;
    },
    async killGateway(index) {
      const gateway = gateways[index];
      if (gateway) await endGateway(gateway, 'SIGKILL');
      gateways[index] = await instance.start();
    },
    async crashPrimary() {
      await server.end('SIGQUIT');
      await pause(outageMs);
      await server.start();
    },
    async failOver() {
      await server.end('SIGQUIT');
      await pause(outageMs);
      await standby.promote();
      server = standby;
      bouncer.moveTo(standby.port);
    },
    async untilReady() {
      const areReady = async () => (await Promise.all(gateways.map(({ port }) => isReady(port)))).every(Boolean);
      await until(areReady, 'every gateway is ready', waitMs);
    },
    query: (text) => server.query(text),
    withDatabase: (use) => withDatabase(server.url, use),
  };
}
