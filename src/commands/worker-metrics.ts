import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { InstanceMetrics, MetricsData, ProcessData, ProcessMetrics } from '../metrics/process-metrics.ts';
import { reportOf } from '../metrics/report.ts';
import { RequestMetrics, type SlotCounts } from '../metrics/request-metrics.ts';

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
export function sumWorkerMetrics(): (worker: Worker) => void {
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
