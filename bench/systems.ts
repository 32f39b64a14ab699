import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { encryptionKey } from './encryption.ts';
import type { WorkloadId } from './load/workloads.ts';

/** The systems that can be measured, the gateway first. */
export const systemIds = ['gateway', 'baseline', 'fastify', 'batched', 'mercurius', 'apollo', 'yoga', 'postgraphile'] as const;

/** The name of a system; `previous` is another build of the gateway, which `--previous` adds. */
export type SystemId = (typeof systemIds)[number] | 'previous';

const graphqlOnly: readonly SystemId[] = ['mercurius', 'apollo', 'yoga'];

/** Whether a system supports a workload. */
export function supports(system: SystemId, workload: WorkloadId): boolean {
  if (system === 'batched') return workload === 'gql-token' || workload === 'rest-get';
  if (system === 'postgraphile') return workload === 'gql-token';
  if (workload === 'gql-list-unshared' && (system === 'apollo' || system === 'yoga')) return false;
  if (workload === 'gql-rotate-keyed') return system === 'gateway' || system === 'previous' || system === 'baseline';
  return workload.startsWith('gql-') ? system !== 'fastify' : !graphqlOnly.includes(system);
}

/** Why a system cannot run here; `undefined` if it can. */
export function whyUnavailable(system: SystemId): string | undefined {
  const major = Number(process.versions.node.split('.')[0]);
  return system === 'postgraphile' && major < 22 ? `needs Node 22 or later, and this is ${process.version}` : undefined;
}

/** A running system. */
export interface Running {
  readonly system: SystemId;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** How long a system may take to start. */
const startTimeoutMs = 60_000;

const children = new Set<ChildProcess>();

/**
 * Starts a system as its users do, on a database.
 *
 * @param options `args`: further arguments of `serve`. `previous`: the folder of another build of the gateway, for the system of
 *   that name.
 * @throws Error with its output when it does not start.
 */
export async function startSystem(
  system: SystemId,
  environment: Readonly<Record<string, string>>,
  { args = [], previous = '' }: { readonly args?: readonly string[]; readonly previous?: string | undefined } = {},
): Promise<Running> {
  const key = environment['DATABASE_URL'] && { ENCRYPTION_KEYS: encryptionKey };
  const isGateway = system === 'gateway' || system === 'previous';
  const file = isGateway ? ['dist/main.js', 'serve', ...args] : [`bench/dist/bench/competitors/${system}.js`];
  const child = spawn(process.execPath, file, {
    cwd: system === 'previous' ? previous : root,
    // Inherits only the path from the environment: no settings, no options for Node.js.
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', PORT: '0', LOG_FORMAT: 'json', ...key, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  track(child);
  const port = await listeningPort(system, child);
  return { system, port, pid: child.pid ?? 0, stop: () => stop(child) };
}

/** Runs a command of the gateway. @returns its standard output. @throws Error with its output when it fails. */
export async function runCommand(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
  const running = promisify(execFile)(process.execPath, ['dist/main.js', ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', LOG_FORMAT: 'json', ...environment },
  });
  track(running.child);
  return running.then(
    ({ stdout }) => stdout,
    ({ message, stdout }) => Promise.reject(new Error(`${message}${stdout}`)),
  );
}

/** Starts the load generator. */
export function startGenerator(): ChildProcess {
  const child = spawn(process.execPath, ['bench/dist/bench/load/generator.js'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return track(child);
}

/** Kills every process that this run started and that is still running. */
export async function stopAll(): Promise<void> {
  await Promise.all([...children].map(stop));
}

function track(child: ChildProcess): ChildProcess {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(late);
}

/** Waits for the log line with the address that a system listens on. */
function listeningPort(system: SystemId, child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const late = setTimeout(() => reject(new Error(`${system} did not start in time:\n${said.join('\n')}`)), startTimeoutMs);
    const fail = () => {
      clearTimeout(late);
      reject(new Error(`${system} exited:\n${said.join('\n')}`));
    };
    child.once('exit', fail);
    if (!child.stderr) return;
    createInterface(child.stderr).on('line', (line) => {
      // Later lines are read and discarded, or a full pipe would block the system.
      if (said.length < 100) said.push(line);
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (!port) return;
      clearTimeout(late);
      child.off('exit', fail);
      resolve(Number(port));
    });
  });
}
