import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { postgresUser } from '../../src/database/embedded/system-user.ts';

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
  const { PATH } = process.env;
  const child: ChildProcess = spawn(program, args, {
    cwd: '/',
    env: { PATH: `${PATH}:/usr/sbin:/usr/lib/postgresql/15/bin`, HOME: folder, LC_ALL: 'C.UTF-8', ...environment },
    stdio: ['ignore', log, log],
    ...postgresUser(),
  });
  closeSync(log);
  child.on('error', () => {}); // followed by waiting in vain, which shows the log
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

/** Waits until a condition holds. @throws Error that names it. */
export async function until<Value>(
  condition: () => Promise<Value> | Value,
  what: string,
  { timeoutMs = 60_000, log = () => '' }: { readonly timeoutMs?: number; readonly log?: () => string } = {},
): Promise<NonNullable<Value>> {
  for (const deadline = Date.now() + timeoutMs; ; await pause(50)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs / 1_000} s in vain: ${what}.\n${log()}`);
  }
}

/** Ports that nothing listens on at the moment, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** The processes below a process, with it. */
export function processTree(pid: number): number[] {
  try {
    const text = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    return [
      pid,
      ...text
        .split('\n')
        .filter(Boolean)
        .flatMap((line) => processTree(Number(line))),
    ];
  } catch {
    return [pid]; // no children
  }
}

/** The processor time of a process and those below it, with those that have ended, in milliseconds. */
export function processorMs(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + ownProcessorMs(each), 0);
}

function ownProcessorMs(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]) * 10, 0);
  } catch {
    return 0;
  }
}
