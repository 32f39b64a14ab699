import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresUser } from '../../../src/database/bundled.ts';
import { openOnPort } from '../../../test/support/bundled-server.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { until } from '../../../test/support/process.ts';
import { describeCapacity, measureCapacity } from '../capacity.ts';
import { runEvent, startGateways, startLoadOn } from '../gateways.ts';
import { startProgram } from '../programs.ts';
import type { ScaleScenario, ScenarioContext } from '../scale-scenario.ts';

/** A PostgreSQL server: its URL without a database, and its first process. */
interface Server {
  readonly url: string;
  readonly postmaster: number;
}

async function startBundled({ folder, onEnd }: ScenarioContext): Promise<Server> {
  const dataDir = join(folder, 'server');
  const server = await openOnPort(dataDir);
  onEnd(() => server.close());
  const postmaster = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
  return { url: server.url, postmaster };
}

async function startDebian({ folder, onEnd }: ScenarioContext): Promise<Server> {
  const port = await freePort();
  const data = join(folder, 'server');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, 'drill', { mode: 0o644 });
  const binaries = '/usr/lib/postgresql/15/bin';
  const args = [
    '-D',
    data,
    '-U',
    'postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ];
  execFileSync(join(binaries, 'initdb'), args, { cwd: '/', stdio: 'ignore', ...postgresUser() });
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
  const server = startProgram(folder, 'postgres', [join(binaries, 'postgres'), '-D', data, '-p', String(port), ...settings]);
  onEnd(() => server.stop('SIGINT'));
  return { url: `postgresql://postgres:drill@127.0.0.1:${port}`, postmaster: server.pid };
}

async function runGateways(context: ScenarioContext, { url, postmaster }: Server): Promise<void> {
  await until(() => createDatabase(`${url}/postgres`), 'PostgreSQL accepts connections');
  const gateways = await startGateways(context, `${url}/gateway`, 3);
  const { processes, admin } = gateways;
  for (const count of [1, 2, 3]) {
    const used = processes.slice(0, count);
    const pids = { gateways: used.map(({ pid }) => pid), postmaster };
    const capacity = await measureCapacity(
      used.map(({ port }) => port),
      admin,
      pids,
    );
    context.result({ event: `look-ups, ${count} of 3 gateways`, note: describeCapacity(capacity) });
  }
  const load = startLoadOn(context, gateways);
  context.result(
    await runEvent(
      load,
      gateways,
      'three gateways start at once, 10 s of load',
      () => new Promise((resolve) => setTimeout(resolve, 10_000)),
    ),
  );
}

async function createDatabase(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('create database gateway');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Three gateways on one server, of the bundled version and of the oldest that is supported. */
export const gatewayScenarios: readonly ScaleScenario[] = [
  { name: 'gateways-postgresql-18', needs: {}, run: async (context) => runGateways(context, await startBundled(context)) },
  {
    name: 'gateways-postgresql-15',
    needs: { initdb: 'postgresql-15' },
    run: async (context) => runGateways(context, await startDebian(context)),
  },
];
