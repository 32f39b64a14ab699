import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { stopSignals } from '../first-process.ts';
import { sumWorkerMetrics } from './worker-metrics.ts';

/** The message with which the primary process stops a worker. */
const stopMessage = 'stop';

/** The message of a worker that from now on receives {@link stopMessage}; one that was sent earlier is lost. */
const readyMessage = 'ready';

/** The delay before a worker that exited is restarted, so that one that cannot start does not use up the CPU. */
const restartDelayMs = 1_000;

/**
 * Runs `count` processes that share one port, also the one that the system chose for `PORT=0`, restarts those that exit
 * unexpectedly, and stops all of them once `stop` resolves with a reason.
 *
 * @returns the exit code: 0, or 1 when no worker could start before `stop` resolved.
 */
export async function runWorkers(count: number, stop: Promise<string>, log: Logger): Promise<number> {
  let stopping = false;
  let everListened = false;
  const workers = new Set<Worker>();
  /** Those that listen on the port of the settings as the first of them got it. */
  const asConfigured = new Set<Worker>();
  /** The port that the first worker got. */
  let port: number | undefined;
  const sumMetricsOf = sumWorkerMetrics();
  // Workers accept connections themselves. Handed over by this process, those to a worker that dies would stay open unanswered.
  cluster.schedulingPolicy = cluster.SCHED_NONE;

  await new Promise<void>((resolve) => {
    const start = (replaced?: number): void => {
      // Node.js forgets the listener once no worker uses it. If the system chose its port, it would choose another one.
      const isKnown = port !== undefined && asConfigured.size === 0;
      const worker = cluster.fork(isKnown ? { PORT: String(port) } : undefined);
      const { pid } = worker.process;
      workers.add(worker);
      sumMetricsOf(worker);
      // A message to a worker that has just exited fails before the exit is noticed, which is handled below.
      worker.on('error', () => {});
      worker.on('message', (message) => {
        if (stopping && message === readyMessage) worker.send(stopMessage);
      });
      worker.once('listening', (address) => {
        everListened = true;
        port ??= address.port;
        // The last one that used the listener has exited since this one was started; the next start takes the known port.
        if (address.port !== port && !stopping) return void worker.process.kill('SIGKILL');
        if (!isKnown) asConfigured.add(worker);
        if (replaced !== undefined) log.info(`worker ${pid} replaced worker ${replaced}`);
      });
      worker.once('exit', (code, signal) => {
        workers.delete(worker);
        asConfigured.delete(worker);
        const end = `worker ${pid} ${signal ? `was killed by ${signal}` : `exited with code ${code}`}`;
        if (stopping) {
          if (code !== 0) log.warn(end);
          if (workers.size === 0) resolve();
        } else if (everListened || workers.size > 0) {
          log.error(`${end}; restarting in ${restartDelayMs / 1_000} s`);
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
  return everListened || stopping ? 0 : 1;
}

/**
 * Resolves with the reason, as text, when the primary process stops this worker. Signals are handled by that process, although a
 * terminal sends them to every process. If it is killed, Node.js ends its workers at once.
 */
export function untilStoppedByPrimary(): Promise<string> {
  for (const signal of stopSignals) process.on(signal, () => {});
  // A message to a process that has just exited fails before Node.js notices, and ends this one.
  cluster.worker?.on('error', () => {});
  return new Promise((resolve) => {
    process.on('message', (message) => message === stopMessage && resolve('stop'));
    process.send?.(readyMessage);
    // Waiting for a message must not keep a finished process running.
    process.channel?.unref();
  });
}
