import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the first process tells a worker. */
const stopMessage = 'stop';

/** How long a worker that ended by itself stays away, so that one that cannot start does not keep the machine busy. */
const restartDelayMs = 1_000;

/**
 * Runs `count` processes that share one port, replaces those that end by themselves, and on a signal stops them all and
 * waits for them. A second signal ends them at once.
 *
 * @returns the exit code: 0, or 1 when the first of all workers could not even start.
 */
export async function runWorkers(count: number, stop: Promise<NodeJS.Signals>): Promise<number> {
  let stopping = false;
  let everListened = false;
  const workers = new Set<Worker>();

  await new Promise<void>((resolve) => {
    const start = (): void => {
      const worker = cluster.fork();
      workers.add(worker);
      worker.once('listening', () => {
        everListened = true;
      });
      worker.once('exit', () => {
        workers.delete(worker);
        if (!stopping && (everListened || workers.size > 0))
          void sleep(restartDelayMs).then(() => (stopping ? undefined : start()));
        else if (workers.size === 0) resolve();
      });
    };
    for (let started = 0; started < count; started += 1) start();
    void stop.then(() => {
      stopping = true;
      for (const worker of workers) if (worker.isConnected()) worker.send(stopMessage);
      if (workers.size === 0) resolve();
    });
  });
  return everListened ? 0 : 1;
}

/**
 * Resolves when this process, a worker, is to stop: when the first process says so, or is gone. Signals are for the first
 * process, though a terminal sends them to all.
 */
export function untilToldToStop(): Promise<string> {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {});
  // Else Node ends a worker in the middle of its requests as soon as the first process is gone.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  return new Promise((resolve) => {
    process.on('message', (message) => message === stopMessage && resolve('stop'));
    process.once('disconnect', () => resolve('the first process is gone'));
    // Being told must not keep a process that is done from ending.
    process.channel?.unref();
  });
}
