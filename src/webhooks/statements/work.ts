import type { Database } from '../../database/client.ts';
import { columnTypes, type Row } from '../../database/columns.ts';
import type { WebhookDeliveryStatus } from '../../generated/prisma/client.ts';
import type { StoredSecrets } from '../secrets.ts';

/** How many deliveries of a webhook are in flight at most, over all gateways. */
const maxInFlight = 2;

/** How many days an endpoint may fail until it is disabled. */
export const maxFailingDays = 3;

/** How often a delivery is tried before it is: a gateway that was stopped meanwhile has hardly tried. */
const minAttempts = 5;

/** A webhook that is enabled, and what there is to do for it. */
export interface WebhookWork {
  readonly id: number;
  /** Whether events may lack a delivery. */
  readonly isBehind: boolean;
  /** How long the delivery waits that is due the longest, in seconds; null if none is due. */
  readonly dueSeconds: number | null;
}

/** A delivery that this process is to try. */
export interface Claim {
  /** The number of the delivery. */
  readonly id: bigint;
  readonly webhookId: number;
  /** How often it was tried, with the attempt that follows. */
  readonly attempts: number;
  readonly eventId: string;
  readonly body: string;
  readonly url: string;
  readonly secrets: StoredSecrets;
  /** The time of the claim, by the database's clock. */
  readonly claimedAt: Date;
}

/** What became of a claim, as it is stored. */
export interface Completion {
  readonly claim: Pick<Claim, 'id' | 'webhookId' | 'attempts' | 'url'>;
  /** Whether it counts as an attempt. */
  readonly isCounted: boolean;
  readonly status: WebhookDeliveryStatus;
  readonly waitSeconds: number;
  readonly responseStatus: number | undefined;
  readonly responseBody: string | undefined;
  readonly error: string | undefined;
}

