import type { Series } from './measure.ts';

/** The median of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [below, above] = [sorted[Math.ceil(middle) - 1] ?? Number.NaN, sorted[Math.floor(middle)] ?? Number.NaN];
  return (below + above) / 2;
}

/** The median of the available values; `undefined` if there are none. */
export function medianOf(numbers: readonly (number | undefined)[]): number | null {
  const known = numbers.filter((number) => number !== undefined);
  return known.length > 0 ? median(known) : null;
}

/** The figures of one system with one workload: each the median of its rounds. */
export interface Result {
  readonly workload: string;
  readonly system: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** `null` if the operating system does not report it. */
  readonly cpuMicrosecondsPerRequest: number | null;
  readonly rssMiB: number | null;
}

/** The gateway's requests per second divided by those of another system. */
export interface Ratio {
  readonly workload: string;
  readonly against: string;
  readonly requestsPerSecond: number;
}

/** The medians of some series. */
export function summarise(series: readonly Series[]): Result[] {
  return series.map(({ workload, system, measurements }) => ({
    workload,
    system,
    requestsPerSecond: round(median(measurements.map((one) => one.requestsPerSecond)), 0),
    p50Ms: round(median(measurements.map((one) => one.p50Ms)), 3),
    p99Ms: round(median(measurements.map((one) => one.p99Ms)), 3),
    cpuMicrosecondsPerRequest: orNull(medianOf(measurements.map((one) => one.cpuMicrosecondsPerRequest)), 1),
    rssMiB: orNull(medianOf(measurements.map((one) => one.rssMiB)), 1),
  }));
}

/** The gateway against each other system that was measured with the same workload. */
export function ratios(results: readonly Result[]): Ratio[] {
  return results.flatMap((other) => {
    const ours = results.find(({ workload, system }) => workload === other.workload && system === 'gateway');
    if (!ours || other.system === 'gateway') return [];
    const times = ours.requestsPerSecond / other.requestsPerSecond;
    return [{ workload: other.workload, against: other.system, requestsPerSecond: round(times, 3) }];
  });
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
const orNull = (value: number | null, digits: number): number | null => (value === null ? null : round(value, digits));
