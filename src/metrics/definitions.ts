/** How a metric is exported, and how the values of several processes become one. */
export interface MetricDefinition {
  /** As Prometheus names metrics: counters end in `_total`, and the unit is part of the name. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence. */
  readonly help: string;
  readonly labels: readonly string[];
  /** The upper bounds of a histogram's buckets, in its unit; values above the last one are counted too. */
  readonly bounds?: readonly number[];
  /** How the gauges of several processes are combined; the sum by default. */
  readonly combine?: 'max' | 'min';
}

/**
 * Every metric that `GET /metrics` exports. A test compares docs/observability.md, the dashboard and the alerts with this table.
 */
export const metricDefinitions = {
  requests: {
    name: 'gateway_http_requests_total',
    type: 'counter',
    help: 'Requests, by route, operation and status of the response.',
    labels: ['route', 'operation', 'status'],
  },
  requestDuration: {
    name: 'gateway_http_request_duration_seconds',
    type: 'histogram',
    help: 'Time from the end of the headers of a request until its response is passed to the socket.',
    labels: ['route', 'operation'],
    bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  errors: {
    name: 'gateway_errors_total',
    type: 'counter',
    help: 'Responses that report an error, by its code.',
    labels: ['route', 'code'],
  },
  unhandledFailures: {
    name: 'gateway_unhandled_failures_total',
    type: 'counter',
    help: 'Failures that no code has handled: defects of the gateway, with a stack in the log.',
    labels: [],
  },
  missingKeys: {
    name: 'gateway_missing_encryption_key_failures_total',
    type: 'counter',
    help: 'Requests that failed because the gateway lacks the encryption key of a stored value. The log has the id of the key.',
    labels: [],
  },
  documentLookups: {
    name: 'gateway_graphql_document_cache_lookups_total',
    type: 'counter',
    help: 'Look-ups of GraphQL documents in the cache of parsed and valid documents.',
    labels: ['result'],
  },
  batchSize: {
    name: 'gateway_database_batch_keys',
    type: 'histogram',
    help: 'Keys that one statement looks up or writes for the requests that share it.',
    labels: [],
    bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
  },
  rateLimitExchanges: {
    name: 'gateway_rate_limit_exchanges_total',
    type: 'counter',
    help: 'Exchanges of request counts with other processes, which `RATE_LIMIT` needs. While they fail, each process limits by itself.',
    labels: ['result'],
  },
  eventLoopDelay: {
    name: 'gateway_event_loop_delay_seconds',
    type: 'histogram',
    help: 'How late a timer fires that is due ten times a second, because the event loop is occupied.',
    labels: [],
    bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  cpu: {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'CPU time of the processes that serve requests.',
    labels: [],
  },
  cachedDocuments: {
    name: 'gateway_graphql_cached_documents',
    type: 'gauge',
    help: 'GraphQL documents in the cache of parsed and valid documents.',
    labels: [],
  },
  poolConnections: {
    name: 'gateway_database_connections',
    type: 'gauge',
    help: 'Open connections to the database.',
    labels: ['state'],
  },
  poolLimit: {
    name: 'gateway_database_connections_max',
    type: 'gauge',
    help: 'The maximum number of connections to the database.',
    labels: [],
  },
  queue: {
    name: 'gateway_queue_length',
    type: 'gauge',
    help: 'What waits, by queue.',
    labels: ['queue'],
  },
  residentMemory: {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory of the processes that serve requests.',
    labels: [],
  },
  heapUsed: {
    name: 'nodejs_heap_size_used_bytes',
    type: 'gauge',
    help: 'Used part of the JavaScript heap.',
    labels: [],
  },
  startTime: {
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'When the oldest of the processes that serve requests started, in seconds since 1970.',
    labels: [],
    combine: 'min',
  },
  processes: {
    name: 'gateway_processes',
    type: 'gauge',
    help: 'Processes that serve requests.',
    labels: [],
  },
  build: {
    name: 'gateway_build_info',
    type: 'gauge',
    help: 'Always 1; the labels are the versions of the gateway and of Node.js.',
    labels: ['version', 'node_version'],
    combine: 'max',
  },
} as const satisfies Record<string, MetricDefinition>;

/** A metric, by its key in {@link metricDefinitions}. */
export type MetricKey = keyof typeof metricDefinitions;
