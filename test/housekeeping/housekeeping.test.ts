import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { acceptBootstrapToken, rotateApiToken } from '../../src/api-tokens/api-tokens.ts';
import type { Database } from '../../src/database/client.ts';
import { runHousekeeping, startHousekeeping } from '../../src/housekeeping/housekeeping.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken } from '../support/keys.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query('truncate event, user_group, api_token cascade');
});

const dayMs = 86_400_000;

/** Stores an event of each age, in days; those of an odd age have no environment. */
async function storeEvents(...ages: number[]): Promise<void> {
  const of = (age: number) => ({
    type: 'user_group.created',
    actorKind: 'CLI',
    actorName: String(age),
    occurredAt: new Date(Date.now() - age * dayMs),
    environment: age % 2 === 0 ? 'Testing' : 'None',
  });
  await database.prisma.event.createMany({ data: ages.map((age) => of(age)) as never });
}

const storedAges = async () => {
  const events = await database.prisma.event.findMany({ orderBy: [{ occurredAt: 'desc' }, { id: 'desc' }] });
  return events.map(({ actorName }) => Number(actorName));
};

test('removes the events that are older than the retention', async () => {
  await storeEvents(0, 1, 29, 31, 32, 400);
  expect(await runHousekeeping(database, { retentionDays: 30 })).toEqual({
    events: 3,
    retiredTokens: 0,
    revokedViewers: 0,
    idempotencyRecords: 0,
    webhookDeliveries: 0,
    webhookSecrets: 0,
  });
  expect(await storedAges()).toEqual([0, 1, 29]);
  expect(await runHousekeeping(database, { retentionDays: 28 })).toMatchObject({ events: 1 });
  expect(await storedAges()).toEqual([0, 1]);
});

test('removes many in small batches', async () => {
  await storeEvents(...Array.from({ length: 1_201 }, (_, index) => 100 + (index % 7)), 2);
  const limits: unknown[] = [];
  const sql: Database['sql'] = async <Row extends object>(name: string, text: string, values: readonly unknown[]) => {
    const rows = await database.sql<Row>(name, text, values);
    if (name === 'remove-events') limits.push([values[0], (rows[0] as { rows?: number }).rows]);
    return rows;
  };
  expect(await runHousekeeping({ ...database, sql }, { retentionDays: 30 })).toMatchObject({ events: 1_201 });
  expect(limits).toEqual([
    [500, 500],
    [500, 500],
    [500, 201],
  ]);
  expect(await storedAges()).toEqual([2]);
});

test('leaves the work to another instance that is at it', async () => {
  await storeEvents(400);
  const other = await database.pool.connect();
  try {
    await other.query('begin; select pg_advisory_xact_lock(727090)');
    expect(await runHousekeeping(database, { retentionDays: 1 })).toEqual({
      events: 0,
      retiredTokens: 0,
      revokedViewers: 0,
      idempotencyRecords: 0,
      webhookDeliveries: 0,
      webhookSecrets: 0,
    });
    await other.query('commit');
  } finally {
    other.release();
  }
  expect(await runHousekeeping(database, { retentionDays: 1 })).toMatchObject({ events: 1 });
});

test('removes replaced tokens whose grace period is over, and no other; one that a request has locked is left for the next time', async () => {
  const { teamId } = await database.prisma.userGroup.create({
    data: { providedId: 'acme', name: 'acme', ...storedToken('an imported current token') },
  });
  const retire = (token: string, expiresAt: Date) =>
    database.prisma.retiredToken.create({ data: { ...storedToken(token), teamId, expiresAt } });
  await retire('an imported token of yesterday', new Date(Date.now() - dayMs));
  await retire('another imported one of yesterday', new Date(Date.now() - dayMs));
  const kept = await retire('an imported token of tomorrow', new Date(Date.now() + dayMs));
  const request = await database.pool.connect();
  try {
    await request.query('begin; select from retired_token where expires_at <= now() limit 1 for update');
    expect(await runHousekeeping(database, { retentionDays: 1 })).toMatchObject({ retiredTokens: 1 });
    await request.query('commit');
  } finally {
    request.release();
  }
  expect(await runHousekeeping(database, { retentionDays: 1 })).toMatchObject({ retiredTokens: 1 });
  expect(await database.prisma.retiredToken.findMany()).toEqual([kept]);
});

test('a replaced secret stays known, so that the bootstrap setting does not bring it back', async () => {
  const context = contextOn(database);
  await acceptBootstrapToken(context, 'an-operators/own+choice=2026');
  const { id } = await database.prisma.apiToken.findFirstOrThrow();
  await rotateApiToken(context, id, 0);
  await database.pool.query("update retired_secret set expires_at = now() - interval '100 days'");
  await runHousekeeping(database, { retentionDays: 1 });
  await acceptBootstrapToken(context, 'an-operators/own+choice=2026');
  expect(await database.prisma.apiToken.count()).toBe(1);
});

test('removes deliveries of webhooks that ended and are older than 30 days, and those that are pending for longer than events are kept', async () => {
  const data = { id: 1, url: 'https://example.com/', position: 0, secretEncrypted: Buffer.alloc(1) };
  await database.prisma.webhook.create({ data });
  const statuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;
  const of = (age: number) =>
    statuses.map((status) => ({
      webhookId: 1,
      eventId: `${status} ${age}`,
      type: '',
      body: '',
      status,
      createdAt: new Date(Date.now() - age * dayMs),
    }));
  await database.prisma.webhookDelivery.createMany({ data: [...of(29), ...of(31), ...of(41)] });
  const kept = async () => {
    const found = await database.prisma.webhookDelivery.findMany({ select: { eventId: true }, orderBy: { id: 'asc' } });
    return found.map(({ eventId }) => eventId);
  };
  expect(await runHousekeeping(database, { retentionDays: 40 })).toMatchObject({ webhookDeliveries: 5 });
  expect(await kept()).toEqual(['PENDING 29', 'DELIVERED 29', 'FAILED 29', 'PENDING 31']);
  expect(await runHousekeeping(database, { retentionDays: 1 })).toMatchObject({ webhookDeliveries: 1 });
  expect(await kept()).toEqual(['PENDING 29', 'DELIVERED 29', 'FAILED 29']);
});

test('removes the replaced secrets of webhooks that no longer sign', async () => {
  const of = (id: number, ageMs: number) => {
    const previousSecretEndsAt = new Date(Date.now() - ageMs);
    const secrets = { secretEncrypted: Buffer.alloc(1), previousSecretEncrypted: Buffer.alloc(1), previousSecretEndsAt };
    return { id, url: 'https://example.com/', position: 0, ...secrets };
  };
  await database.prisma.webhook.createMany({ data: [of(2, dayMs), of(3, -dayMs)] });
  expect(await runHousekeeping(database, { retentionDays: 1 })).toMatchObject({ webhookSecrets: 1 });
  const [ended, current] = await database.prisma.webhook.findMany({ where: { id: { gt: 1 } }, orderBy: { id: 'asc' } });
  expect(ended).toMatchObject({ previousSecretEncrypted: null, previousSecretEndsAt: null });
  expect(current).toMatchObject({ previousSecretEncrypted: expect.anything(), previousSecretEndsAt: expect.any(Date) });
});

test('a schedule ends with its process, also while it waits', async () => {
  const stop = startHousekeeping(database, 1, { onRemoved: () => {}, onFailure: () => {} });
  await stop();
});
