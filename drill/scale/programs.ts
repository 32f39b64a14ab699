import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { postgresUser } from '../../src/database/bundled.ts';
import { freePort } from '../../test/support/free-port.ts';
import { until } from '../../test/support/process.ts';
import type { ScenarioContext } from '../scenario.ts';

/** Where the programs are, besides the usual places. */
const programPath = () => `${process.env['PATH']}:/usr/sbin:/usr/lib/postgresql/15/bin`;

/** Whether a program is installed. */
function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { env: { PATH: programPath() }, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Why a topology cannot run here. @param needed the Debian packages of the programs that it needs, by program. */
export function missingPrograms(needed: Readonly<Record<string, string>>): string | undefined {
  const packages = Object.entries(needed).flatMap(([program, name]) => (isInstalled(program) ? [] : [name]));
  return packages.length > 0 ? `needs apt-get install --no-install-recommends ${packages.join(' ')}` : undefined;
}

/** A program of the drill in a process of its own. */
export interface Program {
  readonly pid: number;
  /** The end of what it printed. */
  log(): string;
  /** Sends a signal and waits for the end; kills it if that takes too long. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const stopTimeoutMs = 15_000;

/** Starts a program, as the user that PostgreSQL runs as if this process is root's, with these settings as its environment. */
export function startProgram(
  folder: string,
  name: string,
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Program {
  const file = join(folder, `${name}.log`);
  const log = openSync(file, 'a');
  const child: ChildProcess = spawn(program, args, {
    cwd: '/',
    env: { PATH: programPath(), HOME: folder, LC_ALL: 'C.UTF-8', ...environment },
    stdio: ['ignore', log, log],
    ...postgresUser(),
  });
  closeSync(log);
  child.on('error', () => {}); // the wait that follows times out and shows the log
  return {
    pid: child.pid ?? 0,
    log: () => readFileSync(file, 'utf8').slice(-2_000),
    async stop(signal = 'SIGTERM') {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      await ended;
      clearTimeout(late);
    },
  };
}

/**
 * An example file of `deploy/`, where the user that PostgreSQL runs as can read it: a checkout may be closed to it.
 *
 * @param edits lines that an operator would edit, too, by what replaces them.
 * @throws Error when the file has no such line.
 */
export function deployFile(folder: string, path: string, edits: Readonly<Record<string, string>> = {}): string {
  let text = readFileSync(fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url)), 'utf8');
  for (const [line, replacement] of Object.entries(edits)) {
    if (!text.includes(`\n${line}\n`)) throw new Error(`deploy/${path} has no line "${line}".`);
    text = text.replace(`\n${line}\n`, () => `\n${replacement}\n`);
  }
  const copy = join(folder, basename(path));
  writeFileSync(copy, text);
  chmodSync(copy, 0o644);
  return copy;
}

/** PgBouncer in transaction mode, with the file of `deploy/`. */
export interface PgBouncer {
  /** The URL of the database behind it. */
  readonly url: string;
  /** Kills it and starts it again. */
  restart(): Promise<void>;
  /** Puts it in front of another server, as an operator does after a failover: edits its file, and has it read again. */
  moveTo(serverPort: number): void;
}

/** Starts PgBouncer in front of a database, with this many connections to it, and waits until it serves. */
export async function startPgBouncer(context: ScenarioContext, serverUrl: string, poolSize: number): Promise<PgBouncer> {
  const { folder, onEnd, onFailure } = context;
  const { username, password, port: serverPort, pathname } = new URL(serverUrl);
  const port = await freePort();
  const users = join(folder, 'userlist.txt');
  writeFileSync(users, `"${username}" "${password}"\n`, { mode: 0o644 });
  const configure = (behind: number | string) =>
    deployFile(folder, 'pgbouncer/pgbouncer.ini', {
      // By name: of databases that it finds by itself, PgBouncer does not read the server again.
      '* = host=127.0.0.1 port=5432': `${pathname.slice(1)} = host=127.0.0.1 port=${behind}`,
      'listen_port = 6432': `listen_port = ${port}`,
      'auth_file = /etc/pgbouncer/userlist.txt': `auth_file = ${users}`,
      'default_pool_size = 20': `default_pool_size = ${poolSize}`,
    });
  const file = configure(serverPort);
  const start = () => startProgram(folder, 'pgbouncer', ['pgbouncer', file]);
  let bouncer = start();
  onEnd(() => bouncer.stop('SIGINT'));
  onFailure(() => bouncer.log());
  const url = `postgresql://${username}:${password}@127.0.0.1:${port}${pathname}`;
  await until(
    () => isAccepting(url),
    () => `PgBouncer serves\n${bouncer.log()}`,
  );
  return {
    url,
    async restart() {
      await bouncer.stop('SIGKILL');
      bouncer = start();
    },
    moveTo(to) {
      configure(to);
      process.kill(bouncer.pid, 'SIGHUP');
    },
  };
}

/** Whether a database accepts a connection: without the settings that a gateway sends, which PgBouncer refuses. */
async function isAccepting(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
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
