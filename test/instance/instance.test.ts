import { expect, test } from 'vitest';
import { startLastHour } from '../../src/metrics.ts';
import { readPackageVersion } from '../../src/package-root.ts';
import { startGateway } from '../support/gateway.ts';

test('the instance describes its version and its database', async () => {
  const gateway = await startGateway();
  try {
    const { secret } = await gateway.issue({ scopes: ['metrics:read'] });
    const document = '{ instance { version startedAt databaseVersion databaseSizeBytes } }';
    const { instance } = (await gateway.graphql(document, {}, { token: secret })).json.data;
    const { rows } = await gateway.database.pool.query('show server_version');
    expect(instance).toEqual({
      version: readPackageVersion(),
      startedAt: new Date(performance.timeOrigin).toISOString(),
      databaseVersion: rows[0].server_version,
      databaseSizeBytes: expect.any(Number),
    });
    expect(instance.databaseSizeBytes).toBeGreaterThan(1_000_000);
  } finally {
    await gateway.close();
  }
});

test('the last hour has a slot for each minute, also without requests, and forgets what is older', () => {
  let now = 1_000_000;
  const hour = startLastHour(() => now);
  const counts = () => hour.read().slots.map(({ latency }) => latency.count);
  for (const code of ['CONFLICT', 'NOT_FOUND', 'NOT_FOUND'] as const) hour.count(4, [code]);
  now += 120_000;
  hour.count(70_000, []);
  expect(counts()).toEqual([3, 0, 1]);
  const { total } = hour.read();
  expect([total.startedAt.getTime(), total.latency.count]).toEqual([1_000_000, 4]);
  expect(total.latency.percentile(50) / 1_000).toBeCloseTo(4, 0);
  expect([...total.errors]).toEqual([
    ['CONFLICT', 1],
    ['NOT_FOUND', 2],
  ]);
  now += 59 * 60_000;
  expect([counts().length, counts()[0]]).toEqual([60, 1]);
  now += 1_000 * 60_000;
  expect([counts().length, hour.read().total.latency.count]).toEqual([60, 0]);
});
