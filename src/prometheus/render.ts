import type { Metric } from 'prom-client';
import { type MetricDefinition, metricDefinitions } from '../metrics/definitions.ts';
import type { SeriesData } from '../metrics/instruments.ts';
import type { Scrape } from '../metrics/process-metrics.ts';

/** The two text formats of Prometheus. */
export type ExpositionFormat = 'text' | 'openMetrics';

/** A line: a value under its labels, with the metric's name unless it has one of its own. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Renders metrics. The package that does is loaded with the first call. @returns the text with its media type. */
export async function renderMetrics(
  { counted, gauges }: Scrape,
  format: ExpositionFormat,
): Promise<{ readonly contentType: string; readonly body: string }> {
  // By its default export: bundled, a CommonJS package has no other.
  const { Registry } = (await import('prom-client')).default;
  const registry = new Registry();
  if (format === 'openMetrics') registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  const series = [...counted, ...gauges];
  for (const [key, definition] of Object.entries(metricDefinitions)) {
    const values = series.filter(({ metric }) => metric === key).flatMap((each) => samplesOf(definition, each));
    const { name, help, type } = definition;
    // What the registry uses of a metric. The package's own classes would count again what is already counted.
    const metric = { name, help, type, values, get: async () => metric };
    registry.registerMetric(metric as unknown as Metric);
  }
  return { contentType: registry.contentType, body: await registry.metrics() };
}

/** The lines of a series. */
function samplesOf(definition: MetricDefinition, { labels: given, values }: SeriesData): Sample[] {
  const labels = Object.fromEntries(definition.labels.map((name, index) => [name, given[index] ?? '']));
  const { name, bounds } = definition;
  if (!bounds) return [{ labels, value: values[0] ?? 0 }];
  const [sum = 0, ...buckets] = values;
  let count = 0;
  const lines = buckets.map((inBucket, index) => {
    count += inBucket;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: count };
  });
  return [...lines, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }];
}
