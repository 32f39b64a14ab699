import cluster, { type Worker } from 'node:cluster';
import { type MetricsReport, type MetricsSource, reportOf } from '../metrics/report.ts';
import { RequestMetrics, type SlotCounts } from '../metrics/request-metrics.ts';

/** How often a worker sends what it has counted to the primary process. */
const sendIntervalMs = 1_000;

/** How long a worker waits for the primary process before it responds with what it knows itself. */
const responseTimeoutMs = 2_000;

/** From a worker: what it has counted since its last message. With `asks`, it wants the sum of all workers. */
interface CountedMessage {
  readonly counted: readonly SlotCounts[];
  readonly asks: boolean;
}

/** From the primary process: what all workers have counted in the last hour. */
interface SumMessage {
  readonly sum: readonly SlotCounts[];
  readonly startedMs: number;
}

/** In the primary process: adds up what workers have counted, for as long as it runs. */
export function sumWorkerMetrics(): (worker: Worker) => void {
  const metrics = new RequestMetrics();
  const startedMs = Date.now();
  return (worker) =>
    worker.on('message', (message: CountedMessage | string) => {
      if (typeof message === 'string' || !Array.isArray(message.counted)) return;
      for (const counts of message.counted) metrics.add(counts);
      const response: SumMessage = { sum: metrics.read(Date.now()), startedMs };
      if (message.asks && worker.isConnected()) worker.send(response, () => {});
    });
}

/**
 * In a worker: the metrics of all workers. What `metrics` has counted is moved to the primary process every second, so that the others may be
 * this much behind. While the primary process does not respond, they are those that this worker has not sent yet.
 */
export function readWorkerMetrics(metrics: RequestMetrics): MetricsSource {
  const startedMs = Date.now();
  let pending: Promise<MetricsReport> | undefined;
  const send = (asks: boolean): void => {
    if (!process.connected) return;
    const message: CountedMessage = { counted: metrics.drain(), asks };
    if (asks || message.counted.length > 0) process.send?.(message, undefined, undefined, () => {});
  };
  if (cluster.isWorker) setInterval(send, sendIntervalMs, false).unref();

  const ask = (): Promise<MetricsReport> =>
    new Promise((resolve) => {
      const finish = (sum: readonly SlotCounts[], sinceMs: number): void => {
        clearTimeout(timer);
        process.off('message', receive);
        pending = undefined;
        resolve(reportOf(sum, sinceMs, Date.now()));
      };
      const receive = (message: SumMessage | string): void => {
        if (typeof message !== 'string' && Array.isArray(message.sum)) finish(message.sum, message.startedMs);
      };
      const timer = setTimeout(() => finish(metrics.read(Date.now()), startedMs), responseTimeoutMs).unref();
      process.on('message', receive);
      send(true);
    });
  return {
    read() {
      pending ??= ask();
      return pending;
    },
  };
}
