import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** What the first process sends to a worker that is to stop. */
const stopMessage = 'stop';

/** How long a worker that ended by itself stays away, so that one that cannot start does not keep the machine busy. */
const restartDelayMs = 1_000;

/**
 * Runs `count` processes that share one port, replaces those that end by themselves, and stops them all once `stop` resolves
 * with a reason.
 *
 * @returns the exit code: 0, or 1 when the first of all workers could not even start.
 */
export async function runWorkers(count: number, stop: Promise<string>, log: Logger): Promise<number> {
  let stopping = false;
  let everListened = false;
  const workers = new Set<Worker>();

  await new Promise<void>((resolve) => {
    const start = (replaced?: number): void => {
      const worker = cluster.fork();
      const { pid } = worker.process;
      workers.add(worker);
      worker.once('listening', () => {
        everListened = true;
        if (replaced !== undefined) log.info(`worker ${pid} listens in place of worker ${replaced}`);
      });
      worker.once('exit', (code, signal) => {
        workers.delete(worker);
        const end = `worker ${pid} ended ${signal ? `by ${signal}` : `with exit code ${code}`}`;
        if (stopping) {
          if (code !== 0) log.warn(end);
          if (workers.size === 0) resolve();
        } else if (everListened || workers.size > 0) {
          log.error(`${end}; starting another in ${restartDelayMs / 1_000} s`);
          void sleep(restartDelayMs).then(() => (stopping ? undefined : start(pid)));
        } else {
          resolve();
        }
      });
    };
    for (let started = 0; started < count; started += 1) start();
    void stop.then((reason) => {
      stopping = true;
      log.info(`${reason}: stopping ${workers.size} workers`);
      for (const worker of workers) if (worker.isConnected()) worker.send(stopMessage);
      if (workers.size === 0) resolve();
    });
  });
  return everListened ? 0 : 1;
}

/**
 * Resolves with the reason, in words, when this process, a worker, is to stop: the first process says so, or is gone. Signals
 * are for the first process, though a terminal sends them to all.
 */
export function untilStoppedByPrimary(): Promise<string> {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {});
  // Else Node ends a worker in the middle of its requests as soon as the first process is gone.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  return new Promise((resolve) => {
    process.on('message', (message) => message === stopMessage && resolve('stop'));
    process.once('disconnect', () => resolve('the first process is gone'));
    // Waiting for a message must not keep a process that is done from ending.
    process.channel?.unref();
  });
}
