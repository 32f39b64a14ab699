import type { ErrorCode } from '../error-catalog.ts';
import { bucketCount, errorCodes, quantileOf, type SlotCounts, slotAt, slotCount, slotSeconds } from './request-metrics.ts';

/** Where the metrics of an instance are read. */
export interface MetricsSource {
  read(): MetricsReport | Promise<MetricsReport>;
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

/** The metrics of an instance: in total, and by slots without gaps, the earliest first. The last slot is not over yet. */
export interface MetricsReport extends PeriodReport {
  /** From when on requests are counted. */
  readonly since: Date;
  readonly slots: readonly SlotReport[];
}

/** Describes what was counted in the hour before `nowMs` by an instance that started at `startedMs`. */
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
