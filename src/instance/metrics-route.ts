import { inUtf8, mediaTypes } from '../http/media-types.ts';
import { problem } from '../http/problem.ts';
import type { Handler } from '../http/types.ts';
import type { ProcessMetrics } from '../metrics/request-metrics.ts';

/** The method of the metrics endpoint. */
export const metricsMethods = ['GET'] as const;

/** Serves metrics in the text format of Prometheus. Requires the scope `metrics:read`. */
export const metricsHandler = (metrics: ProcessMetrics): Handler => ({
  async handle({ caller }) {
    caller.require('metrics:read');
    return {
      status: 200,
      headers: { 'content-type': inUtf8(`${mediaTypes.text}; version=0.0.4`) },
      body: await metrics.render(),
    };
  },
  renderError: problem,
});
