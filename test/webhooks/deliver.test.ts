import { encodeGlobalID } from '@pothos/plugin-relay';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifyWebhook } from '../../client/src/index.ts';
import { contextOf, createApp } from '../../src/app.ts';
import { Caller, systemAuthor } from '../../src/caller.ts';
import { logForm, logOutages } from '../../src/log.ts';
import { metrics } from '../../src/metrics.ts';
import { type Deliveries, type DeliveryOptions, startDeliveries } from '../../src/webhooks/deliver.ts';
import { createWebhook, updateWebhook, type WebhookRequest } from '../../src/webhooks/webhooks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testKeys } from '../support/keys.ts';
import { until } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  log.length = 0;
  await database.pool.query('truncate event, webhook, webhook_delivery');
});

const running: Deliveries[] = [];
const receivers: Receiver[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((deliveries) => deliveries.stop()));
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

const log: string[] = [];
const networks = ['127.0.0.0/8'];

/** Starts what a gateway does, with everything at once. */
function deliver(options: Partial<DeliveryOptions> = {}, sql: TestDatabase['sql'] = database.sql, keys = testKeys): Deliveries {
  const logger = pino({ ...logForm, level: 'info' }, { write: (line: string) => void log.push(line) });
  const report = logOutages(logger, 'webhooks cannot be delivered', 'webhooks can be delivered again');
  const deliveries = startDeliveries(
    { sql, keys, log: logger, report },
    { allowedNetworks: networks, intervalMs: 10, timeoutMs: 10_000, retrySeconds: [0, 0], ...options },
  );
  running.push(deliveries);
  return deliveries;
}

async function receive(...parameters: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...parameters);
  receivers.push(receiver);
  return receiver;
}

const context = () => contextOf(createApp(database, testKeys, { webhookNetworks: networks }), Caller.trusted(systemAuthor));

const subscribe = (url: string, request: Partial<WebhookRequest> = {}) =>
  createWebhook(context(), { url, environments: ['Testing'], ...request });

/** Records events about groups with these numbers. */
async function record(teamIds: readonly number[], event: Record<string, unknown> = {}): Promise<void> {
  const of = (teamId: number) => ({
    type: 'user_group.updated',
    actorKind: 'CLI',
    actorName: 'test',
    environment: 'Testing',
    teamId,
    providedId: `group-${teamId}`,
    changes: { name: { from: 'a', to: 'b' } },
    ...event,
  });
  await database.prisma.event.createMany({ data: teamIds.map(of) as never });
}

const range = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);

const deliveries = () => database.prisma.webhookDelivery.findMany({ orderBy: { id: 'asc' } });

/** Waits until every delivery has this status. */
const untilAll = (status: 'DELIVERED' | 'FAILED', count: number) =>
  until(async () => {
    if ((await database.prisma.webhookDelivery.count({ where: { status } })) < count) return undefined;
    const all = await deliveries();
    return all.length === count && all.every((delivery) => delivery.status === status) ? all : undefined;
  }, `${count} deliveries are ${status}`);

const countDisabled = async (): Promise<number> => (await metrics.webhooksDisabled.get()).values[0]?.value ?? 0;

const teamOf = ({ body }: { body: string }): number => JSON.parse(body).data.team_id;

