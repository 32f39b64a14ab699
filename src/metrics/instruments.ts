import { type MetricDefinition, type MetricKey, metricDefinitions } from './definitions.ts';

/**
 * The numbers of a series. A counter or gauge has one. A histogram has the sum of its values first, then the number of values in
 * each of its buckets, of which the last one has no upper bound.
 */
export type SeriesValues = Float64Array;

/** A series as plain data, which can be sent to another process. */
export interface SeriesData {
  readonly metric: MetricKey;
  /** In the order of the definition's labels. */
  readonly labels: readonly string[];
  readonly values: readonly number[];
}

interface Series {
  readonly metric: MetricKey;
  readonly labels: readonly string[];
  readonly values: SeriesValues;
}

/** Adds to a counter, or sets a gauge off from zero. */
export function increment(values: SeriesValues, by = 1): void {
  values[0] = (values[0] as number) + by;
}

/** Counts a value in a histogram. @param bounds those of its definition. */
export function observe(values: SeriesValues, bounds: readonly number[], value: number): void {
  let bucket = 0;
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
  values[0] = (values[0] as number) + value;
  values[bucket + 1] = (values[bucket + 1] as number) + 1;
}

/** The values of a new series: zeros. */
export function createValues(metric: MetricKey): SeriesValues {
  const { bounds }: MetricDefinition = metricDefinitions[metric];
  return new Float64Array(bounds ? bounds.length + 2 : 1);
}

/** The series of a process, or the sum of several processes. As many as there are distinct labels: callers bound them. */
export class Instruments {
  private readonly all = new Map<string, Series>();

  /** The numbers of a series, to be changed in place. Keep them where it is counted: the look-up is not for each request. */
  series(metric: MetricKey, ...labels: readonly string[]): SeriesValues {
    const key = `${metric}\n${labels.join('\n')}`;
    const known = this.all.get(key);
    if (known) return known.values;
    const values = createValues(metric);
    this.all.set(key, { metric, labels, values });
    return values;
  }

  /** Takes over the numbers of a series that are kept elsewhere. */
  adopt(metric: MetricKey, values: SeriesValues): void {
    this.all.set(`${metric}\n`, { metric, labels: [], values });
  }

  /** Adds what another process has counted. */
  add(counted: readonly SeriesData[]): void {
    for (const { metric, labels, values } of counted) {
      const sum = this.series(metric, ...labels);
      values.forEach((value, index) => {
        sum[index] = (sum[index] ?? 0) + value;
      });
    }
  }

  /** Every series. */
  read(): SeriesData[] {
    return [...this.all.values()].map(({ metric, labels, values }) => ({ metric, labels, values: [...values] }));
  }

  /** Returns what was counted since the last call, and sets it to zero. */
  drain(): SeriesData[] {
    const counted = this.read().filter(({ values }) => values.some((value) => value !== 0));
    for (const { values } of this.all.values()) values.fill(0);
    return counted;
  }
}

/** Combines the gauges of several processes as their definitions say. */
export function combineGauges(processes: Iterable<readonly SeriesData[]>): SeriesData[] {
  const combined = new Map<string, SeriesData>();
  for (const gauges of processes) {
    for (const gauge of gauges) {
      const key = `${gauge.metric}\n${gauge.labels.join('\n')}`;
      const others = combined.get(key);
      combined.set(key, others ? { ...gauge, values: [combineValues(gauge, others)] } : gauge);
    }
  }
  return [...combined.values()];
}

function combineValues({ metric, values: [a = 0] }: SeriesData, { values: [b = 0] }: SeriesData): number {
  const { combine }: MetricDefinition = metricDefinitions[metric];
  return combine ? Math[combine](a, b) : a + b;
}
