import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { assignPositions } from '../../src/audit-log/feed.ts';
import { enqueueDeliveries, findWork } from '../../src/webhooks/deliver.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { webhookId } from '../support/node-id.ts';
import { createWebhook, operations, sendAs } from '../support/webhooks.ts';

let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  gateway.drain(); // nothing is tried
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await gateway.database.pool.query('truncate webhook, webhook_delivery, event, user_group cascade');
});

/** A webhook to which nothing is sent but what the test sends. */
async function create(fields: object = {}) {
  const { webhook } = await createWebhook(gateway, admin, fields);
  await gateway.database.prisma.webhook.update({ where: { id: webhook.number }, data: { position: 2n ** 62n } });
  await gateway.database.prisma.webhookDelivery.deleteMany({ where: { webhookId: webhook.number } });
  return webhook;
}

const list = async (variables: object) => {
  const { json } = await gateway.graphql(operations.deliveries, { ...variables }, { token: admin });
  return json.errors ? json.errors[0].extensions : json.data.webhookDeliveries;
};
const redeliver = (webhook: string, input: object) => sendAs(gateway, admin, 'redeliver', { webhook, input });
const sendTest = (id: string) => sendAs(gateway, admin, 'test', { input: { id } });
const disable = (id: string) => sendAs(gateway, admin, 'update', { input: { id, enabled: false } });

/** The IDs of the events of groups, oldest first: each is created by a caller of Testing. */
async function createGroups(...ids: string[]): Promise<string[]> {
  for (const user_group_id of ids) await gateway.send('GET', '/api/user', { body: { user_group_id } });
  const { json } = await gateway.graphql(
    '{ events(filter: { types: [USER_GROUP_CREATED] }) { nodes { id } } }',
    {},
    { token: admin },
  );
  return json.data.events.nodes.map(({ id }: { id: string }) => id).reverse();
}

/** Creates the deliveries of what is behind the position of a webhook, as a gateway does that is not stopping. */
async function enqueue(number: number): Promise<void> {
  while (await assignPositions(gateway.database.sql));
  for (;;) {
    const [webhook] = await findWork(gateway.database.sql, number);
    if (!webhook?.isBehind) return;
    await enqueueDeliveries(gateway.database.sql, webhook);
  }
}

const eventIds = ({ nodes }: { nodes: { eventId: string }[] }) => nodes.map(({ eventId }) => eventId);

describe('sendTestEvent', () => {
  test('creates a pending delivery of an event that is not in the audit log', async () => {
    const webhook = await create();
    const { delivery } = await sendTest(webhook.id);
    expect(delivery).toMatchObject({
      eventId: expect.stringMatching(/^test_[\da-f-]{36}$/),
      type: 'webhook.test',
      status: 'PENDING',
      attempts: 0,
      nextAttemptAt: delivery.createdAt,
      lastAttemptAt: null,
      responseStatus: null,
    });
    expect(JSON.parse(delivery.body)).toEqual({
      type: 'webhook.test',
      timestamp: delivery.createdAt,
      data: { id: webhook.id, provided_id: null, team_id: null, environment: 'None', changed: [] },
    });
    expect((await list({ webhook: webhook.id })).nodes).toEqual([delivery]);
    expect(await gateway.database.prisma.event.count({ where: { type: 'webhook.test' } })).toBe(0);
    const find = 'query ($id: ID!) { node(id: $id) { ... on WebhookDelivery { eventId } } }';
    const { json } = await gateway.graphql(find, { id: delivery.id }, { token: admin });
    expect(json.data.node).toEqual({ eventId: delivery.eventId });
  });
});

describe('redeliverEvents by ids', () => {
  test('creates a delivery of each event, once, with the ID and the names of what changed', async () => {
    const webhook = await create();
    const [first = '', second = ''] = await createGroups('acme', 'globex');
    const { deliveries } = await redeliver(webhook.id, { ids: [second, first, second] });
    expect(deliveries.map(({ eventId }: { eventId: string }) => eventId)).toEqual([first, second]);
    expect(deliveries[0]).toMatchObject({ type: 'user_group.created', status: 'PENDING', attempts: 0 });
    expect(JSON.parse(deliveries[0].body)).toMatchObject({
      type: 'user_group.created',
      data: { provided_id: 'acme', environment: 'Testing', changed: ['name'] },
    });
    // Again, whether they were delivered or not.
    await redeliver(webhook.id, { ids: [first] });
    expect(eventIds(await list({ webhook: webhook.id }))).toEqual([first, second, first]);
  });

  test.each([
    ['of another type', { types: ['USER_GROUP_DELETED'] }],
    ['of another environment', { environments: ['CUSTOMER', 'NONE'] }],
  ])('rejects an event %s', async (_, fields) => {
    const webhook = await create(fields);
    const ids = await createGroups('acme');
    expect(await redeliver(webhook.id, { ids })).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['ids', '0'] }] });
  });

  test.each([
    ['that does not exist', 'RXZlbnQ6MTc2Mzg5MDAwMDAwMC4x'],
    ['of a test', 'test_0c3a5e0e-6c4b-4d3e-9d65-5d2f2f1f2a11'],
    ['of something else', webhookId(1)],
  ])('rejects all of them for an ID %s', async (_, other) => {
    const webhook = await create();
    const [id] = await createGroups('acme');
    expect(await redeliver(webhook.id, { ids: [id, other] })).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['ids', '1'] }],
    });
    expect((await list({ webhook: webhook.id })).nodes).toEqual([]);
  });
});

