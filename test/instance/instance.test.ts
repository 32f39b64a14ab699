import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { ownMigrationNames } from '../../src/database/migrate.ts';
import { instanceSource } from '../../src/instance/instance.ts';
import { readPackageVersion } from '../../src/package-root.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { lockReplication } from '../support/lock-replication.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const options = { version: '1.2.3', migrations: ownMigrationNames() };

test('the instance describes its version and its database', async () => {
  const { secret } = await gateway.issue({ scopes: ['metrics:read'] });
  const document = `{ instance { version startedAt database {
    isEmbedded isReachable serverVersion sizeBytes replicas { name } migrations { applied pending } } } }`;
  const { instance } = (await gateway.graphql(document, {}, { token: secret })).json.data;
  const { rows } = await gateway.database.pool.query('show server_version');
  expect(instance).toEqual({
    version: readPackageVersion(),
    startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    database: {
      isEmbedded: false,
      isReachable: true,
      serverVersion: rows[0].server_version,
      replicas: expect.any(Array),
      sizeBytes: expect.any(Number),
      migrations: { applied: ownMigrationNames().length, pending: 0 },
    },
  });
  expect(instance.database.sizeBytes).toBeGreaterThan(1_000_000);
});

test('replicas have a name and a state, and are unknown to a role that may not see them', async () => {
  await lockReplication();
  const { database } = gateway;
  const url = new URL(database.url);
  // A connection for replication is a replica that has not reported a position yet.
  const replica = new pg.Client({
    connectionString: url.href,
    application_name: 'the-replica',
    replication: 'database',
  } as object);
  const role = 'instance_reader';
  url.username = role;
  url.password = 'limited';
  const limited = connectDatabase({ connectionString: url.href });
  try {
    await replica.connect();
    const { facts } = (await instanceSource(database, options).read()).database;
    expect(facts?.replicas).toContainEqual({ name: 'the-replica', state: 'startup', lagBytes: null });

    await database.pool.query(`create role ${role} login password 'limited'; grant select on _prisma_migrations to ${role}`);
    const seen = (await instanceSource(limited, options).read()).database;
    expect(seen).toMatchObject({ facts: { appliedMigrations: ownMigrationNames().length, replicas: null } });
  } finally {
    await Promise.all([replica.end(), limited.close()]);
    await database.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});

test('a database that does not respond is reported as such within two seconds, and asked once at a time', async () => {
  let asked = 0;
  const sql: TestGateway['database']['sql'] = () => {
    asked += 1;
    return new Promise(() => {});
  };
  const source = instanceSource({ ...gateway.database, isEmbedded: true, sql }, options);
  const reports = await Promise.all([source.read(), source.read()]);
  for (const { database } of reports)
    expect(database).toEqual({ isEmbedded: true, facts: undefined, migrations: ownMigrationNames().length });
  expect(asked).toBe(1);
});

test('a migration of this version that is not applied is pending', async () => {
  const source = instanceSource(gateway.database, { ...options, migrations: [...ownMigrationNames(), '99999999999999_next'] });
  const { facts, migrations } = (await source.read()).database;
  expect(migrations - (facts?.appliedMigrations ?? 0)).toBe(1);
});