/** A webhook after its deliveries were recorded, as far as they were tried at the URL that it has now. */
export interface WebhookState {
  readonly id: number;
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
 */
export async function findWork({ query }: Query): Promise<{ webhooks: WebhookWork[]; hasNewEvents: boolean }> {
  const rows = await query('webhook-work', readWork, []);
  const webhooks = rows
    .filter(([id]) => id !== null)
    .map(([id, isBehind, dueSeconds]) => ({
      id: Number(id),
      isBehind: isBehind === 't',
      dueSeconds: dueSeconds == null ? null : Number(dueSeconds),
    }));
  return { webhooks, hasNewEvents: rows[0]?.[3] === 't' };
}

const pending = `status = 'PENDING'::webhook_delivery_status`;

const readWork = `
  select w.id, w.position < feed.last_position, extract(epoch from now() - due.next_attempt_at),
    exists (select from event where position is null)
  from event_feed feed left join webhook w on w.enabled left join lateral (
    select next_attempt_at from webhook_delivery where webhook_id = w.id and ${pending} and next_attempt_at <= now()
    order by next_attempt_at limit 1
  ) as due on true`;

/** How long to wait for a webhook that somebody else has: a request that changes it may keep it for seconds. */
const lockTimeoutMs = 500;

/**
 * Keeps other gateways from claiming deliveries of webhooks until the transaction ends: waits for those whose deliveries are
 * recorded, at most {@link lockTimeoutMs}; of the others, those that another gateway has are left out.
 *
 * @returns the numbers of the webhooks that are locked.
 */
export async function lockWebhooks({ query }: Query, recorded: readonly number[], others: readonly number[]): Promise<number[]> {
  return (await query('lock-webhooks', lock, [recorded, others])).map(([id]) => Number(id));
}

/** In one order, so that two gateways never wait for each other. */
const lock = `
  with recorded as materialized (
    select id from webhook where id = any ($1::int[]) and (select set_config('lock_timeout', '${lockTimeoutMs}', true)) is not null
    order by id for update
  ), other as materialized (
    select id from webhook where id = any ($2::int[]) and enabled for update skip locked
  )
  select id from recorded union all select id from other`;

/**
 * Records attempts, in the transaction that has locked their webhooks. An attempt is ignored when its claim was over and another
 * gateway tries the delivery.
 */
export async function recordAttempts({ query }: Query, completions: readonly Completion[]): Promise<WebhookState[]> {
  const rows = await query('record-attempts', record, [
    completions.map(({ claim }) => claim.id),
    completions.map(({ claim }) => claim.attempts),
    completions.map(({ status }) => status),
    completions.map(({ waitSeconds }) => waitSeconds),
    completions.map(({ responseStatus }) => responseStatus ?? null),
    completions.map(({ responseBody }) => responseBody ?? null),
    completions.map(({ error }) => error ?? null),
    completions.map(({ claim }) => claim.url),
    completions.map(({ isCounted }) => isCounted),
  ]);
  return rows.map(([id, ...flags]) => {
    const [wasFailing = false, isFailing = false, isOverdue = false, isGone = false] = flags.map((flag) => flag === 't');
    return { id: Number(id), wasFailing, isFailing, isOverdue, isGone };
  });
}

const record = `
  with attempt as (
    select * from unnest($1::bigint[], $2::int[], $3::webhook_delivery_status[], $4::float8[], $5::int[], $6::text[], $7::text[], $8::text[],
      $9::bool[]) as attempt (id, attempts, status, wait, response_status, response_body, error, url, is_counted)
  ), recorded as (
    update webhook_delivery d set status = a.status, in_flight = false, next_attempt_at = now() + a.wait * interval '1 second',
      response_status = a.response_status, response_body = a.response_body, error = a.error,
      attempts = d.attempts - (not a.is_counted)::int
    from attempt a where d.id = a.id and d.attempts = a.attempts and d.in_flight
    returning d.webhook_id, d.status, d.attempts, d.response_status, a.url, a.is_counted
  ), outcome as (
    select r.webhook_id, bool_or(r.status = 'DELIVERED') as is_any_delivered, bool_or(r.response_status = 410) as is_gone,
      max(r.attempts) as attempts
    from recorded r join webhook w on w.id = r.webhook_id and w.url = r.url where r.is_counted group by r.webhook_id
  ), before as (
    select id, failing_since from webhook where id in (select webhook_id from outcome)
  )
  update webhook w set last_delivery_at = now(),
    failing_since = case when is_any_delivered then null else coalesce(w.failing_since, now()) end
  from outcome join before on before.id = outcome.webhook_id where w.id = outcome.webhook_id
  returning w.id, before.failing_since is not null, w.failing_since is not null,
    outcome.attempts >= ${minAttempts} and w.failing_since <= now() - interval '${maxFailingDays} days', outcome.is_gone`;

/** Disables a webhook. @returns whether it was enabled. */
export async function disableWebhook({ query }: Query, id: number, reason: string): Promise<boolean> {
  const rows = await query('disable-webhook', disable, [id, reason]);
  return rows.length > 0;
}

const disable = 'update webhook set enabled = false, disabled_reason = $2 where id = $1::int and enabled returning id';

/**
 * Claims deliveries that are due, of webhooks that the transaction has locked: as many as may be in flight.
 *
 * @param leaseSeconds how long other gateways leave them to this one.
 */
export async function claimDeliveries({ query }: Query, webhookIds: readonly number[], leaseSeconds: number): Promise<Claim[]> {
  return (await query('claim-deliveries', claim, [webhookIds, leaseSeconds])).map(toClaim);
}

/** With a limit that the planner knows, so that it reads the deliveries by their key, however many there are. */
const claim = `
  with room as materialized (
    select w.*, ${maxInFlight} - (
      select count(*) from webhook_delivery d where d.webhook_id = w.id and ${pending} and d.in_flight and d.next_attempt_at > now()
    ) as free from webhook w where w.id = any ($1::int[]) and w.enabled
  ), due as materialized (
    select next.id, room.url, room.secret_encrypted, room.previous_secret_encrypted, room.previous_secret_ends_at from room, lateral (
      select id, row_number() over () as place from (
        select id from webhook_delivery d where d.webhook_id = room.id and ${pending} and d.next_attempt_at <= now()
        order by d.next_attempt_at, d.id limit ${maxInFlight}
      ) as oldest
    ) as next where next.place <= room.free
  )
  update webhook_delivery d set attempts = d.attempts + 1, in_flight = true, last_attempt_at = now(),
    next_attempt_at = now() + $2::float8 * interval '1 second'
  from due where d.id = due.id
  returning d.id, d.webhook_id, d.attempts, d.event_id, d.body, now(),
    due.url, due.secret_encrypted, due.previous_secret_encrypted, due.previous_secret_ends_at`;

const { bytes, time, nullableTime } = columnTypes;

function toClaim([id, webhookId, attempts, eventId, body, now, url, secret, previousSecret, endsAt]: Row): Claim {
  return {
    id: BigInt(id as string),
    webhookId: Number(webhookId),
    attempts: Number(attempts),
    eventId: eventId as string,
    body: body as string,
    url: url as string,
    claimedAt: time.decode(now as string),
    secrets: {
      id: Number(webhookId),
      secretEncrypted: bytes.decode(secret as string),
      previousSecretEncrypted: previousSecret == null ? null : bytes.decode(previousSecret),
      previousSecretEndsAt: nullableTime.decode(endsAt ?? null),
    },
  };
}
