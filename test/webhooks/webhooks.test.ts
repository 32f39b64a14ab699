import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { webhookId } from '../support/node-id.ts';
import { createWebhook, type Operation, operations, sendAs } from '../support/webhooks.ts';

let gateway: TestGateway;
/** Permits a private network. */
let inside: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway(await createTestDatabase());
  inside = await startGateway(gateway.database, { introspection: true, webhooksAllowedNetworks: ['10.1.0.0/16', 'fd00::/8'] });
  // Nothing is sent: what a webhook shows of its deliveries is what the tests store.
  gateway.drain();
  inside.drain();
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
afterAll(async () => {
  await inside.close();
  await gateway.close();
  await gateway.database.close();
});
beforeEach(async () => {
  await gateway.database.pool.query('truncate webhook, webhook_delivery, event');
});

const mutate = (operation: Operation, input: object, of = gateway) => sendAs(of, admin, operation, { input });
const create = (input: object = {}, of = gateway) => createWebhook(of, admin, input);

const list = async (variables: object = {}) => {
  const { json } = await gateway.graphql(operations.list, { ...variables }, { token: admin });
  return json.errors ? json.errors[0].extensions : json.data.webhooks;
};

/** Makes the position that was assigned last at least this one. */
const setEndOfFeed = (position: number) =>
  gateway.database.pool.query(
    `insert into event_feed (last_position) values ($1)
     on conflict (id) do update set last_position = greatest(event_feed.last_position, excluded.last_position)`,
    [position],
  );

const url = 'https://hooks.example.com/services/T0/secret-path?key=1';

describe('createWebhook', () => {
  test('returns the webhook and its secret, which is stored encrypted; neither the log nor an event has the secret or the path', async () => {
    const input = { url, types: ['USER_GROUP_UPDATED', 'USER_GROUP_UPDATED'], environments: ['TESTING'], description: 'cache' };
    const { secret, webhook } = await create(input);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook).toEqual({
      id: webhookId(webhook.number),
      number: expect.any(Number),
      url,
      types: ['USER_GROUP_UPDATED'],
      environments: ['TESTING'],
      description: 'cache',
      status: 'ENABLED',
      disabledReason: null,
      failingSince: null,
      lastDeliveryAt: null,
      previousSecretEndsAt: null,
      createdAt: expect.stringMatching(/^\d{4}-/),
    });
    expect(Math.abs(Date.parse(webhook.createdAt) - Date.now())).toBeLessThan(60_000);
    const { rows } = await gateway.database.pool.query('select webhook::text from webhook');
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    expect(rows).toHaveLength(1);
    expect(rows[0].webhook).not.toContain(key.toString('hex'));
    const recorded = await gateway.database.pool.query('select event::text from event');
    expect(recorded.rows).toHaveLength(1);
    expect(gateway.log.join() + JSON.stringify(recorded.rows)).not.toMatch(/whsec_|secret-path/);
  });

  test('takes every type and environment by default, from the end of the feed on', async () => {
    await setEndOfFeed(41);
    const { webhook } = await create({ types: null });
    expect(webhook).toMatchObject({ types: null, environments: null, description: null });
    const stored = await gateway.database.prisma.webhook.findUniqueOrThrow({ where: { id: webhook.number } });
    expect(stored).toMatchObject({ types: [], environments: [] });
    expect(stored.position).toBeGreaterThanOrEqual(41n);
  });

  test.each([
    ['https://EXAMPLE.com:443', 'https://example.com/'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
  ])('takes the URL %s as %s', async (given, stored) => {
    expect((await create({ url: given })).webhook.url).toBe(stored);
  });

  test.each<[string, object, (string | number)[], RegExp]>([
    ['no URL', { url: 'hooks' }, ['url'], /an https URL/],
    ['another scheme', { url: 'ftp://example.com/' }, ['url'], /an https URL/],
    ['credentials', { url: 'https://user@example.com/' }, ['url'], /without credentials/],
    ['a fragment', { url: 'https://example.com/#' }, ['url'], /without a fragment/],
    ['a URL that is long once it is encoded', { url: `https://example.com/${'ü'.repeat(400)}` }, ['url'], /at most 2048/],
    ['http', { url: 'http://example.com/' }, ['url'], /https.*WEBHOOKS_ALLOWED_NETWORKS/],
    ['a private address', { url: 'https://10.1.2.3/' }, ['url'], /not public \(private\)/],
    ['a mapped address', { url: 'https://[::ffff:169.254.169.254]/' }, ['url'], /not public/],
    ['no type', { types: [] }, ['types'], /null for all/],
    ['no environment', { environments: [] }, ['environments'], /null for all/],
    ['a line break in the description', { description: 'a\nb' }, ['description'], /control/],
  ])('rejects %s as INVALID_INPUT with the path, and creates nothing', async (_, input, path, message) => {
    const { code, issues } = await mutate('create', { url, ...input });
    expect([code, issues.map((issue: { path: string[] }) => issue.path)]).toEqual(['INVALID_INPUT', [path]]);
    expect(issues[0].message).toMatch(message);
    expect((await list()).totalCount).toBe(0);
  });

  test.each([
    ['http://10.1.2.3:8080/hooks', undefined],
    ['http://[fd00::1]/hooks', undefined],
    ['http://hooks.internal/', undefined],
    ['http://10.2.0.1/hooks', /10\.2\.0\.1/],
    ['http://93.184.215.14/', /only https/],
  ])('with permitted networks, %s is accepted or rejected (%s)', async (given, message) => {
    const result = await mutate('create', { url: given }, inside);
    if (message) expect(result.issues[0].message).toMatch(message);
    else expect(result.webhook.url).toBe(given);
  });

  test('rejects the hundred and first, also of several at once, and says what to do', async () => {
    await create();
    const { id: _, ...webhook } = await gateway.database.prisma.webhook.findFirstOrThrow();
    await gateway.database.prisma.webhook.createMany({ data: Array(97).fill(webhook) });
    const results = await Promise.all([create(), create(), create(), create()]);
    expect(results.filter(({ webhook }) => webhook)).toHaveLength(2);
    expect(results.find(({ code }) => code)).toMatchObject({ code: 'INVALID_INPUT', message: /100 webhooks.*Delete one/ });
    expect((await list()).totalCount).toBe(100);
  });
});

