import { type EventPosition, eventKey, everyEnvironment, readEventKey } from '../audit-log/events.ts';
import { cursorExpired, feedPositionOf, readFeed } from '../audit-log/feed.ts';
import { readClock } from '../database/timed-read.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import type { Event, Prisma, WebhookDelivery } from '../generated/prisma/client.ts';
import { draftDelivery, type GlobalId } from './body.ts';
import { webhookLimits } from './rules.ts';
import { lockWebhook } from './statements/webhooks.ts';
import { findWebhook, type ListedWebhook, type WebhookContext } from './webhooks.ts';

const { maxRedeliveredIds } = webhookLimits;

/** What deliveries are created with. */
interface Context extends Pick<WebhookContext, 'db'> {
  readonly globalId: GlobalId;
}

/** The type of what {@link sendTestEvent} sends. */
const testEventType = 'webhook.test';

/**
 * Sends an event that is none of the audit log, to try a webhook out. It is sent soon, like any other.
 *
 * @throws InvalidInput when the webhook is disabled.
 * @throws NotFound when no webhook has this number.
 */
export async function sendTestEvent({ db, globalId }: Context, id: number): Promise<WebhookDelivery> {
  return db.$transaction(async (transaction) => {
    await findEnabled(transaction, id, 'id');
    const createdAt = await readClock(transaction);
    const data = { id: globalId('Webhook', id), provided_id: null, team_id: null, environment: 'None', changed: [] };
    const body = JSON.stringify({ type: testEventType, timestamp: createdAt.toISOString(), data });
    const event = { eventId: `test_${crypto.randomUUID()}`, type: testEventType, body };
    return transaction.webhookDelivery.create({ data: { webhookId: id, ...event, createdAt, nextAttemptAt: createdAt } });
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
export async function redeliverEvents(
  { db, globalId }: Context,
  id: number,
  eventIds: readonly string[],
): Promise<WebhookDelivery[]> {
  if (eventIds.length === 0 || eventIds.length > maxRedeliveredIds) {
    throw new InvalidInput([{ path: ['ids'], message: `must have 1 to ${maxRedeliveredIds} ids.` }]);
  }
  return db.$transaction(async (transaction) => {
    const webhook = await findEnabled(transaction, id, 'webhook');
    const events = await findEvents(transaction, webhook, eventIds);
    const found = new Map(events.map((event) => [globalId('Event', eventKey(event)), event]));
    const issues = eventIds.flatMap((id, index): Issue[] => (found.has(id) ? [] : [{ path: ['ids', index], message: notTaken }]));
    if (issues.length > 0) throw new InvalidInput(issues);
    const createdAt = await readClock(transaction);
    const times = { createdAt, nextAttemptAt: createdAt };
    const data = events.map((event) => ({ webhookId: id, ...draftDelivery(event, globalId), ...times }));
    return transaction.webhookDelivery.createManyAndReturn({ data });
  });
}

const notTaken =
  'is not the ID of an event that the webhook takes: it is not in the audit log any longer, or its type or its environment is not one of the webhook’s.';

/** The events with these IDs that a webhook takes. */
async function findEvents(
  transaction: Pick<Prisma.TransactionClient, 'event'>,
  { types, environments }: ListedWebhook,
  ids: readonly string[],
): Promise<Event[]> {
  const positions = ids.flatMap((id) => readEventId(id) ?? []);
  return transaction.event.findMany({
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
async function findEnabled(transaction: Prisma.TransactionClient, id: number, member: string): Promise<ListedWebhook> {
  await lockWebhook(transaction, id);
  const webhook = await findWebhook(transaction, id);
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
export async function redeliverEventsAfter(
  { db, feed }: Pick<WebhookContext, 'db' | 'feed'>,
  id: number,
  cursor: string,
): Promise<void> {
  const after = feedPositionOf(cursor);
  if (!(await readFeed(feed.sql, { environments: everyEnvironment, after, limit: 1, withChanges: false }))) throw cursorExpired();
  await db.$transaction(async (transaction) => {
    await findEnabled(transaction, id, 'webhook');
    // Never forward, where it would leave out events.
    await transaction.webhook.updateMany({
      where: { id, position: { gt: after.position } },
      data: { position: after.position },
    });
  });
}
