import { setImmediate } from 'node:timers/promises';
import { Registry, type RegistryContentType } from 'prom-client';
import { mediaTypes, readAcceptItem } from '../http/media-types.ts';
import { problem } from '../http/problem.ts';
import type { Handler } from '../http/types.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';

/** The method of the metrics endpoint. */
export const metricsMethods = ['GET'] as const;

/** Creates the handler that serves metrics in the text formats of Prometheus. Requires the scope `metrics:read`. */
export function metricsHandler(metrics: Pick<ProcessMetrics, 'render'>): Handler {
  const render = shareRenderings(metrics);
  return {
    async handle({ caller, headers }) {
      caller.require('metrics:read');
      const contentType = contentTypeOf(headers.accept);
      return { status: 200, headers: { 'content-type': contentType }, body: await render(contentType) };
    },
    renderError: problem,
  };
}

/**
 * Creates a function that renders metrics once for all who ask before it begins, one rendering at a time, with time for other
 * requests in between: with many series it takes milliseconds, and any number of clients may ask at once.
 */
function shareRenderings(metrics: Pick<ProcessMetrics, 'render'>): (contentType: RegistryContentType) => Promise<string> {
  const next = new Map<RegistryContentType, Promise<string>>();
  let last: Promise<unknown> = Promise.resolve();
  return (contentType) => {
    const known = next.get(contentType);
    if (known !== undefined) return known;
    const rendering = last.then(async () => {
      await setImmediate();
      next.delete(contentType);
      return metrics.render(contentType);
    });
    next.set(contentType, rendering);
    last = rendering.catch(() => {});
    return rendering;
  };
}

/** The format that an `Accept` header prefers: text, unless OpenMetrics is named with a quality that is as good. */
function contentTypeOf(accept = ''): RegistryContentType {
  const qualities = new Map<string, number>();
  for (const { name, quality } of accept.split(',').map(readAcceptItem)) {
    qualities.set(name, Math.max(quality, qualities.get(name) ?? 0));
  }
  const openMetrics = qualities.get(mediaTypes.openMetrics) ?? 0;
  const text = qualities.get(mediaTypes.text) ?? qualities.get('text/*') ?? qualities.get('*/*') ?? 0;
  return openMetrics > 0 && openMetrics >= text ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
}
