/**
 * Ends the process at SIGTERM and SIGINT while nothing else handles them, if it is the first one of a container: the system
 * ignores signals that such a process does not handle, so it could not be stopped while it loads its modules.
 */
export function endAtSignals(): void {
  if (process.pid !== 1) return;
  for (const [signal, exitCode] of [['SIGTERM', 143] as const, ['SIGINT', 130] as const]) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(exitCode);
    });
  }
}
