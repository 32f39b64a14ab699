import { type Context, inTransaction, readInTurn } from '../app.ts';
import { type EventPosition, eventKey, everyEnvironment, readEventKey } from '../audit-log/events.ts';
import { cursorExpired, feedPositionOf, readFeed } from '../audit-log/feed.ts';
import { readClock } from '../database/client.ts';
import { byId, type CountedPage, type ListOrder, type Page, type PageInput, pageOf, sectionOf } from '../database/list.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import type { Event, Prisma, WebhookDelivery, WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import { draftDelivery, globalId } from './deliver.ts';
import { type ListedWebhook, lockWebhook, unlisted, webhookLimits } from './webhooks.ts';

const { maxRedeliveredIds } = webhookLimits;

/** The type of what {@link sendTestEvent} sends. */
const testEventType = 'webhook.test';

/**
 * Sends an event that is none of the audit log, to try a webhook out. It is sent soon, like any other.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput when the webhook is disabled.
 * @throws NotFound when no webhook has this number.
 */
export async function sendTestEvent(context: Context, id: number): Promise<WebhookDelivery> {
  context.caller.require('admin');
  return inTransaction(context, async ({ db }) => {
    await findEnabled(db, id, 'id');
    const createdAt = await readClock(db);
    const data = { id: globalId('Webhook', id), provided_id: null, team_id: null, environment: 'None', changed: [] };
    const body = JSON.stringify({ type: testEventType, timestamp: createdAt.toISOString(), data });
    const event = { eventId: `test_${crypto.randomUUID()}`, type: testEventType, body };
    return db.webhookDelivery.create({ data: { webhookId: id, ...event, createdAt, nextAttemptAt: createdAt } });
  });
}

/**
 * Sends events to a webhook again, whether they were delivered or not. All of them, or none.
 *
 * @param eventIds the IDs of 1 to {@link maxRedeliveredIds} events that the webhook takes.
 * @returns the new deliveries, in the order of the events.
 * @throws InvalidInput, also when the webhook is disabled, or does not take one of the events.
 * @throws NotFound when no webhook has this number.
 */
export async function redeliverEvents(context: Context, id: number, eventIds: readonly string[]): Promise<WebhookDelivery[]> {
  context.caller.require('admin');
  if (eventIds.length === 0 || eventIds.length > maxRedeliveredIds) {
    throw new InvalidInput([{ path: ['ids'], message: `must have 1 to ${maxRedeliveredIds} ids.` }]);
  }
  return inTransaction(context, async ({ db }) => {
    const webhook = await findEnabled(db, id, 'webhook');
    const events = await findEvents(db, webhook, eventIds);
    const found = new Map(events.map((event) => [globalId('Event', eventKey(event)), event]));
    const issues = eventIds.flatMap((id, index): Issue[] => (found.has(id) ? [] : [{ path: ['ids', index], message: notTaken }]));
    if (issues.length > 0) throw new InvalidInput(issues);
    const createdAt = await readClock(db);
    const times = { createdAt, nextAttemptAt: createdAt };
    const data = events.map((event) => ({ webhookId: id, ...draftDelivery(event), ...times }));
    return db.webhookDelivery.createManyAndReturn({ data });
  });
}

const notTaken =
  'is not the ID of an event that the webhook takes: it is not in the audit log any longer, or its type or its environment is not one of the webhook’s.';

/** The events with these IDs that a webhook takes. */
async function findEvents(
  db: Prisma.TransactionClient,
  { types, environments }: ListedWebhook,
  ids: readonly string[],
): Promise<Event[]> {
  const positions = ids.flatMap((id) => readEventId(id) ?? []);
  return db.event.findMany({
    where: {
      // Not pairs of them, which take several times as long: an id has one time.
      occurredAt: { in: positions.map(({ occurredAt }) => occurredAt) },
      id: { in: positions.map(({ id }) => id) },
      environment: { in: environments.length > 0 ? environments : [...everyEnvironment] },
      ...(types.length > 0 && { type: { in: types } }),
    },
    orderBy: [{ occurredAt: 'asc' }, { id: 'asc' }],
  });
}

