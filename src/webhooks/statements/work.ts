import { actor, systemAuthor } from '../../audit-log/statements/author.ts';
import type { Database } from '../../database/client.ts';
import { columnTypes, type Row } from '../../database/columns.ts';
import type { EventEnvironment, WebhookDeliveryStatus } from '../../generated/prisma/client.ts';
import type { StoredSecrets } from '../secrets.ts';

/** How many deliveries are read at a time. */
export const batchSize = 50;

/** How many days an endpoint may fail until it is disabled. */
export const maxFailingDays = 3;

/** How often a delivery is tried before it is: a gateway that was stopped meanwhile has hardly tried. */
const minAttempts = 5;

/** Who may send to a webhook: until the end, one process alone. */
export interface Lease {
  /** The number of the webhook. */
  readonly id: number;
  /** The end of the last lease, as the database writes it; null if there was none. */
  readonly leasedUntil: string | null;
}

/** A webhook that is enabled, and what there is to do for it. */
export interface WebhookWork extends Lease {
  /** The types of events that it takes; none means all. */
  readonly types: readonly string[];
  /** None means all. */
  readonly environments: readonly EventEnvironment[];
  /** The position and the epoch of the feed behind which the next events are. */
  readonly position: bigint;
  readonly epoch: string;
  /** Whether events may lack a delivery. */
  readonly isBehind: boolean;
  /** How long the delivery waits that is due the longest, in seconds; null if none is due. */
  readonly dueSeconds: number | null;
  /** Whether a process sends to it. */
  readonly isLeased: boolean;
}

/** A delivery to try. */
export interface DueDelivery {
  readonly id: bigint;
  /** How often it was tried. */
  readonly attempts: number;
  readonly eventId: string;
  readonly body: string;
}

/** Deliveries that this process alone may try, until the lease ends. */
export interface Batch extends Lease {
  readonly url: string;
  readonly secrets: StoredSecrets;
  /** When it was read, by the database's clock. */
  readonly readAt: Date;
  /** At least one. */
  readonly deliveries: readonly DueDelivery[];
}

/** What became of a delivery that was tried, as it is stored. */
export interface AttemptRecord {
  readonly id: bigint;
  /** How often it was tried before. */
  readonly attempts: number;
  /** Whether it counts as an attempt. */
  readonly isCounted: boolean;
  readonly status: WebhookDeliveryStatus;
  /** Until the next attempt; null if it stays due. */
  readonly waitSeconds: number | null;
  /** Since the beginning of this one. */
  readonly tookSeconds: number;
  readonly responseStatus: number | undefined;
  readonly responseBody: string | undefined;
  readonly error: string | undefined;
}

/** A webhook after attempts were recorded. */
export interface WebhookState {
  readonly wasFailing: boolean;
  readonly isFailing: boolean;
  /** Whether it has failed for {@link maxFailingDays}. */
  readonly isOverdue: boolean;
  /** Whether the endpoint wants no deliveries any more. */
  readonly isGone: boolean;
}

type Query = Pick<Database, 'query'>;

/**
 * Finds what there is to do, also without webhooks: events get their positions. One statement, of a few index accesses for each
 * webhook.
 *
 * @param leaseSeconds how long a lease takes. One that ends later is from before the database's clock was set back, and does not
 *   count.
 */
export async function findWork(
  { query }: Query,
  leaseSeconds: number,
): Promise<{ webhooks: WebhookWork[]; hasNewEvents: boolean }> {
  const rows = await query('webhook-work', readWork, [leaseSeconds]);
  return { webhooks: rows.filter(([, id]) => id !== null).map(toWork), hasNewEvents: rows[0]?.[0] === 't' };
}

function toWork(row: Row): WebhookWork {
  const [types, environments, position, epoch] = row.slice(2, 6) as [string, string, string, string];
  const [leasedUntil = null, isBehind, isLeased, dueSeconds] = row.slice(6);
  return {
    id: Number(row[1]),
    types: JSON.parse(types),
    environments: JSON.parse(environments),
    position: BigInt(position),
    epoch,
    leasedUntil,
    isBehind: isBehind === 't',
    isLeased: isLeased === 't',
    dueSeconds: dueSeconds == null ? null : Number(dueSeconds),
  };
}

const isDue = `status = 'PENDING'::webhook_delivery_status and next_attempt_at <= now()`;

/** A lease that was committed while this begins is seen, and ends later than one that would begin at `now()`. */
const readWork = `
  select exists (select from event where position is null), w.id, to_json(w.types), to_json(w.environments), w.position, feed.epoch,
    w.leased_until, w.position < feed.last_position,
    w.leased_until between now() and clock_timestamp() + $1::float8 * interval '1 second', extract(epoch from now() - due.next_attempt_at)
  from event_feed feed left join webhook w on w.enabled left join lateral (
    select next_attempt_at from webhook_delivery where webhook_id = w.id and ${isDue} order by next_attempt_at limit 1
  ) as due on true`;

/**
 * Leases a webhook, or renews the lease, and reads the deliveries that have been due the longest. Takes the last lease, as it was
 * found: nobody else may have leased the webhook since.
 *
 * @param isRenewal whether to wait for a statement that changes the webhook: without a lease, another process may send to it.
 * @returns undefined, without a lease, if nothing is due, the webhook is disabled, or somebody else has it, or changes it.
 */
