import type { Series } from './measure.ts';

/** The median of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [below, above] = [sorted[Math.ceil(middle) - 1] ?? Number.NaN, sorted[Math.floor(middle)] ?? Number.NaN];
  return (below + above) / 2;
}

/** A median, and the interval in which that of all possible rounds lies with a probability of at least 95 %. */
export interface MedianInterval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The least number of rounds for {@link medianInterval}. */
export const minRoundsOfInterval = 6;

/**
 * The median of the quotients of rounds with its interval, from their order alone: of n values, the k-th smallest to the k-th
 * largest, for the largest k with which at most 2.5 % of all samples lie on one side of it (binomial distribution). Nothing is
 * assumed of how they are distributed. `undefined` for fewer than {@link minRoundsOfInterval} values.
 */
export function medianInterval(numbers: readonly number[]): MedianInterval | undefined {
  if (numbers.length < minRoundsOfInterval) return undefined;
  const sorted = [...numbers].sort((a, b) => a - b);
  const { length } = sorted;
  let rank = 0;
  // How many of the 2 ** length samples have `rank` values below the median, and how many have at most as many.
  for (let ways = 1, atMost = 1; ; rank += 1) {
    ways *= (length - rank) / (rank + 1);
    atMost += ways;
    if (atMost > 0.025 * 2 ** length) break;
  }
  const [low, high] = [sorted[rank] as number, sorted[length - 1 - rank] as number];
  return { median: median(numbers), low, high };
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
