import type { Database } from '../database/client.ts';
import { idempotencyHours, usedKeys } from '../idempotency/statements.ts';

/** How many rows a batch of housekeeping removed; undefined if another instance is removing rows. */
export type Removal = number | undefined;

/** Removes a batch of rows that are no longer needed: at most `limit`, in one short statement. */
export type RemoveBatch = (limit: number) => Promise<Removal>;

/** The number of the advisory lock under which one instance at a time removes rows, for the length of a statement. */
const housekeepingLock = 727_090;

/** Removes events that are older than so many days. The index has them in order: of a batch only its own rows are read. */
export function bindEventRemoval({ query }: Pick<Database, 'query'>, days: number): RemoveBatch {
  return async (limit) => removalOf(await query('remove-events', removeEvents, [limit, days]));
}

/** Removes replaced user group tokens whose grace period is over. Look-ups do not find them since. */
export function bindRetiredTokenRemoval({ query }: Pick<Database, 'query'>): RemoveBatch {
  return async (limit) => removalOf(await query('remove-retired-tokens', removeRetiredTokens, [limit]));
}

/** Removes the generations of viewers whose embed tokens were revoked, once all of these have expired. */
export function bindRevokedViewerRemoval({ query }: Pick<Database, 'query'>): RemoveBatch {
  return async (limit) => removalOf(await query('remove-revoked-viewers', removeRevokedViewers, [limit]));
}

/** Removes stored responses that are older than they are kept. Requests do not find them since. */
export function bindIdempotencyRecordRemoval({ query }: Pick<Database, 'query'>): RemoveBatch {
  return async (limit) => removalOf(await query('remove-idempotency-records', removeIdempotencyRecords, [limit]));
}

/**
 * Removes deliveries of webhooks that are older than they are kept. Those that are pending are kept for as many days as events,
 * and at least as long as the others: a webhook may be disabled meanwhile.
 */
export function bindDeliveryRemoval({ query }: Pick<Database, 'query'>, eventDays: number): RemoveBatch {
  return async (limit) => removalOf(await query('remove-deliveries', removeDeliveries, [limit, eventDays]));
}

/** Removes replaced secrets of webhooks that no longer sign. */
export function bindRetiredSecretRemoval({ query }: Pick<Database, 'query'>): RemoveBatch {
  return async (limit) => removalOf(await query('remove-webhook-secrets', removeSecrets, [limit]));
}

const removalOf = ([row]: readonly (readonly (string | Buffer | null)[])[]): Removal =>
  row?.[0] === 't' ? Number(row[1]) : undefined;

/** Rows that another transaction has locked are left for the next time, because a request that rotates may wait for others. */
const underLock = (doomed: string, remove: string): string => `
  with guard as materialized (
    select pg_try_advisory_xact_lock(${housekeepingLock}) as is_held
  ), doomed as materialized (${doomed}
  ), removed as (${remove}
  )
  select is_held, (select count(*) from removed) from guard`;

const environments = ['Customer', 'Testing', 'Untagged', 'None'];

/**
 * Of each environment the oldest, which its part of the primary key begins with. Readers of the event feed who are behind the
 * last of them are told.
 */
const removeEvents = underLock(
  `
    select oldest.* from guard, unnest('{${environments.join(',')}}'::event_environment[]) as each (environment), lateral (
      select environment, occurred_at, id from event
      where event.environment = each.environment and occurred_at < now() - $2::int * interval '24 hours' and position is not null
      order by occurred_at, id limit $1::int
    ) as oldest where is_held limit $1::int`,
  `
    delete from event e using doomed d where (e.environment, e.occurred_at, e.id) = (d.environment, d.occurred_at, d.id)
    returning position
  ), marked as (
    update event_feed set removed_through = last.position from (select max(position) as position from removed) as last
    where last.position > removed_through`,
);

const removeRetiredTokens = underLock(
  `
    select token_hash from retired_token where expires_at <= now() and (select is_held from guard) limit $1::int
    for update skip locked`,
  `
    delete from retired_token r using doomed d where r.token_hash = d.token_hash returning 1`,
);

const removeRevokedViewers = underLock(
  `
    select team_id, viewer_id from revoked_viewer where expires_at <= now() and (select is_held from guard)
    order by expires_at limit $1::int for update skip locked`,
  `
    delete from revoked_viewer v using doomed d where (v.team_id, v.viewer_id) = (d.team_id, d.viewer_id) returning 1`,
);

/** Of each encryption key the oldest, which its part of the index begins with. */
const removeIdempotencyRecords = underLock(
  `
    select oldest.* from guard, (${usedKeys} select id from used where id is not null) as each_key, lateral (
      select api_token_id, key_hash from idempotency_record
      where encryption_key_id = each_key.id and created_at <= now() - interval '${idempotencyHours} hours'
      order by created_at limit $1::int for update skip locked
    ) as oldest where is_held limit $1::int`,
  `
    delete from idempotency_record r using doomed d where (r.api_token_id, r.key_hash) = (d.api_token_id, d.key_hash)
    returning 1`,
);

/** How many days deliveries of webhooks are kept once they are over. */
const deliveryDays = 30;

const removeDeliveries = underLock(
  `
    select id from webhook_delivery
    where created_at <= now() - interval '${deliveryDays} days' and (select is_held from guard)
      and (status <> 'PENDING' or created_at <= now() - $2::int * interval '24 hours')
    order by created_at limit $1::int for update skip locked`,
  `
    delete from webhook_delivery w using doomed d where w.id = d.id returning 1`,
);

const removeSecrets = underLock(
  `
    select id from webhook where previous_secret_ends_at <= now() and (select is_held from guard) limit $1::int
    for update skip locked`,
  `
    update webhook w set previous_secret_encrypted = null, previous_secret_ends_at = null from doomed d where w.id = d.id
    returning 1`,
);
