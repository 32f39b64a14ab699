import { metrics, registry } from './metrics.ts';
import { type MetricsReport, RequestMetrics, reportOf } from './request-metrics.ts';

/** How often the delay of the event loop is measured. */
const delayIntervalMs = 100;

/** What a process has counted and measured. */
export class ProcessMetrics {
  readonly requests = new RequestMetrics();
  private readonly startedMs = Date.now();
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

  /** For the query `metrics`. */
  read(): MetricsReport {
    return reportOf(this.requests.read(Date.now()), this.startedMs, Date.now());
  }

  /** For Prometheus. */
  render(): Promise<string> {
    measureProcess();
    this.measureGateway();
    return registry.metrics();
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
}
