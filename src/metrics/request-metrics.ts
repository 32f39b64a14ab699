import { type ErrorCode, errorCatalog } from '../error-catalog.ts';
import type { CompletedRequest } from '../http/request.ts';
import { metrics, registry } from './metrics.ts';

/** The upper bound of the first bucket, in milliseconds, and how much greater each next bound is. */
const firstBoundMs = 0.25;
const growth = 1.25;

/** The number of buckets. The last one has no upper bound; it begins at about 9 seconds, when requests soon time out. */
export const bucketCount = 49;

/** The bucket of a latency. */
export function bucketOf(latencyMs: number): number {
  if (!(latencyMs > firstBoundMs)) return 0;
  return Math.min(bucketCount - 1, Math.ceil(Math.log(latencyMs / firstBoundMs) / Math.log(growth)));
}

/**
 * A quantile of the latencies that were counted, in milliseconds, with an error of at most a quarter: between the bounds of its
 * bucket latencies are assumed to be evenly distributed. `undefined` if nothing was counted.
 */
export function quantileOf(counts: ArrayLike<number>, quantile: number): number | undefined {
  let total = 0;
  for (let bucket = 0; bucket < bucketCount; bucket += 1) total += counts[bucket] ?? 0;
  if (total === 0) return undefined;
  const rank = Math.max(1, Math.ceil(quantile * total));
  let before = 0;
  for (let bucket = 0; ; bucket += 1) {
    const count = counts[bucket] ?? 0;
    if (before + count >= rank) {
      const from = bucket === 0 ? 0 : firstBoundMs * growth ** (bucket - 1);
      return from + (firstBoundMs * growth ** bucket - from) * ((rank - before) / count);
    }
    before += count;
  }
}

/** The seconds that a slot covers, and the number of slots: the last hour. */
export const slotSeconds = 30;
export const slotCount = 120;

/** A completed request. */
export interface RequestSample {
  readonly latencyMs: number;
  /** Each code that the response reports, once. */
  readonly errorCodes: readonly ErrorCode[];
}

/** What was counted in a slot. */
export interface SlotCounts {
  /** The time since 1970 in units of a slot. */
  readonly slot: number;
  /** The requests; then those of each bucket of latencies; then those of each error code, in the order of {@link errorCodes}. */
  readonly counts: readonly number[];
}

/** The error codes that are counted. */
const errorCodes = Object.keys(errorCatalog) as readonly ErrorCode[];
const codeIndexes: ReadonlyMap<ErrorCode, number> = new Map(errorCodes.map((code, index) => [code, index]));

const latencyOffset = 1;
const errorOffset = latencyOffset + bucketCount;
const width = errorOffset + errorCodes.length;

/** The slot of a point in time. */
export const slotAt = (timeMs: number): number => Math.floor(timeMs / (slotSeconds * 1_000));

/** Counts the requests of the last hour in a ring of slots: its memory is constant, about 35 KB. */
export class RequestMetrics {
  private readonly slots = new Float64Array(slotCount).fill(-1);
  private readonly counts = new Uint32Array(slotCount * width);

  /** Counts a request that was responded to, or can no longer be, here and for Prometheus. */
  readonly complete = ({ route, method, operation, status, durationMs, errorCodes }: CompletedRequest): void => {
    const path = route?.path ?? 'unmatched';
    metrics.requests.inc({ route: path, operation, status: status ?? 'disconnected' });
    if (status !== undefined) metrics.requestDuration.observe({ route: path, operation }, durationMs / 1_000);
    for (const code of errorCodes) metrics.errors.inc({ route: path, code });
    // Pages, files, health checks and preflight requests would hide what the APIs do.
    if (status === undefined || !route || route.credential === 'ignored' || method === 'OPTIONS') return;
    this.record({ latencyMs: durationMs, errorCodes }, Date.now());
  };

  /** Counts a request that is completed at a time. */
  record({ latencyMs, errorCodes }: RequestSample, timeMs: number): void {
    const row = this.rowOf(slotAt(timeMs));
    this.increment(row, 1);
    this.increment(row + latencyOffset + bucketOf(latencyMs), 1);
    for (const code of errorCodes) this.increment(row + errorOffset + (codeIndexes.get(code) as number), 1);
  }