export async function takeDeliveries(
  { query }: Query,
  { id, leasedUntil }: Lease,
  leaseSeconds: number,
  isRenewal: boolean,
): Promise<Batch | undefined> {
  const values = [id, leasedUntil, leaseSeconds];
  const rows = await (isRenewal
    ? query('take-more-deliveries', take(''), values)
    : query('take-deliveries', take('skip locked'), values));
  const [first] = rows;
  if (!first) return undefined;
  const [renewed, now, url, secret, previousSecret, endsAt] = first as (string | undefined)[];
  return {
    id,
    leasedUntil: String(renewed),
    url: String(url),
    readAt: time.decode(String(now)),
    secrets: {
      id,
      secretEncrypted: bytes.decode(String(secret)),
      previousSecretEncrypted: previousSecret == null ? null : bytes.decode(previousSecret),
      previousSecretEndsAt: nullableTime.decode(endsAt ?? null),
    },
    deliveries: rows.map((row) => {
      const [id, attempts, eventId, body] = row.slice(6) as [string, string, string, string];
      return { id: BigInt(id), attempts: Number(attempts), eventId, body };
    }),
  };
}

const { bytes, time, nullableTime } = columnTypes;

/** With a limit that the planner knows, so that it reads the deliveries by their key, however many there are. */
const take = (ifLocked: '' | 'skip locked') => `
  with due as materialized (
    select id, attempts, event_id, body, next_attempt_at from webhook_delivery where webhook_id = $1::int and ${isDue}
    order by next_attempt_at, id limit ${batchSize}
  ), free as materialized (
    select id from webhook where id = $1::int and enabled and leased_until is not distinct from $2::timestamptz and exists (select from due)
    for update ${ifLocked}
  ), leased as (
    update webhook w set leased_until = now() + $3::float8 * interval '1 second' from free where w.id = free.id returning w.*
  )
  select leased.leased_until, now(), url, secret_encrypted, previous_secret_encrypted, previous_secret_ends_at,
    due.id, attempts, event_id, body
  from leased cross join due order by next_attempt_at, due.id`;

/**
 * Ends a lease, unless it has ended. Its end remains: who found the webhook before the lease cannot take it afterwards, with
 * deliveries that were made meanwhile.
 */
export async function endLease({ query }: Query, { id, leasedUntil }: Lease): Promise<void> {
  await query('end-lease', end, [id, leasedUntil]);
}

const end = 'update webhook set leased_until = now() where id = $1::int and leased_until = $2::timestamptz';

/**
 * Records attempts. One is ignored if another process has recorded another attempt of the same delivery since the lease ended.
 *
 * @returns undefined if none was recorded that counts, or the webhook has another URL now.
 */
export async function recordAttempts(
  { query }: Query,
  { id, url }: Pick<Batch, 'id' | 'url'>,
  attempts: readonly AttemptRecord[],
): Promise<WebhookState | undefined> {
  const json = JSON.stringify(attempts.map(({ id, ...attempt }) => ({ id: String(id), ...attempt })));
  const [row] = await query('record-attempts', record, [id, url, json]);
  const [wasFailing, isFailing, isOverdue, isGone] = (row ?? []).map((flag) => flag === 't') as [
    boolean,
    boolean,
    boolean,
    boolean,
  ];
  return row && { wasFailing, isFailing, isOverdue, isGone };
}

/** The webhook is locked before its deliveries, as by every other change. */
const record = `
  with attempt as (
    select * from json_to_recordset($3::json) as attempt (id bigint, attempts int, "isCounted" bool, status webhook_delivery_status,
      "waitSeconds" float8, "tookSeconds" float8, "responseStatus" int, "responseBody" text, error text)
  ), locked as materialized (
    select id, failing_since from webhook where id = $1::int for update
  ), recorded as (
    update webhook_delivery d set status = a.status, attempts = d.attempts + a."isCounted"::int,
      last_attempt_at = now() - a."tookSeconds" * interval '1 second',
      next_attempt_at = coalesce(now() + a."waitSeconds" * interval '1 second', d.next_attempt_at),
      response_status = a."responseStatus", response_body = a."responseBody", error = a.error
    from attempt a, locked where d.webhook_id = locked.id and d.id = a.id and d.attempts = a.attempts and d.status = 'PENDING'
    returning d.status, d.attempts, d.response_status, a."isCounted" as is_counted
  ), outcome as (
    select bool_or(status = 'DELIVERED') as is_any_delivered, bool_or(response_status = 410) as is_gone, max(attempts) as attempts
    from recorded where is_counted having count(*) > 0
  )
  update webhook w set last_delivery_at = now(),
    failing_since = case when is_any_delivered then null else coalesce(w.failing_since, now()) end
  from outcome, locked where w.id = locked.id and w.url = $2
  returning locked.failing_since is not null, w.failing_since is not null,
    outcome.attempts >= ${minAttempts} and w.failing_since <= now() - interval '${maxFailingDays} days', outcome.is_gone`;

/** Disables a webhook that still has this URL, on behalf of the gateway. @returns whether it was enabled. */
export async function disableWebhook({ query }: Query, { id, url }: Pick<Batch, 'id' | 'url'>, reason: string): Promise<boolean> {
  const rows = await query('disable-webhook', disable, [id, url, reason, JSON.stringify(systemAuthor)]);
  return rows.length > 0;
}

const disable = `
  with ${actor(4)}
  update webhook set enabled = false, disabled_reason = $3 from actor where id = $1::int and url = $2 and enabled returning id`;
