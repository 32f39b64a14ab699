import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { inject, type TestContext } from 'vitest';
import { postgresUser } from '../../src/database/bundled.ts';
import { freePort } from './free-port.ts';

/** A PgBouncer in transaction mode in front of the run's PostgreSQL. */
export interface PgBouncer {
  /** The URL by which a database is reached through it. */
  url(database: string): string;
  /** How many transactions have gone through it. */
  transactions(): Promise<number>;
  /** Ends it and deletes its folder. */
  close(): Promise<void>;
}

const startTimeoutMs = 20_000;

/** Marks the test as skipped, with the reason, where PgBouncer is not installed. */
export function requirePgBouncer(context: TestContext): void {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
  } catch {
    process.stderr.write('pgbouncer is not installed: apt-get install pgbouncer\n');
    context.skip('pgbouncer is not installed: apt-get install pgbouncer');
  }
}

/**
 * Starts one. Each database gets `poolSize` server connections, which all its clients share.
 *
 * @param serverUrl the server behind it; by default the run's PostgreSQL.
 * @param settings further settings.
 */
export async function startPgBouncer(
  poolSize: number,
  serverUrl: string = inject('serverUrl'),
  settings = '',
): Promise<PgBouncer> {
  const server = new URL(serverUrl);
  const { username, password } = server;
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-pgbouncer-'));
  const port = await freePort();
  const users = join(folder, 'users.txt');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"${username}" "${password}"\n`);
  writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
stats_users = ${username}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 2000
${settings}
`,
  );
  for (const path of [folder, users, file]) chmodSync(path, 0o755); // for the user that it runs as in place of root
  const child = spawn('pgbouncer', [file], { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], ...postgresUser() });
  let log = '';
  child.stderr.on('data', (text) => {
    log += text;
  });
  const ended = once(child, 'close');
  const url = (database: string) => `postgresql://${username}:${password}@127.0.0.1:${port}/${database}`;
  for (const deadline = Date.now() + startTimeoutMs; !(await isServing(url('postgres'))); await pause(10))
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`PgBouncer takes no connections: ${log}`);
  return {
    url,
    async transactions() {
      const client = new pg.Client(url('pgbouncer'));
      await client.connect();
      const { rows } = await client.query<{ total_xact_count: string }>('show stats');
      await client.end();
      return rows.reduce((sum, { total_xact_count }) => sum + Number(total_xact_count), 0);
    },
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isServing(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
