import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresUser } from '../../src/database/bundled.ts';

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
