import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openOnPort } from '../../test/support/bundled-server.ts';
import { startDatabaseProxy } from '../../test/support/database-proxy.ts';
import { send } from '../client.ts';
import { withDatabase } from '../instance.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { startPatroniCluster } from './patroni.ts';
import { missingPrograms, startPgBouncer } from './programs.ts';
import { runUnderLoad } from './under-load.ts';

/** Starts the bundled PostgreSQL. @returns the URL of the gateways' database. */
async function startServer({ folder, onEnd }: ScenarioContext): Promise<string> {
  const server = await openOnPort(join(folder, 'server'));
  onEnd(() => server.close());
  await withDatabase(`${server.url}/postgres`, ({ pool }) => pool.query('create database gateway'));
  return `${server.url}/gateway`;
}

const gateways: Scenario = {
  name: 'gateways',
  summary: 'three gateways start at once on an empty database, and share it',
  run: async (context) => runUnderLoad(context, await startServer(context), []),
};

/** Connections of PgBouncer to the server, fewer than the gateways have. */
const poolSize = 4;

const pgBouncer: Scenario = {
  name: 'pgbouncer',
  summary: 'the same behind PgBouncer in transaction mode, which is killed and started again',
  missing: () => missingPrograms({ pgbouncer: 'pgbouncer' }),
  async run(context) {
    const direct = await startServer(context);
    const bouncer = await startPgBouncer(context, direct, poolSize);
    const kill = { name: 'PgBouncer killed and started again', act: () => bouncer.restart() };
    await runUnderLoad(context, bouncer.url, [kill], { directUrl: direct, settings: { DB_NAMED_STATEMENTS: 'false' } });
    const ofMigrations = "select from pg_locks where locktype = 'advisory' and objid = 72707369";
    const { rowCount } = await withDatabase(direct, ({ pool }) => pool.query(ofMigrations));
    context.expect(rowCount === 0, `${rowCount} locks of migrations are stranded`);
    const settings = await strandedSettings(bouncer.url);
    context.expect(settings.length === 0, `sessions are left with ${settings.join(', ')}`);
  },
};

/** Settings of sessions that differ from the defaults, on each of the server's connections. */
async function strandedSettings(url: string): Promise<string[]> {
  const clients = Array.from({ length: poolSize }, () => new pg.Client(url));
  const text = `select name || ' = ' || setting as text from pg_settings
    where source = 'session' and name not in ('application_name', 'TimeZone', 'DateStyle', 'client_encoding', 'transaction_isolation')`;
  await Promise.all(clients.map((client) => client.connect()));
  const found = await Promise.all(clients.map(async (client) => (await client.query<{ text: string }>(text)).rows));
  await Promise.all(clients.map((client) => client.end()));
  return [...new Set(found.flat().map((row) => row.text))];
}

const failover: Scenario = {
  name: 'failover',
  summary: 'three servers with Patroni and etcd behind HAProxy: kills, a switchover, and an endpoint that leads to a standby',
  missing: () => missingPrograms({ patroni: 'patroni', etcd: 'etcd-server', haproxy: 'haproxy', initdb: 'postgresql-15' }),
  async run(context) {
    const cluster = await startPatroniCluster(context.folder);
    context.onEnd(() => cluster.stop());
    const endpoint = await startDatabaseProxy(cluster.proxyUrl);
    context.onEnd(() => endpoint.cut());
    const change = (name: string, act: () => Promise<void>) => ({
      name,
      async act() {
        await cluster.untilHealthy();
        const before = await cluster.leader();
        await act();
        await pause((cluster.ttlSeconds + 5) * 1_000); // in which another server becomes the leader
        return `${before} → ${await cluster.leader()}`;
      },
    });
    const standby = {
      name: 'the endpoint leads to a standby, and back',
      async act(ports: readonly number[], token: string) {
        await cluster.untilHealthy();
        endpoint.moveTo(await cluster.standbyUrl());
        await pause(2_000);
        for (const port of ports) {
          const replies = await Promise.all(
            ['/readyz', '/api/user?user_group_id=x'].map((path) => send(port, 'GET', path, { token })),
          );
          for (const { status } of replies) context.expect(status === 503, `a gateway on a standby responded with ${status}`);
        }
        endpoint.moveTo(cluster.proxyUrl);
      },
    };
    await runUnderLoad(context, endpoint.url, [
      change('PostgreSQL of the leader killed', cluster.killPostgres),
      change('PostgreSQL and Patroni of the leader killed', cluster.killMachine),
      change('Patroni of the leader killed', cluster.killPatroni),
      change('planned switchover', cluster.switchOver),
      standby,
    ]);
  },
};

/** Every topology, in the order in which they run. */
export const scaleScenarios: readonly Scenario[] = [gateways, pgBouncer, failover];
