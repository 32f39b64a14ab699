import type { Registry } from 'prom-client';
import { counted, measured, metrics } from './metrics.ts';
import { type MetricsSource, RequestMetrics, reportOf } from './request-metrics.ts';

/** How often the delay of the event loop is measured. */
const delayIntervalMs = 100;

/** Metrics with their series as plain data, which can be sent to another process. */
export type MetricsData = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The metrics of a process. */
export interface ProcessData {
  /** Counters and histograms, since the process started. */
  readonly counted: MetricsData;
  /** Gauges, as they are now. */
  readonly measured: MetricsData;
}

/** What a process has counted and measured. */
export class ProcessMetrics {
  /** For the query `metrics`. */
  readonly requests = new RequestMetrics();
  private readonly measureGateway: () => void;
  private readonly timer: NodeJS.Timeout;

  /** @param measureGateway sets the gauges of the gateway; those of every process are set here. */
  constructor(measureGateway: () => void) {
    this.measureGateway = measureGateway;
    let dueMs = performance.now() + delayIntervalMs;
    this.timer = setInterval(() => {
      const nowMs = performance.now();
      metrics.eventLoopDelay.observe(Math.max(0, nowMs - dueMs) / 1_000);
      dueMs = nowMs + delayIntervalMs;
    }, delayIntervalMs).unref();
  }

  /** Reads all metrics. */
  async read(): Promise<ProcessData> {
    measureProcess();
    this.measureGateway();
    return { counted: await counted.getMetricsAsJSON(), measured: await measured.getMetricsAsJSON() };
  }

  /** Stops measuring. */
  stop(): void {
    clearInterval(this.timer);
  }
}

function measureProcess(): void {
  const { user, system } = process.cpuUsage();
  metrics.cpu.reset();
  metrics.cpu.inc((user + system) / 1e6);
  const { rss, heapUsed } = process.memoryUsage();
  metrics.residentMemory.set(rss);
  metrics.heapUsed.set(heapUsed);
  metrics.startTime.set(Math.floor(performance.timeOrigin / 1_000));
  metrics.processes.set(1);
}

/** Where the metrics of an instance are read, in either form. */
export interface InstanceMetrics extends MetricsSource {
  /** For Prometheus: metrics that are combined by their names and labels. */
  scrape(): Promise<readonly MetricsData[]>;
}

/** The metrics of an instance that has one process. */
export function singleProcess(process: ProcessMetrics): InstanceMetrics {
  const startedMs = Date.now();
  return {
    read: () => reportOf(process.requests.read(Date.now()), startedMs, Date.now()),
    async scrape() {
      const { counted, measured } = await process.read();
      return [counted, measured];
    },
  };
}
