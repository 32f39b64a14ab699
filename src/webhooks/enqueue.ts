import { everyEnvironment } from '../audit-log/events.ts';
import { readFeed, readFeedState } from '../audit-log/feed.ts';
import type { Sql } from '../database/client.ts';
import { draftDelivery } from './body.ts';
import type { WebhookWork } from './deliver.ts';

/** How many events get a delivery in one statement at most. */
const maxEvents = 100;

/**
 * Creates deliveries of the next events that a webhook takes, in the statement that moves its position: an event has a delivery
 * exactly if it is before the position. Does nothing if the webhook has changed since it was read.
 *
 * @returns `isIncomplete`: events were removed before they had a delivery, or are not in this copy of the database.
 */
export async function enqueueDeliveries(
  sql: Sql,
  { id, types, environments, position, epoch }: WebhookWork,
): Promise<{ readonly isIncomplete: boolean }> {
  const page = await readFeed(sql, {
    environments: environments.length > 0 ? environments : everyEnvironment,
    types: types.length > 0 ? types : undefined,
    after: { position, epoch },
    limit: maxEvents,
    withChanges: true,
  });
  const through = page?.through.position ?? (await readFeedState(sql)).removedThrough;
  const drafts = page?.events.map((event) => draftDelivery(event)) ?? [];
  const lists = (['eventId', 'type', 'body'] as const).map((field) => drafts.map((draft) => draft[field]));
  const moved = await sql('add-deliveries', add, [id, position, types, environments, through, ...lists]);
  return { isIncomplete: moved.length > 0 && !page };
}

const add = `
  with moved as (
    update webhook set position = $5::bigint
    where id = $1::int and enabled and position = $2::bigint and types = $3::text[] and environments = $4::event_environment[]
    returning id
  ), added as (
    insert into webhook_delivery (webhook_id, event_id, type, body)
    select moved.id, event_id, type, body from moved, unnest($6::text[], $7::text[], $8::text[]) with ordinality
      as draft (event_id, type, body, place) order by place
  )
  select id from moved`;
