import { constants } from 'node:os';
import { processIo } from './process-io.ts';

/** The signals that stop a process: those of supervisors, of Ctrl-C, and of a terminal that is closed. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The process that started this one. */
const parent = process.ppid;

/** Whether npm started this process (`npm start`, `npm run`, `npx`). It runs a shell in between, and sets this variable. */
const isBelowNpm = process.env['npm_lifecycle_event'] !== undefined;

/** How often to check whether npm is still running. */
const parentCheckMs = 200;

/**
 * How long a repeated signal counts as the first one: npm forwards what the terminal sends to every process, and programs such as
 * `timeout` signal both a process and its group. Nobody presses a key twice in the shorter time.
 */
const sameSignalMs = isBelowNpm ? 1_000 : 100;

/**
 * Resolves with the reason, as text, when this process must stop: one of {@link stopSignals}, or the exit of the npm that started
 * it. npm forwards a signal to its shell only, and not every shell forwards it; without this, the gateway would outlive both.
 *
 * A second SIGTERM or SIGINT stops the process immediately, with its {@link exitCodeOf}. SIGHUP does not count: shells repeat it
 * when their terminal is closed, and supervisors may send it after SIGTERM, or before.
 *
 * @param ended is aborted once nothing is left to stop: signals then end the process as usual.
 */
export function untilStopRequested(ended?: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let first: number | undefined;
    for (const signal of stopSignals) {
      const receive = () => {
        if (ended?.aborted) {
          process.off(signal, receive);
          process.kill(process.pid, signal);
          return;
        }
        resolve(signal);
        if (signal === 'SIGHUP') return;
        first ??= performance.now();
        if (performance.now() - first >= sameSignalMs) process.exit(exitCodeOf(signal));
      };
      // Not taken off at the end: a signal that has arrived, and was not handled yet, would be lost.
      process.on(signal, receive);
    }
    if (!isBelowNpm) return;
    const check = setInterval(() => {
      if (hasParent()) return;
      clearInterval(check);
      resolve('npm exited');
    }, parentCheckMs);
    check.unref();
  });
}

/** POSIX systems reparent an orphan; Windows keeps reporting the parent that exited. */
function hasParent(): boolean {
  if (process.ppid !== parent) return false;
  try {
    return process.kill(parent, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The exit status of a command that stopped for this reason: 128 and the number of the signal, as shells have it. */
export const exitCodeOf = (reason: string): number =>
  128 + (constants.signals[reason as NodeJS.Signals] ?? constants.signals.SIGINT);

/** A request to stop. */
export interface StopRequest {
  /** Is aborted at the first one. */
  readonly signal: AbortSignal;
  /** Its reason, as {@link untilStopRequested} has it; empty as long as there is none. */
  readonly reason: () => string;
}

/** A request to stop, for work that takes a signal. @param stop resolves with the reason. */
export function abortOn(stop: Promise<string>): StopRequest {
  const controller = new AbortController();
  let stopped = '';
  void stop.then((reason) => {
    stopped = reason;
    controller.abort(new Error(`Stopped by ${reason}.`));
  });
  return { signal: controller.signal, reason: () => stopped };
}

/**
 * Does the work of a command, which a request to stop does not end: it would leave the bundled PostgreSQL running, and the secret
 * of an API token that was just created unprinted. The work ends as soon as it can.
 *
 * @param work returns the exit status. It may throw the reason of the signal, which is then printed.
 * @returns the exit status; that of the signal if there was one.
 */
export async function untilStopped(work: (stop: StopRequest) => Promise<number>): Promise<number> {
  const ended = new AbortController();
  const stop = abortOn(untilStopRequested(ended.signal));
  const { signal, reason } = stop;
  try {
    const status = await work(stop);
    return signal.aborted ? exitCodeOf(reason()) : status;
  } catch (error) {
    if (error !== signal.reason) throw error;
    processIo.stderr.write(`Stopped by ${reason()}.\n`);
    return exitCodeOf(reason());
  } finally {
    ended.abort();
    if (signal.aborted) endWithoutReader();
  }
}

/** How long a process that was stopped waits for the reader of its output. */
const readerTimeoutMs = 2_000;

/** Ends a process that was stopped even if the rest of its output is not being read, which Node.js would wait for. */
export function endWithoutReader(): void {
  setTimeout(() => process.exit(), readerTimeoutMs).unref();
}