test('each event of the environments and types is delivered, and verifies', async () => {
  const { url, received } = await receive();
  await record([9]); // before its creation
  const { secret, webhook } = await subscribe(`${url}/hook`, { types: ['user_group.updated', 'user_group.deleted'] });
  deliver();
  await record([1, 2]);
  await record([3], { environment: 'Customer' });
  await record([4], { type: 'user_group.created' });
  await record([5], { type: 'user_group.deleted' });
  const stored = await untilAll('DELIVERED', 3);
  expect(received.map(teamOf).sort((a, b) => a - b)).toEqual([1, 2, 5]);
  const events = await database.prisma.event.findMany({ where: { teamId: { in: [1, 2, 5] } }, orderBy: { id: 'asc' } });
  expect(stored.map(({ eventId }) => eventId)).toEqual(
    events.map(({ id, occurredAt }) => encodeGlobalID('Event', `${occurredAt.getTime()}.${id}`)),
  );
  for (const { headers, body } of received) {
    const event = new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(await verifyWebhook(secret, headers, body)).toEqual(event);
    expect(stored).toContainEqual(expect.objectContaining({ eventId: headers['webhook-id'], body }));
    expect(event).toMatchObject({ data: { id: encodeGlobalID('UserGroup', teamOf({ body })), environment: 'Testing' } });
  }
  expect(stored[0]).toMatchObject({ attempts: 1, responseStatus: 204, responseBody: '', error: null });
  const after = await database.prisma.webhook.findUniqueOrThrow({ where: { id: webhook.id } });
  expect(after).toMatchObject({ failingSince: null, lastDeliveryAt: expect.any(Date) });
});

test('what fails is tried again with the same id and body, until there are no attempts left', async () => {
  const { url, received } = await receive((response, _, number) =>
    response.writeHead(number === 2 ? 302 : 500).end(`no ${number}`),
  );
  await subscribe(url);
  deliver();
  await record([1]);
  const [delivery] = await untilAll('FAILED', 1);
  expect(delivery).toMatchObject({ attempts: 3, responseStatus: 500, responseBody: 'no 3', error: null });
  expect(received).toHaveLength(3);
  expect(new Set(received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1);
});

test('a success after failures ends the failing of the webhook, and each change of that is one line of the log', async () => {
  const { url } = await receive((response, _, number) => response.writeHead(number < 3 ? 503 : 200).end());
  const { webhook } = await subscribe(`${url}/secret`);
  deliver();
  await record([1]);
  await untilAll('DELIVERED', 1);
  const lines = await until(() => log.length >= 2 && log.map((line) => JSON.parse(line)), 'two lines');
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'warn',
      webhook: webhook.id,
      host: new URL(url).host,
      status: 503,
      msg: 'deliveries to a webhook fail',
    }),
    expect.objectContaining({ level: 'info', webhook: webhook.id, msg: 'deliveries to a webhook succeed again' }),
  ]);
  expect(log.join('')).not.toContain('secret');
});

test('410 disables a webhook at once; enabled again, it takes the event that was refused, and those since', async () => {
  const { url, received } = await receive((response, _, number) => response.writeHead(number === 1 ? 410 : 200).end());
  const { webhook } = await subscribe(url);
  const disabledBefore = await countDisabled();
  deliver();
  await record([1]);
  const found = await until(
    async () => (await database.prisma.webhook.findMany({ where: { enabled: false } }))[0],
    'it is disabled',
  );
  expect(found.disabledReason).toBe('The endpoint responded with 410 Gone.');
  const event = await database.prisma.event.findFirstOrThrow({ where: { type: 'webhook.disabled' } });
  expect(event).toMatchObject({
    environment: 'None',
    actorKind: 'SYSTEM',
    changes: { webhook: { from: webhook.id, to: webhook.id }, disabledReason: { from: null, to: found.disabledReason } },
  });
  expect(await deliveries()).toMatchObject([{ status: 'PENDING', attempts: 1, responseStatus: 410 }]);
  await until(() => log.length === 2, 'two lines');
  expect(JSON.parse(log[1] as string)).toMatchObject({ webhook: webhook.id, msg: 'a webhook was disabled', status: 410 });
  expect(await countDisabled()).toBe(disabledBefore + 1);
  await record([2]);
  await updateWebhook(context(), webhook.id, { enabled: true });
  await record([3]);
  await until(() => received.length === 4, 'the three deliveries');
  expect(received.map(teamOf).sort((a, b) => Number(a) - Number(b))).toEqual([1, 1, 2, 3]);
});

