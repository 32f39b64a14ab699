import type { Sql } from '../database/client.ts';
import type { ErrorCode } from '../error-catalog.ts';
import { builder } from '../graphql/builder.ts';
import { ErrorCodeType } from '../graphql/errors.ts';
import { type FieldCost, lookUpCost } from '../graphql/limits.ts';
import { type LastHour, type Period, slotCount, slotSeconds } from '../metrics.ts';
import { readPackageVersion } from '../package-root.ts';

/** What is known about an instance of the gateway. */
interface Instance {
  readonly version: string;
  readonly startedAt: Date;
  readonly databaseVersion: string;
  readonly databaseSizeBytes: number;
}

async function readInstance(sql: Sql): Promise<Instance> {
  const [database] = await sql<Pick<Instance, 'databaseVersion' | 'databaseSizeBytes'>>(
    'database-facts',
    `select current_setting('server_version') as "databaseVersion", pg_database_size(current_database())::float8 as "databaseSizeBytes"`,
    [],
  );
  if (!database) throw new Error('The database did not describe itself.');
  return { version: readPackageVersion(), startedAt: new Date(performance.timeOrigin), ...database };
}

const InstanceType = builder.objectRef<Instance>('Instance').implement({
  description: 'An instance of the gateway.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The version of the gateway.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the process that responds started.' }),
    databaseVersion: t.exposeString('databaseVersion', { description: 'The version of PostgreSQL.' }),
    databaseSizeBytes: t.exposeFloat('databaseSizeBytes', { description: 'The size of the database on disk.' }),
  }),
});

builder.queryField('instance', (t) =>
  t.field({
    type: InstanceType,
    nullable: true,
    extensions: { cost: () => lookUpCost } satisfies FieldCost,
    description: 'The instance of the gateway that responds, and its database. Requires the scope metrics:read.',
    resolve: (_, __, { caller, sql }) => {
      caller.require('metrics:read');
      return readInstance(sql);
    },
  }),
);

const LatencyType = builder.objectRef<Period['latency']>('MetricsLatency').implement({
  description: 'How long requests took, from the end of their headers to the response. Up to a tenth off.',
  fields: (t) => ({
    p50Ms: t.float({
      description: 'Half of the requests took at most as long, in milliseconds.',
      resolve: (latency) => latency.percentile(50) / 1_000,
    }),
    p99Ms: t.float({
      description: '99 of 100 requests took at most as long, in milliseconds.',
      resolve: (latency) => latency.percentile(99) / 1_000,
    }),
  }),
});

const ErrorCountType = builder.objectRef<readonly [code: ErrorCode, count: number]>('MetricsErrorCount').implement({
  description: 'How often an error occurred.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeType, description: 'The error code.', resolve: ([code]) => code }),
    count: t.int({
      description: 'The number of responses that reported it: by their status or as data.',
      resolve: ([, count]) => count,
    }),
  }),
});

const PeriodType = builder.objectRef<Period>('MetricsPeriod').implement({
  description: 'What happened in some time.',
  fields: (t) => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the time began.' }),
    requests: t.int({ description: 'The number of requests.', resolve: ({ latency }) => latency.count }),
    latency: t.field({
      type: LatencyType,
      nullable: true,
      description: 'How long they took; null without requests.',
      resolve: ({ latency }) => (latency.count > 0 ? latency : null),
    }),
    errors: t.field({
      type: [ErrorCountType],
      extensions: { listSize: () => 2 } satisfies FieldCost, // few codes occur in one period
      description: 'The errors by code, the most frequent first.',
      resolve: ({ errors }) => [...errors].sort(([, a], [, b]) => b - a),
    }),
  }),
});

const MetricsType = builder.objectRef<ReturnType<LastHour['read']>>('Metrics').implement({
  description: 'The requests of the last hour to the APIs, as far as this instance of the gateway has responded to them.',
  fields: (t) => ({
    total: t.field({ type: PeriodType, description: 'All of them together.', resolve: ({ total }) => total }),
    slots: t.field({
      type: [PeriodType],
      extensions: { listSize: () => slotCount } satisfies FieldCost,
      description: `The same for each ${slotSeconds} seconds, the earliest first, without gaps. The last slot is not over yet.`,
      resolve: ({ slots }) => [...slots],
    }),
  }),
});

builder.queryField('metrics', (t) =>
  t.field({
    type: MetricsType,
    nullable: true,
    description:
      'The requests of the last hour to the APIs: how many, how long they took, and which errors they got. This instance ' +
      'of the gateway counts them in memory. Other instances and earlier starts are not included. Pages and health checks ' +
      'are not counted. Requires the scope metrics:read.',
    resolve: (_, __, { caller, app }) => {
      caller.require('metrics:read');
      return app.lastHour.read();
    },
  }),
);
