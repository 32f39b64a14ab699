import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ErrorCode } from './error-catalog.ts';

/** A metric: its type, and the configuration of prom-client. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** As Prometheus names metrics: counters end in `_total`, and the unit is part of the name. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** Each label has few values: every combination is a series. */
  readonly labelNames: readonly string[];
  /** The upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}

/**
 * Every metric of the gateway that `GET /metrics` exports, besides those of every Node.js process. Tests compare
 * docs/observability.md with this table, and what the dashboard and the alerts select.
 */
export const metricDefinitions = {
  requests: {
    type: 'counter',
    name: 'gateway_http_requests_total',
    help: 'Requests, by route, operation and status of the response.',
    labelNames: ['route', 'operation', 'status'],
  },
  requestDuration: {
    type: 'histogram',
    name: 'gateway_http_request_duration_seconds',
    help: 'Time from the end of the headers of a request until its response is passed to the socket, without a wait for events.',
    labelNames: ['route', 'operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  errors: {
    type: 'counter',
    name: 'gateway_errors_total',
    help: 'Responses that report an error, by its code.',
    labelNames: ['route', 'code'],
  },
  unhandledFailures: {
    type: 'counter',
    name: 'gateway_unhandled_failures_total',
    help: 'Failures that no code has handled: defects of the gateway, with a stack in the log.',
    labelNames: [],
  },
  missingKeys: {
    type: 'counter',
    name: 'gateway_missing_encryption_key_failures_total',
    help: 'Requests and webhook deliveries that failed because the gateway lacks the encryption key of a stored value. The log has the id of the key.',
    labelNames: [],
  },
  batchSize: {
    type: 'histogram',
    name: 'gateway_database_batch_keys',
    help: 'Keys that one statement looks up for the requests that share it.',
    labelNames: [],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
  },
  rateLimitSyncs: {
    type: 'counter',
    name: 'gateway_rate_limit_syncs_total',
    help: 'Synchronizations of request counts with other processes, which rate limits need. While they fail, each process limits by itself.',
    labelNames: ['result'],
  },
  webhookDeliveries: {
    type: 'counter',
    name: 'gateway_webhook_deliveries_total',
    help: 'Attempts to deliver an event to a webhook, by outcome.',
    labelNames: ['outcome'],
  },
  webhooksDisabled: {
    type: 'counter',
    name: 'gateway_webhooks_disabled_total',
    help: 'Webhooks that the gateway disabled because their deliveries failed.',
    labelNames: [],
  },
  poolConnections: {
    type: 'gauge',
    name: 'gateway_database_connections',
    help: 'Open connections to the database.',
    labelNames: ['state'],
  },
  poolLimit: {
    type: 'gauge',
    name: 'gateway_database_connections_max',
    help: 'The maximum number of connections to the database.',
    labelNames: [],
  },
  queue: {
    type: 'gauge',
    name: 'gateway_queue_length',
    help: 'What waits, by queue.',
    labelNames: ['queue'],
  },
  webhookDelay: {
    type: 'gauge',
    name: 'gateway_webhook_delay_seconds',
    help: 'How long the delivery that is due the longest has waited for an attempt; 0 if none is due.',
    labelNames: [],
  },
  build: {
    type: 'gauge',
    name: 'gateway_build_info',
    help: 'Always 1; the labels are the versions of the gateway and of Node.js.',
    labelNames: ['version', 'node_version'],
  },
} as const satisfies Record<string, MetricDefinition>;

type MetricOf<Definition extends MetricDefinition> = {
  counter: Counter<Definition['labelNames'][number]>;
  gauge: Gauge<Definition['labelNames'][number]>;
  histogram: Histogram<Definition['labelNames'][number]>;
}[Definition['type']];

type Metrics = { readonly [Key in keyof typeof metricDefinitions]: MetricOf<(typeof metricDefinitions)[Key]> };

export const registry = new Registry();
collectDefaultMetrics({ register: registry });

/** The metrics of this process. They are one for the process, so that code far from the start needs no parameter for them. */
export const metrics = Object.fromEntries(
  Object.entries(metricDefinitions).map(([key, definition]) => [key, createMetric(definition)]),
) as unknown as Metrics;

function createMetric({ type, buckets = [], ...definition }: MetricDefinition): Counter | Gauge | Histogram {
  const configuration = { ...definition, registers: [registry] };
  if (type === 'gauge') return new Gauge(configuration);
  return type === 'counter' ? new Counter(configuration) : new Histogram({ ...configuration, buckets: [...buckets] });
}

for (const outcome of ['delivered', 'failed_attempt', 'failed']) metrics.webhookDeliveries.inc({ outcome }, 0);

/** The seconds of a slot, and how many slots the last hour has. */
export const slotSeconds = 60;
export const slotCount = 60;

/** What was counted in some time. */
export interface Period {
  readonly startedAt: Date;
  /** How long each request took, in microseconds. */
  readonly latency: RecordableHistogram;
  /** How many responses reported each error code. */
  readonly errors: Map<ErrorCode, number>;
}

/** A minute in microseconds: no request takes as long. */
const maxLatency = 60_000_000;

const periodFrom = (startedMs: number): Period => ({
  startedAt: new Date(startedMs),
  latency: createHistogram({ highest: maxLatency, figures: 1 }),
  errors: new Map(),
});

/** The requests of the last hour, for the console. */
export interface LastHour {
  /** Counts a request that was responded to. */
  count(durationMs: number, errorCodes: readonly ErrorCode[]): void;
  /** Each slot without gaps, the earliest first and the last one not over, and all of them together. */
  read(): { readonly slots: readonly Period[]; readonly total: Period };
}

/** Begins to count. @param now the time in milliseconds since 1970. */
export function startLastHour(now: () => number = Date.now): LastHour {
  const slotMs = slotSeconds * 1_000;
  const slots = [periodFrom(now())];
  const startOf = (slot: Period | undefined): number => slot?.startedAt.getTime() ?? 0;
  const begin = (): Period => {
    const firstMs = now() - slotCount * slotMs;
    for (let nextMs = startOf(slots.at(-1)) + slotMs; nextMs <= now(); nextMs += slotMs)
      if (nextMs > firstMs) slots.push(periodFrom(nextMs));
    while (slots.length > 1 && startOf(slots[0]) <= firstMs) slots.shift();
    return slots.at(-1) as Period;
  };
  return {
    count(durationMs, errorCodes) {
      const { latency, errors } = begin();
      latency.record(Math.min(maxLatency, Math.max(1, Math.round(durationMs * 1_000))));
      for (const code of errorCodes) errors.set(code, (errors.get(code) ?? 0) + 1);
    },
    read() {
      begin();
      const total = periodFrom(startOf(slots[0]));
      for (const { latency, errors } of slots) {
        total.latency.add(latency);
        for (const [code, count] of errors) total.errors.set(code, (total.errors.get(code) ?? 0) + count);
      }
      return { slots, total };
    },
  };
}
