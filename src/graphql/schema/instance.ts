import { type DatabaseReport, type InstanceReport, maxReplicas, type Replica } from '../../domain/instance.ts';
import { builder } from './builder.ts';
import { type FieldCost, lookUpCost } from './field-cost.ts';

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
