import { setImmediate } from 'node:timers/promises';
import { mediaTypes, readAcceptItem } from '../http/media-types.ts';
import { problem } from '../http/problem.ts';
import type { Handler } from '../http/types.ts';
import type { InstanceMetrics } from '../metrics/process-metrics.ts';
import { type ExpositionFormat, renderMetrics } from './render.ts';

/** The method of the metrics endpoint. */
export const metricsMethods = ['GET'] as const;

/** The tag of the operations of `/metrics`. */
export const metricsTag = { name: 'Monitoring', description: 'For Prometheus and what reads its text formats.' } as const;

/** Creates the handler that serves metrics in the text formats of Prometheus. Requires the scope `metrics:read`. */
export function metricsHandler(metrics: Pick<InstanceMetrics, 'scrape'>): Handler {
  const render = shareRenderings(metrics);
  return {
    async handle({ caller, headers }) {
      caller.require('metrics:read');
      const { contentType, body } = await render(formatOf(headers.accept));
      return { status: 200, headers: { 'content-type': contentType }, body };
    },
    renderError: problem,
  };
}

/**
 * Creates a function that renders metrics once for all who ask before it begins, one rendering at a time, with time for other
 * requests in between: with many series it takes milliseconds, and any number of clients may ask at once.
 */
function shareRenderings(
  metrics: Pick<InstanceMetrics, 'scrape'>,
): (format: ExpositionFormat) => ReturnType<typeof renderMetrics> {
  const next = new Map<ExpositionFormat, ReturnType<typeof renderMetrics>>();
  let last: Promise<unknown> = Promise.resolve();
  return (format) => {
    const known = next.get(format);
    if (known !== undefined) return known;
    const rendering = last.then(async () => {
      await setImmediate();
      next.delete(format);
      return renderMetrics(await metrics.scrape(), format);
    });
    next.set(format, rendering);
    last = rendering.catch(() => {});
    return rendering;
  };
}

/** The format that an `Accept` header prefers: text, unless OpenMetrics is named with a quality that is as good. */
function formatOf(accept = ''): ExpositionFormat {
  const qualities = new Map<string, number>();
  for (const { name, quality } of accept.split(',').map(readAcceptItem)) {
    qualities.set(name, Math.max(quality, qualities.get(name) ?? 0));
  }
  const openMetrics = qualities.get(mediaTypes.openMetrics) ?? 0;
  const text = qualities.get(mediaTypes.text) ?? qualities.get('text/*') ?? qualities.get('*/*') ?? 0;
  return openMetrics > 0 && openMetrics >= text ? 'openMetrics' : 'text';
}