  /** The slots of the hour before a time in which there was a request, the earliest first. */
  read(timeMs: number): SlotCounts[] {
    const last = slotAt(timeMs);
    const found: SlotCounts[] = [];
    this.slots.forEach((slot, index) => {
      if (slot < 0 || slot <= last - slotCount || slot > last) return;
      found.push({ slot, counts: [...this.counts.subarray(index * width, (index + 1) * width)] });
    });
    return found.sort((a, b) => a.slot - b.slot);
  }

  /** Where the counts of a slot begin. Those of an hour before are cleared. */
  private rowOf(slot: number): number {
    const index = slot % slotCount;
    const row = index * width;
    if (this.slots[index] !== slot) {
      this.slots[index] = slot;
      this.counts.fill(0, row, row + width);
    }
    return row;
  }

  private increment(index: number, by: number): void {
    this.counts[index] = (this.counts[index] as number) + by;
  }
}

/** Where the metrics of a process are read. */
export interface MetricsSource {
  read(): MetricsReport;
}

/** What was counted in some period. */
export interface PeriodReport {
  /** The number of requests. */
  readonly requests: number;
  /** In milliseconds; nothing without requests. */
  readonly latency: { readonly p50Ms: number; readonly p99Ms: number } | undefined;
  /** How many responses reported each error code; codes that none reported are left out. The most frequent one comes first. */
  readonly errors: readonly { readonly code: ErrorCode; readonly count: number }[];
}

/** A slot of the last hour. */
export interface SlotReport extends PeriodReport {
  readonly startedAt: Date;
  readonly requestsPerSecond: number;
}

/** The metrics of a process: in total, and by slots without gaps, the earliest first. The last slot is not over yet. */
export interface MetricsReport extends PeriodReport {
  /** From when on requests are counted. */
  readonly since: Date;
  readonly slots: readonly SlotReport[];
}

/** Describes what was counted in the hour before `nowMs` by a process that started at `startedMs`. */
export function reportOf(counted: readonly SlotCounts[], startedMs: number, nowMs: number): MetricsReport {
  const last = slotAt(nowMs);
  const first = Math.max(slotAt(startedMs), last - slotCount + 1);
  const slotMs = slotSeconds * 1_000;
  const bySlot = new Map(counted.map(({ slot, counts }) => [slot, counts]));
  const slots: SlotReport[] = [];
  const total: number[] = [];
  for (let slot = first; slot <= last; slot += 1) {
    const counts = bySlot.get(slot) ?? [];
    counts.forEach((count, column) => {
      total[column] = (total[column] ?? 0) + count;
    });
    const fromMs = Math.max(slot * slotMs, startedMs);
    // At least a second: the rate of a few milliseconds would say nothing.
    const seconds = Math.max(1, (Math.min((slot + 1) * slotMs, nowMs) - fromMs) / 1_000);
    const period = periodOf(counts);
    slots.push({ startedAt: new Date(slot * slotMs), requestsPerSecond: round(period.requests / seconds), ...period });
  }
  return { since: new Date(Math.max(startedMs, first * slotMs)), slots, ...periodOf(total) };
}

function periodOf([requests = 0, ...columns]: readonly number[]): PeriodReport {
  const p50Ms = quantileOf(columns, 0.5);
  const p99Ms = quantileOf(columns, 0.99);
  const counts = columns.slice(bucketCount);
  const errors = errorCodes.flatMap((code, index) => {
    const count = counts[index] ?? 0;
    return count > 0 ? [{ code, count }] : [];
  });
  return {
    requests,
    latency: p50Ms === undefined || p99Ms === undefined ? undefined : { p50Ms: round(p50Ms), p99Ms: round(p99Ms) },
    errors: errors.sort((a, b) => b.count - a.count),
  };
}

/** Three decimals: more would pretend to an accuracy that there is not. */
const round = (value: number): number => Math.round(value * 1_000) / 1_000;

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
