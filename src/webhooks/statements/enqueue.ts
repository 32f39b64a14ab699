import type { Database } from '../../database/client.ts';
import type { EventEnvironment } from '../../generated/prisma/client.ts';
import type { DeliveryDraft } from '../body.ts';

/** Which events a webhook takes, and up to where it has them. */
export interface Subscription {
  /** None means all. */
  readonly types: readonly string[];
  /** None means all. */
  readonly environments: readonly EventEnvironment[];
  /** The position and the epoch of the feed behind which the next events are. */
  readonly position: bigint;
  readonly epoch: string;
}

type Query = Pick<Database, 'query'>;

/**
 * Locks a webhook until the transaction ends.
 *
 * @returns undefined if it has every event already, is disabled, or another gateway has it.
 */
export async function lockSubscription({ query }: Query, webhookId: number): Promise<Subscription | undefined> {
  const [row] = await query('lock-subscription', lock, [webhookId]);
  if (!row) return undefined;
  const [types, environments, position, epoch] = row.map(String) as [string, string, string, string];
  return { types: JSON.parse(types), environments: JSON.parse(environments), position: BigInt(position), epoch };
}

const lock = `
  select to_json(w.types), to_json(w.environments), w.position, feed.epoch from webhook w cross join event_feed feed
  where w.id = $1::int and w.enabled and w.position < feed.last_position for update of w skip locked`;

/** Creates the deliveries of a webhook, in this order, and moves its position, in the transaction that has locked it. */
export async function addDeliveries(
  { query }: Query,
  webhookId: number,
  position: bigint,
  drafts: readonly DeliveryDraft[],
): Promise<void> {
  const lists = (['eventId', 'type', 'body'] as const).map((field) => drafts.map((draft) => draft[field]));
  await query('add-deliveries', add, [webhookId, position, ...lists]);
}

const add = `
  with moved as (update webhook set position = $2::bigint where id = $1::int)
  insert into webhook_delivery (webhook_id, event_id, type, body)
  select $1::int, event_id, type, body from unnest($3::text[], $4::text[], $5::text[]) with ordinality
    as draft (event_id, type, body, place) order by place`;