describe('updateWebhook', () => {
  test('changes what is given, and leaves the rest', async () => {
    const { webhook } = await create({ url, types: ['USER_GROUP_CREATED'], description: 'old' });
    const { id } = webhook;
    const changed = await mutate('update', { id, types: null, environments: ['NONE'], description: null, enabled: false });
    const expected = { types: null, environments: ['NONE'], description: null, status: 'DISABLED', disabledReason: null };
    expect(changed.webhook).toEqual({ ...webhook, ...expected });
    expect((await mutate('update', { id, url: 'https://hooks.example.com/other' })).webhook).toMatchObject({
      ...expected,
      url: 'https://hooks.example.com/other',
    });
  });

  test('with equal values changes nothing, and refuses null where that means nothing', async () => {
    const { webhook } = await create({ url, types: ['USER_GROUP_CREATED'] });
    const { id } = webhook;
    for (const input of [{}, { url, types: ['USER_GROUP_CREATED'], enabled: true }]) {
      expect((await mutate('update', { id, ...input })).webhook).toEqual(webhook);
    }
    expect(await mutate('update', { id, url: null, enabled: null, description: 'new' })).toMatchObject({
      code: 'INVALID_INPUT',
      issues: ['url', 'enabled'].map((name) => ({
        path: [name],
        message: 'must not be null; omit it to keep the current value.',
      })),
    });
  });

  test('enabling tries what is pending at once, and continues where it was disabled', async () => {
    const { webhook } = await create();
    const { prisma } = gateway.database;
    const where = { id: webhook.number };
    const failed = { enabled: false, disabledReason: 'It failed.', failingSince: new Date(), position: 7n };
    await prisma.webhook.update({ where, data: failed });
    const later = new Date(Date.now() + 3_600_000);
    const delivery = { webhookId: webhook.number, eventId: 'x', type: 'x', body: '{}', nextAttemptAt: later };
    await prisma.webhookDelivery.createMany({
      data: [delivery, { ...delivery, status: 'FAILED' }],
    });
    await setEndOfFeed(99_000);

    const enabled = await mutate('update', { id: webhook.id, enabled: true });
    expect(enabled.webhook).toMatchObject({ status: 'ENABLED', disabledReason: null, failingSince: null });
    expect((await prisma.webhook.findUniqueOrThrow({ where })).position).toBe(7n);
    const deliveries = await prisma.webhookDelivery.findMany({ where: { eventId: 'x' }, orderBy: { id: 'asc' } });
    expect(deliveries.map(({ nextAttemptAt }) => nextAttemptAt < later)).toEqual([true, false]);
  });
});

test('deleteWebhook deletes it with its deliveries', async () => {
  const { webhook } = await create();
  const { prisma } = gateway.database;
  // More than one statement removes.
  await prisma.$executeRaw`
    insert into webhook_delivery (webhook_id, event_id, type, body) select ${webhook.number}::int, 'x', 'x', '{}' from generate_series(1, 21000)`;
  expect(await mutate('delete', { id: webhook.id })).toMatchObject({ deletedId: webhook.id });
  expect([(await list()).totalCount, await prisma.webhookDelivery.count()]).toEqual([0, 0]);
});

describe.each(['update', 'rotate', 'delete', 'test'] as const)('%s', (operation) => {
  test.each([
    ['a webhook that does not exist', webhookId(2_000_000_000), 'NOT_FOUND'],
    ['the ID of something else', 'VXNlckdyb3VwOjE=', 'INVALID_INPUT'],
    ['a number that no webhook can have', webhookId(2 ** 31), 'INVALID_INPUT'],
  ])('of %s is an error', async (_, id, code) => {
    expect(await mutate(operation, { id })).toMatchObject({ code });
  });
});
