import type { Database } from '../../database/client.ts';
import type { DeliveryDraft } from '../body.ts';
import type { WebhookWork } from './work.ts';

/**
 * Creates the deliveries of a webhook, in this order, and moves its position, in one statement: unless meanwhile its position, or
 * what it takes, has changed, or somebody changes it.
 *
 * @returns whether it did.
 */
export async function addDeliveries(
  { query }: Pick<Database, 'query'>,
  { id, position, types, environments }: WebhookWork,
  through: bigint,
  drafts: readonly DeliveryDraft[],
): Promise<boolean> {
  const lists = (['eventId', 'type', 'body'] as const).map((field) => drafts.map((draft) => draft[field]));
  return (await query('add-deliveries', add, [id, position, types, environments, through, ...lists])).length > 0;
}

const add = `
  with unchanged as materialized (
    select id from webhook where id = $1::int and enabled and position = $2::bigint
      and types = $3::text[] and environments = $4::event_environment[] for update skip locked
  ), moved as (
    update webhook w set position = $5::bigint from unchanged where w.id = unchanged.id returning w.id
  ), added as (
    insert into webhook_delivery (webhook_id, event_id, type, body)
    select moved.id, event_id, type, body from moved, unnest($6::text[], $7::text[], $8::text[]) with ordinality
      as draft (event_id, type, body, place) order by place
  )
  select from moved`;
