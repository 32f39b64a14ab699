import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownMigrationNames } from '../../src/database/migrate.ts';
import { instanceSource } from '../../src/instance/instance.ts';
import { readPackageVersion } from '../../src/package-root.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const options = { version: '1.2.3', migrations: ownMigrationNames() };

test('the instance describes its version and its database', async () => {
  const { secret } = await gateway.issue({ scopes: ['metrics:read'] });
  const document = `{ instance { version startedAt database {
    isEmbedded isReachable serverVersion sizeBytes migrations { applied pending } } } }`;
  const { instance } = (await gateway.graphql(document, {}, { token: secret })).json.data;
  const { rows } = await gateway.database.pool.query('show server_version');
  expect(instance).toEqual({
    version: readPackageVersion(),
    startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    database: {
      isEmbedded: false,
      isReachable: true,
      serverVersion: rows[0].server_version,
      sizeBytes: expect.any(Number),
      migrations: { applied: ownMigrationNames().length, pending: 0 },
    },
  });
  expect(instance.database.sizeBytes).toBeGreaterThan(1_000_000);
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
