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

/** What the audit log says, the oldest first. */
const events = async () => {
  const found = await gateway.database.prisma.event.findMany({
    where: { type: { startsWith: 'webhook.' } },
    orderBy: { id: 'asc' },
  });
  return found.map(({ type, environment, changes }) => ({ type, environment, changes }));
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
  test('returns the webhook and its secret, which is stored encrypted, and records the creation without path and secret', async () => {
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
    expect(await events()).toEqual([
      {
        type: 'webhook.created',
        environment: 'None',
        changes: {
          webhook: { from: null, to: webhook.number },
          url: { from: null, to: 'https://hooks.example.com' },
          types: { from: null, to: ['user_group.updated'] },
          environments: { from: null, to: ['TESTING'] },
          description: { from: null, to: 'cache' },
          enabled: { from: null, to: true },
        },
      },
    ]);
    expect(gateway.log.join()).not.toMatch(/whsec_|secret-path/);
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
    ['https://EXAMPLE.com', 'https://example.com/'],
    ['https://example.com:443/a b'.replace(' ', '%20'), 'https://example.com/a%20b'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
    ['https://93.184.215.14/hooks', 'https://93.184.215.14/hooks'],
  ])('takes the URL %s as %s', async (given, stored) => {
    expect((await create({ url: given })).webhook.url).toBe(stored);
  });

  test.each<[string, object, (string | number)[], RegExp]>([
    ['no URL', { url: 'hooks' }, ['url'], /an https URL/],
    ['another scheme', { url: 'ftp://example.com/' }, ['url'], /an https URL/],
    ['credentials', { url: 'https://user@example.com/' }, ['url'], /without credentials/],
    ['a password', { url: 'https://:secret@example.com/' }, ['url'], /without credentials/],
    ['a fragment', { url: 'https://example.com/#' }, ['url'], /without a fragment/],
    ['a line break', { url: 'https://example.com/\na' }, ['url'], /an https URL/],
    ['a long URL', { url: `https://example.com/${'x'.repeat(2_029)}` }, ['url'], /at most 2048/],
    ['a URL that is long once it is encoded', { url: `https://example.com/${'ü'.repeat(400)}` }, ['url'], /at most 2048/],
    ['http', { url: 'http://example.com/' }, ['url'], /https.*WEBHOOKS_ALLOWED_NETWORKS/],
    ['a private address', { url: 'https://10.1.2.3/' }, ['url'], /not public \(private\)/],
    ['another spelling of the loopback', { url: 'https://0x7f.1/' }, ['url'], /127\.0\.0\.1/],
    ['the loopback of IPv6', { url: 'https://[::1]/' }, ['url'], /not public/],
    ['a mapped address', { url: 'https://[::ffff:169.254.169.254]/' }, ['url'], /not public/],
    ['no type', { types: [] }, ['types'], /null for all/],
    ['no environment', { environments: [] }, ['environments'], /null for all/],
    ['an empty description', { description: '' }, ['description'], /1 to 255/],
    ['a long description', { description: 'x'.repeat(256) }, ['description'], /1 to 255/],
    ['a line break in the description', { description: 'a\nb' }, ['description'], /control/],
  ])('rejects %s as INVALID_INPUT with the path, and creates nothing', async (_, input, path, message) => {
    const { code, issues } = await mutate('create', { url, ...input });
    expect([code, issues.map((issue: { path: string[] }) => issue.path)]).toEqual(['INVALID_INPUT', [path]]);
    expect(issues[0].message).toMatch(message);
    expect((await list()).totalCount).toBe(0);
    expect(await events()).toEqual([]);
  });

  test.each([
    ['http://10.1.2.3:8080/hooks', undefined],
    ['https://10.1.2.3/hooks', undefined],
    ['http://[fd00::1]/hooks', undefined],
    ['http://hooks.internal/', undefined],
    ['http://10.2.0.1/hooks', /10\.2\.0\.1/],
    ['https://10.2.0.1/hooks', /10\.2\.0\.1/],
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
  test('changes what is given, leaves the rest, and records what differs', async () => {
    const { webhook } = await create({ url, types: ['USER_GROUP_CREATED'], description: 'old' });
    const { id, number } = webhook;
    const changed = await mutate('update', { id, types: null, environments: ['NONE'], description: null, enabled: false });
    const expected = { types: null, environments: ['NONE'], description: null, status: 'DISABLED', disabledReason: null };
    expect(changed.webhook).toEqual({ ...webhook, ...expected });
    expect((await mutate('update', { id, url: 'https://hooks.example.com/other' })).webhook).toMatchObject({
      ...expected,
      url: 'https://hooks.example.com/other',
    });
    expect((await events()).slice(1)).toEqual([
      {
        type: 'webhook.updated',
        environment: 'None',
        changes: {
          webhook: { from: number, to: number },
          types: { from: ['user_group.created'], to: null },
          environments: { from: null, to: ['NONE'] },
          description: { from: 'old', to: null },
          enabled: { from: true, to: false },
        },
      },
      {
        type: 'webhook.updated',
        environment: 'None',
        changes: {
          webhook: { from: number, to: number },
          url: { from: 'https://hooks.example.com', to: 'https://hooks.example.com' },
        },
      },
    ]);
  });

  test('with equal values changes and records nothing, and refuses null where that means nothing', async () => {
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
    expect(await events()).toHaveLength(1);
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
    // Those that are due already are no part of what is moved, however many they are.
    await prisma.$executeRaw`
      insert into webhook_delivery (webhook_id, event_id, type, body, next_attempt_at)
      select ${webhook.number}::int, 'due', 'x', '{}', now() from generate_series(1, 10000)`;
    await setEndOfFeed(99_000);

    const enabled = await mutate('update', { id: webhook.id, enabled: true });
    expect(enabled.webhook).toMatchObject({ status: 'ENABLED', disabledReason: null, failingSince: null });
    const changes = { enabled: { from: false, to: true }, disabledReason: { from: 'It failed.', to: null } };
    expect((await events()).at(-1)).toMatchObject({ type: 'webhook.updated', changes });
    expect((await prisma.webhook.findUniqueOrThrow({ where })).position).toBe(7n);
    const deliveries = await prisma.webhookDelivery.findMany({ where: { eventId: 'x' }, orderBy: { id: 'asc' } });
    expect(deliveries.map(({ nextAttemptAt }) => nextAttemptAt < later)).toEqual([true, false]);
  });

  test('another URL has not failed yet', async () => {
    const { webhook } = await create({ url });
    const { prisma } = gateway.database;
    await prisma.webhook.update({ where: { id: webhook.number }, data: { failingSince: new Date() } });
    expect((await mutate('update', { id: webhook.id, description: 'x' })).webhook.failingSince).not.toBeNull();
    expect((await mutate('update', { id: webhook.id, url: 'https://example.com/' })).webhook.failingSince).toBeNull();
  });

  test('checks the values as createWebhook does', async () => {
    const { webhook } = await create({ url });
    const { code, issues } = await mutate('update', { id: webhook.id, url: 'http://10.1.2.3/', types: [] });
    expect([code, issues.map(({ path }: { path: string[] }) => path)]).toEqual(['INVALID_INPUT', [['url'], ['types']]]);
  });
});

test('deleteWebhook deletes it with its deliveries, and records that', async () => {
  const { webhook } = await create();
  const { prisma } = gateway.database;
  // More than one statement removes. Prisma would send parts of so many rows to one connection at once.
  await prisma.$executeRaw`
    insert into webhook_delivery (webhook_id, event_id, type, body) select ${webhook.number}::int, 'x', 'x', '{}' from generate_series(1, 21000)`;
  expect(await mutate('delete', { id: webhook.id })).toMatchObject({ deletedId: webhook.id });
  expect([(await list()).totalCount, await prisma.webhookDelivery.count()]).toEqual([0, 0]);
  const changes = { webhook: { from: webhook.number, to: null } };
  expect((await events()).at(-1)).toEqual({ type: 'webhook.deleted', environment: 'None', changes });
});

describe.each(['update', 'rotate', 'delete', 'test'] as const)('%s', (operation) => {
  test.each([
    ['a webhook that does not exist', webhookId(2_000_000_000), 'NOT_FOUND'],
    ['the ID of something else', 'VXNlckdyb3VwOjE=', 'INVALID_INPUT'],
    ['a text that is no ID', 'x', 'INVALID_INPUT'],
    ['a number that no webhook can have', webhookId(2 ** 31), 'INVALID_INPUT'],
  ])('of %s is an error', async (_, id, code) => {
    expect(await mutate(operation, { id })).toMatchObject({ code });
  });
});

test('webhooks lists pages, the newest first', async () => {
  const numbers: number[] = [];
  for (const description of ['one', 'two', 'three']) numbers.unshift((await create({ description })).webhook.number);
  const first = await list({ first: 2 });
  expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
  const second = await list({ first: 2, after: first.pageInfo.endCursor });
  expect([...first.nodes, ...second.nodes].map(({ number }: { number: number }) => number)).toEqual(numbers);
  expect(second.pageInfo.hasNextPage).toBe(false);
  expect(await list({ first: 101 })).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await list({ after: 'x' })).toMatchObject({ code: 'INVALID_INPUT' });
});

test('node finds a webhook; a type of a newer version is not shown', async () => {
  const { webhook } = await create({ types: ['USER_GROUP_CREATED'] });
  const data = { types: ['user_group.created', 'user_group.merged'] };
  await gateway.database.prisma.webhook.update({ where: { id: webhook.number }, data });
  const find = async (id: string) =>
    (await gateway.graphql('query ($id: ID!) { node(id: $id) { id ... on Webhook { types } } }', { id }, { token: admin })).json;
  expect(await find(webhook.id)).toEqual({ data: { node: { id: webhook.id, types: ['USER_GROUP_CREATED'] } } });
  expect(await find(webhookId(2_000_000_000))).toEqual({ data: { node: null } });
});
