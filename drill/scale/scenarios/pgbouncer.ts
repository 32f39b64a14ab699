import { join } from 'node:path';
import pg from 'pg';
import { openOnPort } from '../../../test/support/bundled-server.ts';
import { query } from '../../database.ts';
import { runEvent, startGateways, startLoadOn } from '../gateways.ts';
import { startPgBouncer } from '../pgbouncer.ts';
import type { ScaleScenario } from '../scale-scenario.ts';

/** Connections to the server, fewer than the gateways have. */
const poolSize = 4;

/** Gateways behind PgBouncer in transaction mode, in front of the bundled PostgreSQL. */
export const pgBouncerScenario: ScaleScenario = {
  name: 'pgbouncer',
  needs: { pgbouncer: 'pgbouncer' },
  async run(context) {
    const { folder, onEnd, result } = context;
    const server = await openOnPort(join(folder, 'server'));
    onEnd(() => server.close());
    await query(`${server.url}/postgres`, 'create database gateway');
    const direct = `${server.url}/gateway`;
    const bouncer = await startPgBouncer(context, direct, poolSize);
    const { url } = bouncer;

    const gateways = await startGateways(context, url, 3, { DB_NAMED_STATEMENTS: 'false' });
    const load = startLoadOn(context, gateways);
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
    const restarted = await runEvent(load, gateways, 'PgBouncer killed and started again', () => bouncer.restart());
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
