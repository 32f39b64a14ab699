import { type Context, inTransaction } from '../app.ts';
import { type EventPosition, eventKey, everyEnvironment, readEventKey } from '../audit-log/events.ts';
import { cursorExpired, feedPositionOf, readFeed } from '../audit-log/feed.ts';
import { readClock } from '../database/client.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import type { Event, Prisma, WebhookDelivery } from '../generated/prisma/client.ts';
import { draftDelivery, globalId } from './body.ts';
import { webhookLimits } from './rules.ts';
import { type ListedWebhook, lockWebhook } from './webhooks.ts';

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
