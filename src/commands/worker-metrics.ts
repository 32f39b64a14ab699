import cluster, { type Worker } from 'node:cluster';
import { combineGauges, Instruments, type SeriesData } from '../metrics/instruments.ts';
import type { InstanceMetrics, ProcessMetrics } from '../metrics/process-metrics.ts';
import { reportOf } from '../metrics/report.ts';
import { RequestMetrics, type SlotCounts } from '../metrics/request-metrics.ts';

/** How often a worker sends what it has counted to the primary process. */
const sendIntervalMs = 1_000;

/** How long a worker waits for the primary process before it responds with what it knows itself. */
const responseTimeoutMs = 2_000;

/** What a process has counted: the requests of the last hour by slots, and the series for Prometheus. */
interface Counted {
  readonly slots: readonly SlotCounts[];
  readonly series: readonly SeriesData[];
  readonly gauges: readonly SeriesData[];
}

/** From a worker: what it has counted since its last message. With `asks`, it wants the sum of all workers. */
interface CountedMessage {
  readonly counted: Counted;
  readonly asks: boolean;
}

/** From the primary process: what all workers have counted. */
interface SumMessage {
  readonly sum: Counted;
  readonly startedMs: number;
}

/** In the primary process: adds up what workers have counted, for as long as it runs. */
export function sumWorkerMetrics(): (worker: Worker) => void {
  const requests = new RequestMetrics();
  const instruments = new Instruments();
  const gauges = new Map<Worker, readonly SeriesData[]>();
  const startedMs = Date.now();
  const sum = (): Counted => ({
    slots: requests.read(Date.now()),
    series: instruments.read(),
    gauges: combineGauges(gauges.values()),
  });
  return (worker) => {
    worker.once('exit', () => gauges.delete(worker));
    worker.on('message', (message: CountedMessage | string) => {
      if (typeof message === 'string' || !message.counted) return;
      const { counted, asks } = message;
      for (const counts of counted.slots) requests.add(counts);
      instruments.add(counted.series);
      gauges.set(worker, counted.gauges);
      if (!asks || !worker.isConnected()) return;
      const response: SumMessage = { sum: sum(), startedMs };
      worker.send(response, () => {});
    });
  };
}

/**
 * In a worker: the metrics of all workers. What `metrics` has counted is moved to the primary process every second, so that the
 * others may be this much behind. While the primary process does not respond, they are those that this worker has not sent yet.
 */
export function readWorkerMetrics(metrics: ProcessMetrics): InstanceMetrics {
  const own = { startedMs: Date.now() };
  let pending: Promise<SumMessage> | undefined;
  const send = (asks: boolean): void => {
    if (!process.connected) return;
    const counted = { slots: metrics.requests.drain(), series: metrics.drainCounted(), gauges: metrics.gauges() };
    const message: CountedMessage = { counted, asks };
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
      const unsent = (): Counted => ({
        slots: metrics.requests.read(Date.now()),
        series: metrics.readCounted(),
        gauges: metrics.gauges(),
      });
      const timer = setTimeout(() => finish({ ...own, sum: unsent() }), responseTimeoutMs).unref();
      process.on('message', receive);
      send(true);
    });
  const sum = (): Promise<SumMessage> => {
    pending ??= ask();
    return pending;
  };
  return {
    async read() {
      const { sum: counted, startedMs } = await sum();
      return reportOf(counted.slots, startedMs, Date.now());
    },
    async scrape() {
      const { sum: counted } = await sum();
      return { counted: counted.series, gauges: counted.gauges };
    },
  };
}