test('a webhook that has failed for three days is disabled; what is pending stays so', async () => {
  const { url } = await receive((response) => response.writeHead(500).end());
  const { webhook } = await subscribe(url);
  await database.pool.query("update webhook set failing_since = now() - interval '71 hours 59 minutes'");
  deliver({ retrySeconds: range(9).map(() => 3_600) });
  await record([1]);
  await until(async () => (await deliveries())[0]?.responseStatus === 500, 'an attempt');
  expect(await database.prisma.webhook.count({ where: { enabled: true } })).toBe(1);
  await database.pool.query("update webhook set failing_since = now() - interval '72 hours 1 minute'");
  await record([2]);
  await until(async () => (await deliveries())[1]?.responseStatus === 500, 'an attempt, the first of its delivery');
  expect(await database.prisma.webhook.count({ where: { enabled: true } })).toBe(1);
  await database.pool.query('update webhook_delivery set attempts = 4, next_attempt_at = now()');
  await until(async () => (await database.prisma.webhook.count({ where: { enabled: false } })) === 1, 'it is disabled');
  const { disabledReason } = await database.prisma.webhook.findUniqueOrThrow({ where: { id: webhook.id } });
  expect(disabledReason).toBe('Every attempt has failed for 3 days.');
  expect((await deliveries()).map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
});

test('an endpoint that never responds delays no other, and gets at most four deliveries of a gateway at once', async () => {
  const hanging = await receive(() => {});
  const { url, received } = await receive();
  await subscribe(hanging.url);
  await subscribe(url);
  deliver();
  await record(range(8));
  await until(() => hanging.received.length > 0 && received.length === 8, 'the other endpoint has everything');
  expect(hanging.received).toHaveLength(4);
});

test('several gateways deliver every event of many writers, each once while nothing fails', async () => {
  const endpoints = await Promise.all(range(2).map(() => receive()));
  for (const { url } of endpoints) await subscribe(url);
  deliver();
  deliver();
  const writers = range(4).map(async (writer) => {
    await record(range(10, writer * 1_000));
  });
  await Promise.all(writers);
  await untilAll('DELIVERED', 80);
  for (const { received } of endpoints) {
    expect(received).toHaveLength(40);
    expect(new Set(received.map(teamOf)).size).toBe(40);
  }
});

test('a gateway that is killed loses nothing: another one delivers after a minute', async () => {
  const { url, received } = await receive();
  await subscribe(url);
  // Its statements stop when it has sent, as those of a killed process.
  let isDead = false;
  const sql: TestDatabase['sql'] = (name, ...statement) => {
    isDead ||= name === 'record-attempt';
    return isDead ? new Promise(() => {}) : database.sql(name, ...statement);
  };
  startDeliveries(
    { sql, keys: testKeys, log: pino({ level: 'silent' }), report: () => {} },
    { allowedNetworks: networks, intervalMs: 10 },
  );
  await record([1]);
  await until(() => isDead, 'it has sent');
  deliver();
  await record([2]);
  await until(
    async () => (await database.prisma.webhookDelivery.count({ where: { status: 'DELIVERED' } })) === 1,
    'the other works',
  );
  expect(received.map(teamOf)).toEqual([1, 2]);
  const [taken] = await deliveries();
  expect(Number(taken?.nextAttemptAt) - Number(taken?.lastAttemptAt)).toBe(60_000);
  await database.pool.query("update webhook_delivery set next_attempt_at = now() where status = 'PENDING'");
  const stored = await untilAll('DELIVERED', 2);
  expect(received.map(teamOf)).toEqual([1, 2, 1]);
  expect(stored.map(({ attempts }) => attempts)).toEqual([1, 1]);
});

test('draining begins nothing, and waits for what is in flight', async () => {
  const open: (() => void)[] = [];
  const { url, received } = await receive((response) => void open.push(() => response.writeHead(200).end()));
  await subscribe(url);
  const deliveriesOfOne = deliver();
  await record(range(5));
  await until(() => open.length === 4, 'four in flight');
  let isStopped = false;
  const stopped = deliveriesOfOne.stop().then(() => {
    isStopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isStopped).toBe(false);
  for (const each of open.splice(0)) each();
  await stopped;
  expect(received).toHaveLength(4);
  expect((await deliveries()).filter(({ status }) => status === 'PENDING')).toMatchObject([{ attempts: 0, lastAttemptAt: null }]);
});
