import { maxReplicas, type Replica } from '../database/server-state.ts';
import { builder } from '../graphql/builder.ts';
import { ErrorCodeType } from '../graphql/errors.ts';
import { type FieldCost, lookUpCost } from '../graphql/limits.ts';
import { type MetricsReport, type PeriodReport, type SlotReport, slotCount, slotSeconds } from '../metrics/request-metrics.ts';
import type { DatabaseReport, InstanceReport } from './instance.ts';

const ReplicaType = builder.objectRef<Replica>('InstanceReplica').implement({
  description: 'A server that replicates the database.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The application_name with which it connects.' }),
    state: t.exposeString('state', {
      description: 'What PostgreSQL reports: streaming, catchup, startup, backup or stopping.',
    }),
    lagBytes: t.exposeFloat('lagBytes', {
      nullable: true,
      description: 'How much of the write-ahead log it has not replayed yet; null before it has reported a position.',
    }),
  }),
});

const MigrationsType = builder.objectRef<{ readonly applied: number; readonly pending: number }>('InstanceMigrations').implement({
  description: 'The migrations of this version of the gateway.',
  fields: (t) => ({
    applied: t.exposeInt('applied', { description: 'How many are applied to the database.' }),
    pending: t.exposeInt('pending', { description: 'How many are not.' }),
  }),
});

/** Most databases have few replicas. */
const few = { listSize: () => 2 } satisfies FieldCost;

const DatabaseType = builder.objectRef<DatabaseReport>('InstanceDatabase').implement({
  description: 'The database of an instance. What is read from it is null while isReachable is false.',
  fields: (t) => ({
    isEmbedded: t.exposeBoolean('isEmbedded', { description: 'Whether the gateway itself runs the database server.' }),
    isReachable: t.boolean({
      description: 'Whether it responded within two seconds.',
      resolve: ({ facts }) => facts !== undefined,
    }),
    serverVersion: t.string({
      nullable: true,
      description: 'The version of PostgreSQL.',
      resolve: ({ facts }) => facts?.serverVersion,
    }),
    sizeBytes: t.float({ nullable: true, description: 'The size on disk.', resolve: ({ facts }) => facts?.sizeBytes }),
    replicas: t.field({
      type: [ReplicaType],
      nullable: true,
      extensions: few,
      description:
        `Its replicas by name, at most ${maxReplicas}. Also null if the role of the gateway may not see them; it may after: ` +
        'grant pg_read_all_stats to ROLE.',
      resolve: ({ facts }) => facts?.replicas && [...facts.replicas],
    }),
    migrations: t.field({
      type: MigrationsType,
      nullable: true,
      description: 'Which migrations are applied.',
      resolve: ({ facts, migrations }) =>
        facts && { applied: facts.appliedMigrations, pending: migrations - facts.appliedMigrations },
    }),
  }),
});

const InstanceType = builder.objectRef<InstanceReport>('Instance').implement({
  description: 'An instance of the gateway.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The version of the gateway.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the process that responds started to serve.' }),
    database: t.expose('database', { type: DatabaseType, description: 'Its database.' }),
  }),
});

builder.queryField('instance', (t) =>
  t.field({
    type: InstanceType,
    nullable: true,
    extensions: { cost: () => lookUpCost } satisfies FieldCost,
    description: 'The instance of the gateway that responds, and its database. Requires the scope metrics:read.',
    resolve: (_, __, { caller, instance }) => {
      caller.require('metrics:read');
      return instance.read();
    },
  }),
);

const LatencyType = builder.objectRef<NonNullable<PeriodReport['latency']>>('MetricsLatency').implement({
  description: 'How long requests took, from the end of their headers to the response. Up to a quarter off.',
  fields: (t) => ({
    p50Ms: t.exposeFloat('p50Ms', { description: 'Half of the requests took at most as long, in milliseconds.' }),
    p99Ms: t.exposeFloat('p99Ms', { description: '99 of 100 requests took at most as long, in milliseconds.' }),
  }),
});

const ErrorCountType = builder.objectRef<PeriodReport['errors'][number]>('MetricsErrorCount').implement({
  description: 'How often an error occurred.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeType, description: 'The error code.' }),
    count: t.exposeInt('count', { description: 'The number of responses that reported it: by their status or as data.' }),
  }),
});

/** Few codes occur in one period. */
const twoItems = { listSize: () => 2 } satisfies FieldCost;

const SlotType = builder.objectRef<SlotReport>('MetricsSlot').implement({
  description: `What happened in ${slotSeconds} seconds.`,
  fields: (t) => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When these seconds began.' }),
    requestsPerSecond: t.exposeFloat('requestsPerSecond', {
      description: 'The requests divided by the seconds; in the last slot, by those that have passed.',
    }),
  }),
});

const MetricsType = builder.objectRef<MetricsReport>('Metrics').implement({
  description: 'The requests of the last hour to the APIs, as far as this instance of the gateway has responded to them.',
  fields: (t) => ({
    since: t.expose('since', {
      type: 'DateTime',
      description: 'From when on they are counted: an hour ago, or when it started.',
    }),
    slots: t.field({
      type: [SlotType],
      extensions: { listSize: () => slotCount } satisfies FieldCost,
      description: `The same for each ${slotSeconds} seconds, the earliest first, without gaps. The last slot is not over yet.`,
      resolve: ({ slots }) => [...slots],
    }),
  }),
});

/** Adds what is counted of every period. */
function addPeriodFields<Period extends PeriodReport>(
  type: ReturnType<ReturnType<typeof builder.objectRef<Period>>['implement']>,
): void {
  builder.objectFields(type, (t) => ({
    requests: t.int({ description: 'The number of requests.', resolve: ({ requests }) => requests }),
    latency: t.field({
      type: LatencyType,
      nullable: true,
      description: 'How long they took; null without requests.',
      resolve: ({ latency }) => latency,
    }),
    errors: t.field({
      type: [ErrorCountType],
      extensions: twoItems,
      description: 'The errors by code, the most frequent first.',
      resolve: ({ errors }) => [...errors],
    }),
  }));
}
addPeriodFields(SlotType);
addPeriodFields(MetricsType);

builder.queryField('metrics', (t) =>
  t.field({
    type: MetricsType,
    nullable: true,
    description:
      'The requests of the last hour to the APIs: how many, how long they took, and which errors they got. This instance ' +
      'of the gateway counts them in memory. Other instances and earlier starts are not included. Pages and health checks ' +
      'are not counted. Requires the scope metrics:read.',
    resolve: (_, __, { caller, metrics }) => {
      caller.require('metrics:read');
      return metrics.read();
    },
  }),
);
