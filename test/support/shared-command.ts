import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Ended } from './process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(new URL('command-process.js', import.meta.url));

interface CommandProcess {
  child: ChildProcess;
  /** Rejects when it ends; pending while it runs. */
  ended: Promise<never>;
}

/** The process that runs the commands of this one's tests; none before the first command, and after it has ended. */
let shared: CommandProcess | undefined;
let isBusy = false;

/**
 * Runs a command of the compiled gateway to its end in a process that has run others before. At most one at a time, and none that
 * ends its process: it would end what runs there by then, which would look like success.
 *
 * @returns nothing while another one is running, because commands at the same time need processes of their own.
 * @throws Error when the process ends before the command has returned.
 */
export function runShared(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> | undefined {
  if (isBusy) return undefined;
  isBusy = true;
  return execute(args, env).finally(() => {
    isBusy = false;
  });
}

async function execute(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  shared ??= start();
  const { child, ended } = shared;
  const mark = `<end of ${randomUUID()}>`;
  const output = Promise.all([readUntil(mark, child.stdout), readUntil(mark, child.stderr)]);
  const returned = new Promise<number>((resolve) => {
    child.removeAllListeners('message').once('message', ({ code }: { code: number }) => resolve(code));
  });
  child.send({ args, env, mark });
  const [[stdout, stderr], code] = await Promise.all([output, Promise.race([returned, ended])]);
  return { code, signal: null, stdout, stderr };
}

function start(): CommandProcess {
  const { PATH, HOME } = process.env;
  const child = fork(program, [], { cwd: root, env: { PATH, HOME }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  child.stdout?.setEncoding('utf8');
  child.stderr?.setEncoding('utf8');
  child.once('exit', () => {
    shared = undefined;
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    throw new Error(
      `The process of the tests' commands ended (${signal ?? `exit status ${code}`}) before its command had returned.`,
    );
  });
  ended.catch(() => {}); // between two commands nobody waits for it
  return { child, ended };
}

/** What a stream has until a mark, or its end. */
function readUntil(mark: string, stream: Readable | null): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const finish = (): void => {
      stream?.off('data', receive).off('close', finish);
      resolve(text.endsWith(mark) ? text.slice(0, -mark.length) : text);
    };
    const receive = (part: string): void => {
      text += part;
      if (text.endsWith(mark)) finish();
    };
    stream?.on('data', receive).once('close', finish);
  });
}
