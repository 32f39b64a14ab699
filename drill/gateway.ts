import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A gateway in a process of its own, as operators run it. */
export interface GatewayProcess {
  readonly port: number;
  readonly pid: number;
  /** The first lines of its log about errors, at most a hundred. */
  readonly errors: readonly string[];
  /** The lines of its log about failures that no code has handled: each is a defect. */
  readonly unhandled: string[];
  /** How it exited, if it has. */
  ended(): string | undefined;
  /** Stops it gracefully, or if that takes too long, kills it. */
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const binary = join(root, 'dist/main.js');

/** How long a start and a stop may take. */
const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;

/** The settings of every gateway process and command of a run; the environment is not inherited. */
function environment(dataDir: string, apiToken: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, DATA_DIR: dataDir, PORT: '0', LOG_FORMAT: 'json', LOG_LEVEL: 'info', BOOTSTRAP_API_TOKEN: apiToken };
}

/**
 * Starts `serve` and waits until it listens.
 *
 * @param settings further settings, such as `DATABASE_URL`.
 * @param args further arguments of the command.
 * @param program the compiled gateway, if not this checkout's.
 * @throws Error with its log when it exits instead.
 */
export async function startGateway(
  dataDir: string,
  apiToken: string,
  settings: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  program = binary,
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [program, 'serve', ...args], {
    cwd: root,
    env: { ...environment(dataDir, apiToken), ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  const errors: string[] = [];
  const unhandled: string[] = [];
  let end: string | undefined;
  child.once('exit', (code, signal) => {
    end = signal ?? `exit status ${code}`;
  });
  const log = createInterface({ input: child.stderr as NonNullable<ChildProcess['stderr']> });
  const port = await new Promise<number>((resolve, reject) => {
    const fail = () => reject(new Error(`The gateway did not start:\n${lines.join('\n')}`));
    const late = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs);
    child.once('exit', fail);
    // Later lines are read and discarded: a full pipe would block the gateway.
    log.on('line', (line) => {
      if (lines.length < 100) lines.push(line);
      if (errors.length < 100 && line.includes('"level":"error"')) errors.push(line);
      if (unhandled.length < 100 && line.includes('"msg":"a failure was not handled')) unhandled.push(line);
      const found = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (!found) return;
      clearTimeout(late);
      child.off('exit', fail);
      resolve(Number(found));
    });
  });
  return {
    port,
    pid: child.pid ?? 0,
    errors,
    unhandled,
    ended: () => end,
    async stop() {
      if (end !== undefined) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      await exited;
      clearTimeout(late);
    },
  };
}

/** @throws Error when a gateway has logged a failure that no code has handled. */
export function requireHandled({ unhandled }: GatewayProcess): void {
  if (unhandled.length > 0) throw new Error(`a gateway logged a failure that was not handled: ${unhandled[0]}`);
}

/** Issues an API token for the Testing environment with the command. */
export function issueToken(dataDir: string, apiToken: string, scopes: readonly string[]): string {
  const args = ['token', 'create', '--name', 'drill', '--environment', 'Testing', '--json'];
  const output = execFileSync(process.execPath, [binary, ...args, ...scopes.flatMap((scope) => ['--scope', scope])], {
    cwd: root,
    env: environment(dataDir, apiToken),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return (JSON.parse(output) as { token: string }).token;
}

/** Stops a PostgreSQL that a killed gateway left running. */
export async function endDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres/postmaster.pid');
  const pid = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : 0;
  if (!pid) return;
  const signal = (name: NodeJS.Signals | 0) => {
    try {
      return process.kill(pid, name);
    } catch {
      return false;
    }
  };
  for (let waited = 0; signal(waited === 0 ? 'SIGINT' : 0) && waited < stopTimeoutMs; waited += 50) await pause(50);
  if (existsSync(file)) signal('SIGQUIT');
}