/** The position that the globally unique ID of an event holds; undefined for a text that is none. */
function readEventId(eventId: string): EventPosition | undefined {
  const [, key = ''] = /^Event:(.+)$/.exec(Buffer.from(eventId, 'base64').toString()) ?? [];
  return readEventKey(key);
}

/** The webhook with this number, which nobody else changes until the transaction ends. @throws InvalidInput, NotFound. */
async function findEnabled(db: Prisma.TransactionClient, id: number, member: string): Promise<ListedWebhook> {
  const webhook = await lockWebhook(db, id);
  if (webhook.enabled) return webhook;
  throw new InvalidInput([
    { path: [member], message: 'is a webhook that is disabled. Enable it (updateWebhook, or `webhooks enable`) first.' },
  ]);
}

/**
 * Sends every event again that follows a cursor of the feed, and that the webhook takes, whether it was delivered or not: the
 * webhook goes back to that place.
 *
 * @throws InvalidInput, also when the webhook is disabled.
 * @throws NotFound when no webhook has this number.
 * @throws GatewayError `CURSOR_EXPIRED` when events behind the cursor are no longer there.
 */
export async function redeliverEventsAfter(context: Context, id: number, cursor: string): Promise<void> {
  context.caller.require('admin');
  const after = feedPositionOf(cursor);
  const page = await readFeed(context.sql, { environments: everyEnvironment, after, limit: 1, withChanges: false });
  if (!page) throw cursorExpired();
  await inTransaction(context, async ({ db }) => {
    await findEnabled(db, id, 'webhook');
    // Never forward, where it would leave out events.
    await db.webhook.updateMany({ where: { id, position: { gt: after.position } }, data: { position: after.position } });
  });
}

const newestFirst = (name: string, type: string): ListOrder => ({
  name,
  direction: 'desc',
  by: [{ field: 'id', sql: 'id', type }],
});
const webhookOrder = newestFirst('Webhook', 'int');
const deliveryOrder = newestFirst('WebhookDelivery', 'bigint');

/**
 * A page of the webhooks, the newest first.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export async function listWebhooks(context: Context, input: PageInput): Promise<CountedPage<ListedWebhook>> {
  context.caller.require('admin');
  const section = sectionOf(input, webhookOrder);
  const found = await readInTurn(context, ({ db }) => db.webhook.findMany({ ...byId<number>(section), omit: unlisted }));
  return { ...pageOf(section, found), totalCount: () => readInTurn(context, ({ db }) => db.webhook.count()) };
}

/** The webhook with this number; undefined when there is none. @throws Forbidden without `admin`. */
export async function findWebhook(context: Context, id: number): Promise<ListedWebhook | undefined> {
  context.caller.require('admin');
  return (await readInTurn(context, ({ db }) => db.webhook.findUnique({ where: { id }, omit: unlisted }))) ?? undefined;
}

/** Which deliveries are listed. */
export interface DeliveryPageInput extends PageInput {
  /** Only those with this status. */
  readonly status?: WebhookDeliveryStatus | null | undefined;
}

/**
 * A page of the deliveries of a webhook, the newest first; without any if there is no such webhook.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export async function listDeliveries(
  context: Context,
  webhookId: number,
  { status, ...input }: DeliveryPageInput,
): Promise<Page<WebhookDelivery>> {
  context.caller.require('admin');
  const section = sectionOf(input, deliveryOrder);
  const { where, ...rest } = byId<bigint>(section);
  const listed = { webhookId, ...(status && { status }), ...where };
  return pageOf(section, await readInTurn(context, ({ db }) => db.webhookDelivery.findMany({ where: listed, ...rest })));
}

/** The delivery with this number; undefined when there is none. @throws Forbidden without `admin`. */
export async function findDelivery(context: Context, id: bigint): Promise<WebhookDelivery | undefined> {
  context.caller.require('admin');
  return (await readInTurn(context, ({ db }) => db.webhookDelivery.findUnique({ where: { id } }))) ?? undefined;
}
