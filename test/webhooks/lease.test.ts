import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { endLease, findWork, takeDeliveries, type WebhookWork } from '../../src/webhooks/statements/work.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const leaseSeconds = 60;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query(`
    truncate webhook, webhook_delivery;
    with added as (insert into webhook (url, types, environments, secret_encrypted, position)
      values ('https://example.com', '{}', '{}', '\\x00', 0) returning id)
    insert into webhook_delivery (webhook_id, event_id, type, body) select id, 'x', 'x', '{}' from added`);
});

const work = async (query: TestDatabase['query'] = database.query) =>
  (await findWork({ query }, leaseSeconds)).webhooks[0] as WebhookWork;

test('a lease that began after the transaction that reads it, by the clock of the database, counts', async () => {
  await database.transaction(async (query) => {
    await query('begun', 'select now()', []);
    expect(await takeDeliveries(database, await work(), leaseSeconds, false)).toBeDefined();
    expect(await work(query)).toMatchObject({ isLeased: true });
  });
});

test('what was found before another process had the lease cannot be taken after it, with deliveries that were made', async () => {
  const found = await work();
  const batch = await takeDeliveries(database, found, leaseSeconds, false);
  await endLease(database, batch as NonNullable<typeof batch>);
  expect(await takeDeliveries(database, found, leaseSeconds, false)).toBeUndefined();
  expect(await takeDeliveries(database, await work(), leaseSeconds, false)).toBeDefined();
});
