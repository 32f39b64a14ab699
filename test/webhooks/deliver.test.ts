import { encodeGlobalID } from '@pothos/plugin-relay';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { verifyWebhook } from '../../client/src/index.ts';
import { assignPositions } from '../../src/audit-log/feed.ts';
import { systemAuthor } from '../../src/audit-log/statements/author.ts';
import { createDb } from '../../src/db.ts';
import { KeyRing } from '../../src/encryption/keys.ts';
import { logForm, logOutages } from '../../src/log.ts';
import { metrics } from '../../src/metrics/metrics.ts';
import { type Deliveries, type DeliveryOptions, startDeliveries } from '../../src/webhooks/deliver.ts';
import { enqueueDeliveries } from '../../src/webhooks/enqueue.ts';
import { findWork } from '../../src/webhooks/statements/work.ts';
import { createWebhook, rotateWebhookSecret, updateWebhook, type WebhookRequest } from '../../src/webhooks/webhooks.ts';
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
function deliver(
  options: Partial<DeliveryOptions> = {},
  on: Pick<TestDatabase, 'query' | 'sql' | 'transaction'> = database,
  keys = testKeys,
): Deliveries {
  const logger = pino({ ...logForm, level: 'info' }, { write: (line: string) => void log.push(line) });
  const report = logOutages(logger, 'webhooks cannot be delivered', 'webhooks can be delivered again');
  const deliveries = startDeliveries(
    { database: on, keys, log: logger, globalId: encodeGlobalID, report },
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

const context = () => ({ db: createDb(database), keys: testKeys, feed: database, webhookNetworks: networks });

const subscribe = (url: string, request: Partial<WebhookRequest> = {}) =>
  createWebhook(context(), { url, environments: ['Testing'], ...request }, systemAuthor);

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

test('a webhook takes no events from before its creation', async () => {
  const { url, received } = await receive();
  await record([1]);
  await subscribe(url);
  await record([2]);
  deliver();
  await untilAll('DELIVERED', 1);
  expect(received.map(teamOf)).toEqual([2]);
});

test('events of a webhook, its creation among them, and of the whole gateway are delivered too', async () => {
  const { url, received } = await receive();
  const { webhook } = await subscribe(url, { environments: ['None'] });
  await database.prisma.event.create({
    data: { type: 'signing_key.rotated', actorKind: 'CLI', actorName: 'test', environment: 'None' },
  });
  deliver();
  await untilAll('DELIVERED', 2);
  const subjects = new Map(received.map(({ body }) => JSON.parse(body)).map(({ type, data }) => [type, data.id]));
  expect(Object.fromEntries(subjects)).toEqual({
    'webhook.created': encodeGlobalID('Webhook', webhook.id),
    'signing_key.rotated': null,
  });
});

test('while a secret is replaced, deliveries have both signatures', async () => {
  const { url, received } = await receive();
  const { secret, webhook } = await subscribe(url);
  const rotated = await rotateWebhookSecret(context(), webhook.id, 60, systemAuthor);
  deliver();
  await record([1]);
  await untilAll('DELIVERED', 1);
  const [{ headers, body } = { headers: {}, body: '' }] = received;
  for (const each of [secret, rotated.secret]) new Webhook(each).verify(body, headers as Record<string, string>);
  await database.pool.query("update webhook set previous_secret_ends_at = now() - interval '1 second'");
  await record([2]);
  await untilAll('DELIVERED', 2);
  const last = received[1] as (typeof received)[0];
  new Webhook(rotated.secret).verify(last.body, last.headers as Record<string, string>);
  expect(() => new Webhook(secret).verify(last.body, last.headers as Record<string, string>)).toThrow();
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

test('Retry-After lengthens a wait', async () => {
  const { url } = await receive((response, _, number) => response.writeHead(429, { 'retry-after': `${number}000` }).end());
  await subscribe(url);
  deliver();
  await record([1]);
  const [delivery] = await until(async () => {
    const all = await deliveries();
    return all[0]?.responseStatus === 429 ? all : undefined;
  }, 'an attempt');
  expect(delivery).toMatchObject({ status: 'PENDING', attempts: 1 });
  const waitMs = Number(delivery?.nextAttemptAt) - Number(delivery?.lastAttemptAt);
  expect(waitMs).toBeGreaterThan(999_000);
  expect(waitMs).toBeLessThan(1_010_000);
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
  await updateWebhook(context(), webhook.id, { enabled: true }, systemAuthor);
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

test.each([410, 500])('a response of the former URL (%d) says nothing about the new one', async (status) => {
  const open: (() => void)[] = [];
  const former = await receive((response) => void open.push(() => response.writeHead(status).end()));
  const { url } = await receive();
  const { webhook } = await subscribe(former.url);
  deliver({ retrySeconds: [3_600] });
  await record([1]);
  await until(() => open.length === 1, 'the delivery');
  await updateWebhook(context(), webhook.id, { url }, systemAuthor);
  open[0]?.();
  await until(async () => (await deliveries())[0]?.responseStatus === status, 'it is recorded');
  const after = await database.prisma.webhook.findUniqueOrThrow({ where: { id: webhook.id } });
  expect(after).toMatchObject({ enabled: true, failingSince: null });
});

test('a secret that cannot be decrypted is no failure of the endpoint', async () => {
  const { url } = await receive();
  const { webhook } = await subscribe(url);
  await database.pool.query("update webhook set secret_encrypted = '\\x00'");
  deliver();
  await record([1]);
  const [delivery] = await until(async () => ((await deliveries())[0]?.error ? deliveries() : undefined), 'it is recorded');
  expect(delivery).toMatchObject({ status: 'PENDING', attempts: 0, nextAttemptAt: delivery?.createdAt });
  expect(await database.prisma.webhook.findUniqueOrThrow({ where: { id: webhook.id } })).toMatchObject({ failingSince: null });
  expect(log.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 'error', webhook: webhook.id, msg: 'the secret of a webhook cannot be decrypted' }),
  ]);
});

test('a gateway that cannot decrypt the secret of a webhook keeps no delivery from one that can', async () => {
  const { url } = await receive();
  await subscribe(url);
  deliver({}, database, new KeyRing([Buffer.alloc(32, 1)]));
  await record([1]);
  await until(async () => (await deliveries())[0]?.error, 'it is recorded');
  deliver();
  for (const teamId of range(5)) {
    await record([teamId]);
    await untilAll('DELIVERED', teamId + 1);
  }
});

test('a delivery whose webhook needs a key that is missing says which, and is counted', async () => {
  const { url } = await receive();
  await subscribe(url);
  await database.pool.query("update webhook set secret_encrypted = '\\xc0ffee11' || substr(secret_encrypted, 5)");
  const counted = async () => (await metrics.missingKeys.get()).values[0]?.value ?? 0;
  const before = await counted();
  deliver();
  await record([1]);
  const error = await until(async () => (await deliveries())[0]?.error, 'it is recorded');
  expect(error).toMatch(/the key c0ffee11, which is not among the configured keys\. The command doctor/);
  expect(await counted()).toBe(before + 1);
});

test('an endpoint that may not be reached gets nothing, and the delivery says why', async () => {
  const { url, connections } = await receive();
  await subscribe(url);
  deliver({ allowedNetworks: ['10.0.0.0/8'] });
  await record([1]);
  const [delivery] = await untilAll('FAILED', 1);
  expect(delivery).toMatchObject({ responseStatus: null, error: expect.stringContaining('127.0.0.1 is not public') });
  expect(connections()).toBe(0);
});

test('of one endpoint at most two deliveries are in flight, over all gateways, and a slow one keeps no other waiting', async () => {
  const open: (() => void)[] = [];
  const slow = await receive((response) => void open.push(() => response.writeHead(200).end()));
  const quick = await receive();
  await subscribe(slow.url);
  await subscribe(quick.url);
  for (const _ of range(3)) deliver();
  await record(range(20));
  await until(() => quick.received.length === 20, 'the quick endpoint has everything');
  const seen: number[] = [];
  for (let ended = 0; ended < 20; ended += 1) {
    await until(() => open.length > 0, 'a delivery');
    seen.push(slow.received.length - ended);
    open.shift()?.();
  }
  await untilAll('DELIVERED', 40);
  expect(Math.max(...seen)).toBeLessThanOrEqual(2);
  expect([slow.received.length, quick.received.length]).toEqual([20, 20]);
});

test('several gateways deliver every event of many writers, each once while nothing fails', async () => {
  const endpoints = await Promise.all(range(4).map(() => receive()));
  for (const { url } of endpoints) await subscribe(url);
  deliver();
  deliver();
  const writers = range(5).map(async (writer) => {
    for (const part of range(2)) await record(range(10, writer * 1_000 + part * 10));
  });
  await Promise.all(writers);
  await untilAll('DELIVERED', 400);
  for (const { received } of endpoints) {
    expect(received).toHaveLength(100);
    expect(new Set(received.map(teamOf)).size).toBe(100);
  }
});

/** A database that has a hook before its statements. */
const hooked = (before: (name: string) => Promise<void> | void): Pick<TestDatabase, 'query' | 'sql' | 'transaction'> => {
  const hook =
    (query: TestDatabase['query']): TestDatabase['query'] =>
    async (...statement) => {
      await before(statement[0]);
      return query(...statement);
    };
  return {
    query: hook(database.query),
    sql: database.sql,
    transaction: (work) => database.transaction((query) => work(hook(query))),
  };
};

const untilLeaseEnds = () => database.pool.query('update webhook set leased_until = null');

test('a lease from before the clock of the database was set back does not count', async () => {
  const { url, received } = await receive();
  await subscribe(url);
  await database.pool.query("update webhook set leased_until = now() + interval '1 hour'");
  deliver();
  await record([1]);
  await untilAll('DELIVERED', 1);
  expect(received).toHaveLength(1);
});

test('a gateway that ends in the middle loses nothing: its lease ends, and another one delivers', async () => {
  const { url, received } = await receive();
  await subscribe(url);
  // Its statements stop when it has sent: as those of a process that was killed.
  let isDead = false;
  const never = new Promise<never>(() => {});
  const dying: Pick<TestDatabase, 'query' | 'sql' | 'transaction'> = {
    query(name, ...statement) {
      isDead ||= name === 'record-attempts';
      return isDead ? never : database.query(name, ...statement);
    },
    sql: (...statement) => (isDead ? never : database.sql(...statement)),
    transaction: () => never,
  };
  startDeliveries(
    { database: dying, keys: testKeys, log: pino({ level: 'silent' }), globalId: encodeGlobalID, report: () => {} },
    { allowedNetworks: networks, intervalMs: 10 },
  );
  // Two, which are in flight together: a batch that has taken a second ends before a third.
  await record([1, 2]);
  await until(() => isDead, 'it has sent');
  expect(received.map(teamOf).sort((a, b) => a - b)).toEqual([1, 2]);
  deliver();
  await record([3]);
  await until(async () => (await database.prisma.webhookDelivery.count()) === 3, 'the other one works');
  expect(received).toHaveLength(2);
  await untilLeaseEnds();
  const stored = await untilAll('DELIVERED', 3);
  expect(received.map(teamOf).sort((a, b) => a - b)).toEqual([1, 1, 2, 2, 3]);
  expect(stored.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
});

/** The webhook with this number as a gateway finds it. */
async function work(id: number) {
  const { webhooks } = await findWork(database, 60);
  return webhooks.find((webhook) => webhook.id === id) as (typeof webhooks)[0];
}

test('position and deliveries move together, or neither does', async () => {
  const { webhook } = await subscribe('http://127.0.0.1:1/');
  await record([1, 2]);
  await assignPositions(database.sql);
  const found = await work(webhook.id);
  await refuse('insert', "new.type = 'user_group.updated'");
  await expect(enqueueDeliveries(database, found, encodeGlobalID)).rejects.toThrow('refused');
  expect(await work(webhook.id)).toMatchObject({ position: found.position, isBehind: true });
  await permit();
  expect(await enqueueDeliveries(database, found, encodeGlobalID)).toEqual({ isAny: true, hasMore: false, isIncomplete: false });
  expect(await deliveries()).toHaveLength(2);
  expect(await work(webhook.id)).toMatchObject({ isBehind: false });
});

test.each<[string, (id: number) => Promise<unknown>]>([
  ['has them already', async (id) => enqueueDeliveries(database, await work(id), encodeGlobalID)],
  ['takes other types', (id) => updateWebhook(context(), id, { types: ['user_group.created'] }, systemAuthor)],
  ['takes other environments', (id) => updateWebhook(context(), id, { environments: null }, systemAuthor)],
  ['is disabled', (id) => updateWebhook(context(), id, { enabled: false }, systemAuthor)],
])('a webhook that meanwhile %s gets no deliveries', async (_, change) => {
  const { webhook } = await subscribe('http://127.0.0.1:1/');
  await record([1]);
  await assignPositions(database.sql);
  const found = await work(webhook.id);
  await change(webhook.id);
  const before = await deliveries();
  expect(await enqueueDeliveries(database, found, encodeGlobalID)).toEqual({ isAny: false, hasMore: true, isIncomplete: false });
  expect(await deliveries()).toEqual(before);
});

test('events that were removed before they were sent are a line of the log', async () => {
  const { url, received } = await receive();
  const { webhook } = await subscribe(url);
  await record([1]);
  await assignPositions(database.sql);
  await database.pool.query('delete from event; update event_feed set removed_through = last_position');
  expect(await enqueueDeliveries(database, await work(webhook.id), encodeGlobalID)).toMatchObject({ isIncomplete: true });
  await database.pool.query('update webhook set position = 0');
  await record([2]);
  deliver();
  await untilAll('DELIVERED', 1);
  expect(received.map(teamOf)).toEqual([2]);
  expect(log.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ level: 'warn', webhook: webhook.id })]);
});

test('draining begins nothing, and waits for what is in flight', async () => {
  const open: (() => void)[] = [];
  const { url, received } = await receive((response) => void open.push(() => response.writeHead(200).end()));
  await subscribe(url);
  const deliveriesOfOne = deliver();
  await record(range(5));
  await until(() => open.length === 2, 'two in flight');
  let isStopped = false;
  const stopped = deliveriesOfOne.stop().then(() => {
    isStopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isStopped).toBe(false);
  for (const each of open.splice(0)) each();
  await stopped;
  expect(received).toHaveLength(2);
  expect((await deliveries()).map(({ status }) => status).sort()).toEqual([
    'DELIVERED',
    'DELIVERED',
    'PENDING',
    'PENDING',
    'PENDING',
  ]);
});

test('a database that fails for a time delays deliveries, and is logged once', async () => {
  const { url, received } = await receive();
  await subscribe(url);
  let failures = 0;
  const lost = () => Promise.reject(Object.assign(new Error('connection lost'), { code: '08006' }));
  const fails = () => {
    failures += 1;
    return failures > 3 && failures < 10;
  };
  deliver(
    {},
    {
      query: (...statement) => (fails() ? lost() : database.query(...statement)),
      sql: (...statement) => (fails() ? lost() : database.sql(...statement)),
      transaction: (work) => (fails() ? lost() : database.transaction(work)),
    },
  );
  await record(range(3));
  await untilAll('DELIVERED', 3);
  expect(received).toHaveLength(3);
  await until(() => log.length >= 2, 'two lines');
  expect(log.map((line) => JSON.parse(line).msg)).toEqual(['webhooks cannot be delivered', 'webhooks can be delivered again']);
});

test('what was in flight when the database failed is recorded when it responds again', async () => {
  const { url, received } = await receive();
  await subscribe(url);
  let failures = 0;
  deliver(
    {},
    hooked((name) => {
      if (name !== 'record-attempts' || failures === 3) return;
      failures += 1;
      throw Object.assign(new Error('connection lost'), { code: '08006' });
    }),
  );
  await record([1, 2]);
  await untilAll('DELIVERED', 2);
  expect(received).toHaveLength(2);
});

test('a stop while deliveries are read begins none, and lets others send them at once', async () => {
  const { url, received } = await receive();
  const { webhook } = await subscribe(url);
  let pass = () => {};
  const gate = new Promise<void>((resolve) => {
    pass = resolve;
  });
  let isReading = false;
  const slow = hooked((name) => {
    if (name !== 'take-deliveries') return;
    isReading = true;
    return gate;
  });
  const deliveriesOfOne = deliver({}, slow);
  await record([1]);
  await until(() => isReading, 'a read');
  const stopped = deliveriesOfOne.stop();
  pass();
  await stopped;
  expect(received).toEqual([]);
  expect(await work(webhook.id)).toMatchObject({ isLeased: false, dueSeconds: expect.any(Number) });
});

/** Has PostgreSQL refuse rows of deliveries, until the end of the test. @returns ends it before. */
async function refuse(event: 'insert' | 'update', condition: string): Promise<void> {
  await database.pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused' using errcode = '22021'; end $$;
    create trigger refuse before ${event} on webhook_delivery for each row when (${condition}) execute function refuse()`);
  onTestFinished(permit);
}

/** Has PostgreSQL refuse nothing anymore. */
async function permit(): Promise<void> {
  await database.pool.query('drop function if exists refuse cascade');
}

test('a response that PostgreSQL refuses keeps no others waiting, and the delivery fails without it', async () => {
  const refused = await receive((response, _, number) => response.writeHead(number === 1 ? 418 : 200).end());
  const { url, received } = await receive();
  const { webhook } = await subscribe(refused.url);
  await subscribe(url);
  await refuse('update', 'new.response_status = 418');
  deliver();
  await record([1, 2, 3]);
  const stored = await untilAll('DELIVERED', 6);
  expect(received).toHaveLength(3);
  expect(stored.map(({ attempts }) => attempts).sort()).toEqual([1, 1, 1, 1, 1, 2]);
  expect(log.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ webhook: webhook.id, msg: 'the response to a delivery cannot be stored' }),
  );
});

test('a webhook whose deliveries cannot be created keeps no others waiting, is logged once, and gets them once they can be', async () => {
  const { url } = await receive();
  const { webhook } = await subscribe(url, { description: 'refused' });
  await subscribe(url);
  await refuse('insert', `new.webhook_id = ${webhook.id}`);
  deliver();
  await record([1]);
  await untilAll('DELIVERED', 1);
  await record([2]);
  await untilAll('DELIVERED', 2);
  expect(log.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      msg: 'webhooks cannot be delivered',
      err: expect.objectContaining({ message: `Webhook ${webhook.id}: refused` }),
    }),
  ]);
  await permit();
  await untilAll('DELIVERED', 4);
});

test('a webhook that a request has locked keeps no others waiting', async () => {
  const open: (() => void)[] = [];
  const slow = await receive((response) => void open.push(() => response.writeHead(200).end()));
  const quick = await receive();
  const { webhook } = await subscribe(slow.url);
  await subscribe(quick.url);
  deliver();
  await record([1]);
  await until(() => open.length === 1, 'the slow delivery');
  const client = await database.openConnection(10_000);
  await client.query(`begin; select from webhook where id = ${webhook.id} for update`);
  open.shift()?.();
  await record([2]);
  const delivered = () => database.prisma.webhookDelivery.count({ where: { status: 'DELIVERED' } });
  await until(async () => (await delivered()) === 2, 'the quick deliveries');
  expect(await database.prisma.webhookDelivery.count({ where: { webhookId: webhook.id } })).toBe(1);
  await client.query('commit');
  await client.end();
  await until(async () => open.splice(0).map((respond) => respond()) && (await delivered()) === 4, 'the slow deliveries');
  expect(slow.received).toHaveLength(2);
  expect(log).toEqual([]);
});
