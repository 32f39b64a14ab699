import { constants } from 'node:os';

/** The signals that ask a process to stop: of supervisors, of Ctrl-C, and of a terminal that is closed. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Within this time two signals are one: npm repeats what the terminal has sent to the gateway, too. */
const sameSignalMs = 1_000;

/** The reason of the signal that {@link untilStopSignal} returns. */
export class Stopped extends Error {
  readonly by: NodeJS.Signals;

  constructor(by: NodeJS.Signals) {
    super(`Stopped by ${by}.`);
    this.by = by;
  }
}

/** The exit status of a process that a signal ends, as shells have it. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Returns a signal that is aborted when this process is asked to stop. A second request ends the process at once. */
export function untilStopSignal(): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      first ??= performance.now();
      controller.abort(new Stopped(signal));
      if (performance.now() - first >= sameSignalMs) process.exit(exitCodeOf(signal));
    });
  }
  return controller.signal;
}
