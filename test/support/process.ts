import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globalAgent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { testKey } from './keys.ts';
import { sendRequest } from './request.ts';
import { runShared } from './shared-command.ts';
import { tokensOf } from './tokens.ts';

/** The root of the checkout. */
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The compiled binary, as users run it. */
export const binary = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** How long a test or a drill waits for anything. */
const deadlineMs = 45_000;

/** A command that has ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface Running {
  readonly child: ChildProcess;
  /** Its output so far. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves when it ends; never rejects. */
  readonly ended: Promise<Ended>;
}

/** A gateway that serves requests in a process of its own. */
export interface ServeProcess extends Running {
  readonly url: string;
  /** The API token that it printed because it was the first start. */
  readonly firstToken: string | undefined;
  /** Closes idle connections, for which a stopping gateway would wait, sends a signal, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

type Settings = Readonly<Record<string, string>>;

const processes = new Set<ChildProcess>();

/** Kills every process that the file's tests have started and not stopped. For `afterEach`, so that a failed test leaves none. */
export async function endProcesses(): Promise<void> {
  await Promise.all(
    [...processes].map(async (child) => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }),
  );
}

/** Starts any program, with the given settings only, and the tests' key, which `DATABASE_URL` requires. */
export function launch(program: string, args: string[], settings: Settings, options: SpawnOptions = {}): Running {
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options, env: environment(settings) });
  processes.add(child);
  child.stdin?.on('error', () => {}); // its exit status says that it has ended
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => {
    processes.delete(child);
    return { code, signal, ...output } as Ended;
  });
  return { child, output, ended };
}

function environment(settings: Settings): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  const key = settings['DATABASE_URL'] && { ENCRYPTION_KEYS: testKey };
  return { PATH, HOME, PORT: '0', LOG_FORMAT: 'json', ...key, ...settings };
}

/**
 * Runs a command of the gateway to its end, in a process that runs one command after the other. `serve`, which ends its process a
 * while later, commands at the same time, and those with `NODE_OPTIONS` get a process of their own.
 */
export async function run(args: string[], settings: Settings): Promise<Ended> {
  const needsOwn = args[0] === 'serve' || 'NODE_OPTIONS' in settings;
  return (needsOwn ? undefined : runShared(args, environment(settings))) ?? runAlone(args, settings);
}

/** Runs a command of the gateway to its end in a process of its own, as users do. */
export function runAlone(args: string[], settings: Settings): Promise<Ended> {
  return launch(process.execPath, [binary, ...args], settings).ended;
}

/** Starts `serve` on a port that the system chooses and waits until it listens. @throws Error with its log if it ends first. */
export async function serve(settings: Settings, args: string[] = ['serve']): Promise<ServeProcess> {
  return untilServing(launch(process.execPath, [binary, ...args], settings));
}

/** Waits until a process, a gateway or a program that starts one, listens. @throws Error with its log if it ends first. */
export async function untilServing(running: Running): Promise<ServeProcess> {
  const { child, output, ended } = running;
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const url = await until(() => {
    if (over) throw new Error(`serve ended: ${output.stderr}`);
    return /listening on (http:\/\/[^\s"]+)/.exec(output.stderr)?.[1];
  }, 'serve listens');
  // What it prints when it listens has arrived when it has responded.
  await sendRequest(url, 'GET', '/livez');
  return {
    ...running,
    url,
    firstToken: tokensOf('apiToken').exec(output.stdout)?.[0],
    stop(signal = 'SIGTERM') {
      for (const sockets of Object.values(globalAgent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
      child.kill(signal);
      return ended;
    },
  };
}

/** Waits until a condition returns a truthy value, and returns it. @throws Error with the description after the timeout. */
export async function until<Value>(
  condition: () => Value | Promise<Value>,
  what: string | (() => string),
  timeoutMs = deadlineMs,
): Promise<NonNullable<Value>> {
  for (const deadline = Date.now() + timeoutMs; ; ) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`Timed out after ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}.`);
    await pause(10);
  }
}
