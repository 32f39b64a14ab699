import { metricDefinitions } from './definitions.ts';
import { type Instruments, increment, observe, type SeriesData } from './instruments.ts';
import { type MetricsSource, reportOf } from './report.ts';
import { RequestMetrics } from './request-metrics.ts';

/** How often the delay of the event loop is measured. */
const delayIntervalMs = 100;

const { bounds } = metricDefinitions.eventLoopDelay;

/** What a process has counted and measured. */
export class ProcessMetrics {
  /** For the query `metrics`. */
  readonly requests = new RequestMetrics();
  private readonly instruments: Instruments;
  private readonly readGauges: () => readonly SeriesData[];
  private readonly timer: NodeJS.Timeout;
  private cpuMicroseconds = 0;

  /**
   * @param instruments what is counted, for Prometheus.
   * @param readGauges reads the gauges of the gateway; those of every process are added.
   */
  constructor(instruments: Instruments, readGauges: () => readonly SeriesData[]) {
    this.instruments = instruments;
    this.readGauges = readGauges;
    const delays = instruments.series('eventLoopDelay');
    let dueMs = performance.now() + delayIntervalMs;
    this.timer = setInterval(() => {
      const nowMs = performance.now();
      observe(delays, bounds, Math.max(0, nowMs - dueMs) / 1_000);
      dueMs = nowMs + delayIntervalMs;
    }, delayIntervalMs).unref();
  }

  /** Everything that was counted. */
  readCounted(): SeriesData[] {
    this.countCpu();
    return this.instruments.read();
  }

  /** What was counted since the last call, for a process that adds it up. */
  drainCounted(): SeriesData[] {
    this.countCpu();
    return this.instruments.drain();
  }

  /** The gauges as they are now. */
  gauges(): SeriesData[] {
    const { rss, heapUsed } = process.memoryUsage();
    const startedSeconds = Math.floor(performance.timeOrigin / 1_000);
    return [
      ...this.readGauges(),
      { metric: 'residentMemory', labels: [], values: [rss] },
      { metric: 'heapUsed', labels: [], values: [heapUsed] },
      { metric: 'startTime', labels: [], values: [startedSeconds] },
      { metric: 'processes', labels: [], values: [1] },
    ];
  }

  /** Stops measuring. */
  stop(): void {
    clearInterval(this.timer);
  }

  private countCpu(): void {
    const { user, system } = process.cpuUsage();
    increment(this.instruments.series('cpu'), (user + system - this.cpuMicroseconds) / 1e6);
    this.cpuMicroseconds = user + system;
  }
}

/** What the processes of an instance have counted and measured. */
export interface Scrape {
  readonly counted: readonly SeriesData[];
  readonly gauges: readonly SeriesData[];
}

/** Where the metrics of an instance are read, in either form. */
export interface InstanceMetrics extends MetricsSource {
  scrape(): Scrape | Promise<Scrape>;
}

/** The metrics of an instance that has one process. */
export function singleProcess(metrics: ProcessMetrics): InstanceMetrics {
  const startedMs = Date.now();
  return {
    read: () => reportOf(metrics.requests.read(Date.now()), startedMs, Date.now()),
    scrape: () => ({ counted: metrics.readCounted(), gauges: metrics.gauges() }),
  };
}
