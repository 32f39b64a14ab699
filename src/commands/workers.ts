import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import type { InstanceMetrics, MetricsData, ProcessData, ProcessMetrics } from '../metrics/process-metrics.ts';
import { RequestMetrics, reportOf, type SlotCounts } from '../metrics/request-metrics.ts';
import { stopSignals } from './stop-request.ts';

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
 * @returns the exit code: 0, or 1 when no worker could start before `stop` resolved, or one failed after that.
 */
export async function runWorkers(count: number, stop: Promise<string>, log: Logger): Promise<number> {
  let stopping = false;
  let everListened = false;
  let hasFailed = false;
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
          // A terminal sends signals to workers, too, and one that is still starting does not handle them.
          if (code !== 0 && !stopSignals.some((each) => each === signal)) {
            hasFailed = true;
            log.error(end);
          }
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
  return hasFailed || !(everListened || stopping) ? 1 : 0;
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

/** How often a worker sends its metrics to the primary process. */
const sendIntervalMs = 1_000;

/** How long a worker waits for the primary process before it responds with its own metrics. */
const responseTimeoutMs = 2_000;

/** From a worker. With `asks`, it wants the sum of all workers. */
interface WorkerMessage {
  /** The requests that it has counted since its last message. */
  readonly slots: readonly SlotCounts[];
  readonly metrics: ProcessData;
  readonly asks: boolean;
}

/** From the primary process: what all workers have counted, and what those that run have measured. */
interface SumMessage {
  readonly slots: readonly SlotCounts[];
  readonly sum: MetricsData;
  readonly startedMs: number;
}

/** In the primary process: adds up what workers have counted, for as long as it runs. */
function sumWorkerMetrics(): (worker: Worker) => void {
  const requests = new RequestMetrics();
  const running = new Map<Worker, ProcessData>();
  let ended: Promise<MetricsData> = Promise.resolve([]);
  const startedMs = Date.now();
  const sum = (): Promise<MetricsData> => {
    const current = [...running.values()].flatMap(({ counted, measured }) => [counted, measured]);
    return add(ended, current);
  };
  return (worker) => {
    // Not when it exits, because messages may arrive after that.
    worker.once('disconnect', () => {
      const last = running.get(worker);
      running.delete(worker);
      if (last) ended = add(ended, [last.counted]);
    });
    worker.on('message', async ({ slots, metrics, asks }: Partial<WorkerMessage>) => {
      if (!slots || !metrics) return;
      for (const counts of slots) requests.add(counts);
      running.set(worker, metrics);
      if (!asks) return;
      const response: SumMessage = { slots: requests.read(Date.now()), sum: await sum(), startedMs };
      if (worker.isConnected()) worker.send(response, () => {});
    });
  };
}

/** Combines metrics by their names and labels. */
async function add(first: Promise<MetricsData>, others: readonly MetricsData[]): Promise<MetricsData> {
  return AggregatorRegistry.aggregate([await first, ...others]).getMetricsAsJSON();
}

/**
 * In a worker: the metrics of all workers. Those of the others may be a second old. While the primary process does not respond,
 * they are those of this worker, and of requests of the last hour those that it has not sent yet.
 */
export function readWorkerMetrics(metrics: ProcessMetrics): InstanceMetrics {
  const own = { startedMs: Date.now() };
  let pending: Promise<SumMessage> | undefined;
  const send = async (asks: boolean): Promise<void> => {
    const data = await metrics.read();
    if (!process.connected) return;
    const message: WorkerMessage = { slots: metrics.requests.drain(), metrics: data, asks };
    process.send?.(message, undefined, undefined, () => {});
  };
  if (cluster.isWorker) setInterval(send, sendIntervalMs, false).unref();

  const ask = (): Promise<SumMessage> =>
    new Promise((resolve) => {
      const finish = (message: SumMessage): void => {
        clearTimeout(timer);
        process.off('message', receive);
        pending = undefined;
        resolve(message);
      };
      const receive = (message: SumMessage | string): void => {
        if (typeof message !== 'string' && message.sum) finish(message);
      };
      const answerAlone = async (): Promise<void> => {
        const { counted, measured } = await metrics.read();
        finish({ ...own, slots: metrics.requests.read(Date.now()), sum: [...counted, ...measured] });
      };
      const timer = setTimeout(answerAlone, responseTimeoutMs).unref();
      process.on('message', receive);
      void send(true);
    });
  const sum = (): Promise<SumMessage> => {
    pending ??= ask();
    return pending;
  };
  return {
    async read() {
      const { slots, startedMs } = await sum();
      return reportOf(slots, startedMs, Date.now());
    },
    async scrape() {
      return [(await sum()).sum];
    },
  };
}