test('redeliverEvents to a disabled webhook is INVALID_INPUT, to none NOT_FOUND; it takes 1 to 100 ids', async () => {
  const webhook = await create();
  const [id = ''] = await createGroups('acme');
  expect((await redeliver(webhook.id, { ids: Array(100).fill(id) })).deliveries).toHaveLength(1);
  for (const ids of [[], Array(101).fill(id)])
    expect(await redeliver(webhook.id, { ids })).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['ids'] }] });
  await disable(webhook.id);
  expect(await redeliver(webhook.id, { ids: [id] })).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await redeliver(webhookId(2_000_000_000), { ids: [id] })).toMatchObject({ code: 'NOT_FOUND' });
});

// Its pages: test/contract/lists.test.ts.
test('webhookDeliveries lists those of one webhook, the newest first, and those with a status', async () => {
  const [webhook, other] = [await create(), await create()];
  await sendTest(other.id);
  const tried = { attempts: 3, lastAttemptAt: new Date(0), responseStatus: 500, responseBody: 'no', error: 'late' };
  const data = (['DELIVERED', 'FAILED', 'PENDING', 'FAILED'] as const).map((status, index) => {
    return { webhookId: webhook.number, eventId: `event ${index}`, type: 'user_group.created', body: '{}', status, ...tried };
  });
  await gateway.database.prisma.webhookDelivery.createMany({ data });
  expect(eventIds(await list({ webhook: webhook.id }))).toEqual(['event 3', 'event 2', 'event 1', 'event 0']);
  const failed = await list({ webhook: webhook.id, status: 'FAILED' });
  expect(eventIds(failed)).toEqual(['event 3', 'event 1']);
  const shown = { ...tried, status: 'FAILED', nextAttemptAt: null, lastAttemptAt: '1970-01-01T00:00:00.000Z' };
  expect(failed.nodes[0]).toMatchObject(shown);
  expect(await list({ webhook: webhookId(2_000_000_000) })).toMatchObject({ nodes: [] });
  expect(await list({ webhook: 'x' })).toMatchObject({ code: 'INVALID_INPUT' });
});

describe('redeliverEvents by a cursor of the feed', () => {
  const feed = async (after: string | null = null) => {
    const query = 'query ($after: String) { eventFeed(after: $after, types: [USER_GROUP_CREATED]) { cursor nodes { id } } }';
    const { json } = await gateway.graphql(query, { after }, { token: admin });
    return json.data.eventFeed;
  };
  const positionOf = async (id: number) => (await gateway.database.prisma.webhook.findUniqueOrThrow({ where: { id } })).position;

  test('sends every event after it again that the webhook takes, and none before it', async () => {
    const webhook = await create({ types: ['USER_GROUP_CREATED'] });
    await createGroups('before');
    const { cursor } = await feed('latest');
    const [, second, third] = await createGroups('second', 'third');
    const { lastPosition } = await gateway.database.prisma.eventFeed.findUniqueOrThrow({ where: { id: 1 } });
    expect(await redeliver(webhook.id, { after: cursor })).toEqual({ deliveries: null });
    await enqueue(webhook.number);
    expect(eventIds(await list({ webhook: webhook.id }))).toEqual([third, second]);
    expect(await positionOf(webhook.number)).toBeGreaterThanOrEqual(lastPosition);
  });

  test('of events that are no longer kept is CURSOR_EXPIRED', async () => {
    const webhook = await create();
    const { cursor } = await feed('latest');
    await gateway.database.pool.query(
      'update event_feed set last_position = last_position + 10, removed_through = last_position + 5',
    );
    const variables = { webhook: webhook.id, input: { after: cursor } };
    const { json } = await gateway.graphql(operations.redeliver, variables, { token: admin });
    expect(json.errors[0].extensions.code).toBe('CURSOR_EXPIRED');
    expect(await positionOf(webhook.number)).toBe(2n ** 62n);
  });
});
