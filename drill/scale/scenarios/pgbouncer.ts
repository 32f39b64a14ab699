import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { until } from '../../../test/support/process.ts';
import { deployFile } from '../deploy.ts';
import { runEvent, startGateways, startLoadOn } from '../gateways.ts';
import { startProgram } from '../programs.ts';
import type { ScaleScenario } from '../scale-scenario.ts';

/** Connections to the server, fewer than the gateways have. */
const poolSize = 4;

/** Gateways behind PgBouncer in transaction mode, in front of the bundled PostgreSQL. */
export const pgBouncerScenario: ScaleScenario = {
  name: 'pgbouncer',
  needs: { pgbouncer: 'pgbouncer' },
  async run(context) {
    const { folder, onEnd, result } = context;
    const server = await openEmbedded(join(folder, 'server'));
    onEnd(() => server.close());
    const { user, password, port: serverPort } = server.connection('postgres');
    await query(`postgresql://${user}:${password}@127.0.0.1:${serverPort}/postgres`, 'create database gateway');
    const port = await freePort();
    writeFileSync(join(folder, 'userlist.txt'), `"${user}" "${password}"\n`, { mode: 0o644 });
    const configuration = deployFile(folder, 'pgbouncer/pgbouncer.ini', {
      '* = host=127.0.0.1 port=5432': `* = host=127.0.0.1 port=${serverPort}`,
      'listen_port = 6432': `listen_port = ${port}`,
      'auth_file = /etc/pgbouncer/userlist.txt': `auth_file = ${join(folder, 'userlist.txt')}`,
      'default_pool_size = 20': `default_pool_size = ${poolSize}`,
    });
    const start = () => startProgram(folder, 'pgbouncer', ['pgbouncer', configuration]);
    let bouncer = start();
    onEnd(() => bouncer.stop('SIGINT'));
    const url = `postgresql://${user}:${password}@127.0.0.1:${port}/gateway`;
    await until(
      () => query(url, 'select 1').catch(() => undefined),
      () => `PgBouncer serves\n${bouncer.log()}`,
    );

    const gateways = await startGateways(context, url, 3, { DB_NAMED_STATEMENTS: 'false' });
    const load = startLoadOn(context, gateways);
    const direct = `postgresql://${user}:${password}@127.0.0.1:${serverPort}/gateway`;
    const stranded = async () => {
      const locks = await query(direct, "select * from pg_locks where locktype = 'advisory' and objid = 72707369");
      return locks.length > 0 ? [`${locks.length} locks of migrations are stranded`] : [];
    };
    const ordinary = await runEvent(load, gateways, 'three gateways start at once', async () => {});
    result({
      ...ordinary,
      note: `${poolSize} server connections`,
      failures: [...(ordinary.failures ?? []), ...(await stranded())],
    });
    const restarted = await runEvent(load, gateways, 'PgBouncer killed and started again', async () => {
      await bouncer.stop('SIGKILL');
      bouncer = start();
    });
    result({ ...restarted, failures: [...(restarted.failures ?? []), ...(await stranded()), ...(await strandedSettings(url))] });
  },
};

/** Settings of sessions that differ from the defaults, on each of the server's connections. */
async function strandedSettings(url: string): Promise<string[]> {
  const clients = Array.from({ length: poolSize }, () => new pg.Client(url));
  const text = `select name || ' = ' || setting as text from pg_settings
    where source = 'session' and name not in ('application_name', 'TimeZone', 'DateStyle', 'client_encoding')`;
  const found = new Set<string>();
  await Promise.all(clients.map((client) => client.connect()));
  for (const client of clients) for (const { text: setting } of (await client.query(text)).rows) found.add(setting);
  await Promise.all(clients.map((client) => client.end()));
  return [...found].map((setting) => `a session is left with ${setting}`);
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
