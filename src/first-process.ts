import { constants } from 'node:os';

/** The signals that stop a process: those of supervisors, of Ctrl-C, and of a terminal that is closed. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Ends the process at {@link stopSignals} while nothing else handles them, if it is the first one of a container: the system
 * ignores signals that such a process does not handle, so it could not be stopped while it loads its modules.
 */
export function endAtSignals(): void {
  if (process.pid !== 1) return;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
  }
}
