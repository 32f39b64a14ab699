import { setTimeout as sleep } from 'node:timers/promises';
import { assignPositions } from '../audit-log/feed.ts';
import { runPeriodically } from '../concurrency.ts';
import type { Database } from '../database/client.ts';
import { idempotencyHours } from '../idempotency.ts';

/** How many rows are removed in one statement: few enough that it takes milliseconds. */
const batchSize = 500;

/** The pause between two statements, so that removing many rows takes a small part of the database's time. */
const pauseMs = 50;

/** How often a run begins, and by how much each interval is shorter or longer, so that instances do not run in step. */
const intervalMs = 3_600_000;
const jitter = 0.2;

/** The longest that the first run waits, so that instances that are restarted often do it too. */
const maxFirstDelayMs = 60_000;

/** What is kept. The clock that decides what is older is the database's. */
export interface HousekeepingOptions {
  /** How many days events are kept: at least 1. */
  readonly retentionDays: number;
  /** Ends a run between two statements. */
  readonly signal?: AbortSignal;
}

/** How many rows a run removed. */
export type HousekeepingResult = Readonly<Record<keyof typeof removals, number>>;

/**
 * Removes what is no longer needed, in small batches: events that are older than is to be kept, and what {@link removals} lists
 * besides. While another instance does so, leaves the rest to that one.
 *
 * Replaced secrets of API tokens stay: one that was forgotten, and is still set as `BOOTSTRAP_API_TOKEN` somewhere, would be
 * accepted again.
 */
export async function runHousekeeping(
  database: Database,
  { retentionDays, signal }: HousekeepingOptions,
): Promise<HousekeepingResult> {
  // Events that are not in the event feed yet must not be removed before its readers could get them.
  while (!signal?.aborted && (await assignPositions(database.sql)));
  const removed: Record<string, number> = {};
  for (const [rows, { name, text, takesDays }] of Object.entries(removals)) {
    const values = takesDays ? [batchSize, retentionDays] : [batchSize];
    removed[rows] = await removeAll(() => database.sql<Batch>(name, text, values), signal);
  }
  return removed as HousekeepingResult;
}

/** Whether this instance has the lock, and how many rows it removed. */
interface Batch {
  readonly isHeld: boolean;
  readonly rows: number;
}

async function removeAll(removeBatch: () => Promise<Batch[]>, signal: AbortSignal | undefined): Promise<number> {
  let total = 0;
  while (!signal?.aborted) {
    const [batch] = await removeBatch();
    const removed = batch?.isHeld ? batch.rows : 0;
    total += removed;
    if (removed < batchSize) break;
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  return total;
}

/** What a schedule reports. */
export interface HousekeepingReports {
  readonly onRemoved: (result: HousekeepingResult) => void;
  /** A run failed; the next one begins as usual. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Runs the housekeeping about once an hour, the first time within a minute.
 *
 * @returns a function that stops it and waits for its end.
 */
export function startHousekeeping(
  database: Database,
  retentionDays: number,
  { onRemoved, onFailure }: HousekeepingReports,
): () => Promise<void> {
  return runPeriodically(
    async (signal) => {
      const result = await runHousekeeping(database, { retentionDays, signal });
      if (Object.values(result).some((rows) => rows > 0)) onRemoved(result);
    },
    {
      firstDelayMs: Math.random() * maxFirstDelayMs,
      nextDelayMs: () => intervalMs * (1 + jitter * (2 * Math.random() - 1)),
      onFailure,
    },
  );
}

/** The number of the advisory lock under which one instance at a time removes rows, for the length of a statement. */
const housekeepingLock = 727_090;

/**
 * Rows that another transaction has locked are left for the next time, because a request that rotates may wait for others.
 *
 * @param takesDays whether the statement has the parameter `$2`.
 */
const underLock = (name: string, doomed: string, remove: string, { takesDays = false } = {}) => ({
  name,
  takesDays,
  text: `
  with guard as materialized (
    select pg_try_advisory_xact_lock(${housekeepingLock}) as is_held
  ), doomed as materialized (${doomed}
  ), removed as (${remove}
  )
  select is_held as "isHeld", (select count(*) from removed)::int as rows from guard`,
});

/** How many days deliveries of webhooks are kept once they are over. */
const deliveryDays = 30;

/**
 * What is kept for a time: the statement that removes a batch of what is older, at most `$1` rows. `$2`, where it has that, is
 * how many days events are kept.
 */
const removals = {
  /**
   * Of each environment the oldest, which its part of the primary key begins with. Readers of the event feed who are behind the
   * last of them are told.
   */
  events: underLock(
    'remove-events',
    `
    select oldest.* from guard, unnest(enum_range(null::event_environment)) as each (environment), lateral (
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
    { takesDays: true },
  ),
  /** Replaced user group tokens whose grace period is over: look-ups do not find them since. */
  retiredTokens: underLock(
    'remove-retired-tokens',
    `
    select token_hash from retired_token where expires_at <= now() and (select is_held from guard) limit $1::int
    for update skip locked`,
    `
    delete from retired_token r using doomed d where r.token_hash = d.token_hash returning 1`,
  ),
  /** The generations of viewers whose embed tokens were revoked, once all of these have expired. */
  revokedViewers: underLock(
    'remove-revoked-viewers',
    `
    select team_id, viewer_id from revoked_viewer where expires_at <= now() and (select is_held from guard)
    order by expires_at limit $1::int for update skip locked`,
    `
    delete from revoked_viewer v using doomed d where (v.team_id, v.viewer_id) = (d.team_id, d.viewer_id) returning 1`,
  ),
  idempotencyRecords: underLock(
    'remove-idempotency-records',
    `
    select api_token_id, key_hash from guard, idempotency_record
    where is_held and created_at <= now() - interval '${idempotencyHours} hours'
    order by created_at limit $1::int for update of idempotency_record skip locked`,
    `
    delete from idempotency_record r using doomed d where (r.api_token_id, r.key_hash) = (d.api_token_id, d.key_hash)
    returning 1`,
  ),
  /**
   * Deliveries of webhooks that are over. Those that are pending are kept for as many days as events, and at least as long as the
   * others: a webhook may be disabled meanwhile.
   */
  webhookDeliveries: underLock(
    'remove-deliveries',
    `
    select id from webhook_delivery
    where created_at <= now() - interval '${deliveryDays} days' and (select is_held from guard)
      and (status <> 'PENDING' or created_at <= now() - $2::int * interval '24 hours')
    order by created_at limit $1::int for update skip locked`,
    `
    delete from webhook_delivery w using doomed d where w.id = d.id returning 1`,
    { takesDays: true },
  ),
  /** Replaced secrets of webhooks that no longer sign. */
  webhookSecrets: underLock(
    'remove-webhook-secrets',
    `
    select id from webhook where previous_secret_ends_at <= now() and (select is_held from guard) limit $1::int
    for update skip locked`,
    `
    update webhook w set previous_secret_encrypted = null, previous_secret_ends_at = null from doomed d where w.id = d.id
    returning 1`,
  ),
};
