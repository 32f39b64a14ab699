/** The process that started this one. */
const parent = process.ppid;

/** Whether npm runs this process: `npm start`, `npm run`, `npx`. It puts a shell in between, and sets this variable. */
const isBelowNpm = process.env['npm_lifecycle_event'] !== undefined;

/** How often it is looked whether npm is gone. */
const parentCheckMs = 200;

/** How long after the first signal another one is taken for the same, below npm: it passes on what a terminal sends to all. */
const sameSignalMs = 1_000;

/**
 * Resolves with the reason, in words, when this process is to stop: SIGTERM, SIGINT, or the end of the npm that runs it. npm
 * passes a signal on to its shell only, and not every shell passes it on; without this, the gateway would outlive both.
 *
 * From then on a second signal ends the process at once, with exit code 1.
 */
export function untilStopRequested(): Promise<string> {
  return new Promise((resolve) => {
    let first: number | undefined;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (first !== undefined && !(isBelowNpm && Date.now() - first < sameSignalMs)) process.exit(1);
        first ??= Date.now();
        resolve(signal);
      });
    }
    if (!isBelowNpm) return;
    const check = setInterval(() => {
      if (hasParent()) return;
      clearInterval(check);
      resolve('npm has ended');
    }, parentCheckMs);
    check.unref();
  });
}

/** POSIX systems hand an orphan to another process; Windows goes on naming the one that is gone. */
function hasParent(): boolean {
  if (process.ppid !== parent) return false;
  try {
    return process.kill(parent, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
