import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { eventKey, everyEnvironment } from '../audit-log/events.ts';
import { assignPositions, readFeed, readFeedState } from '../audit-log/feed.ts';
import { actor, systemAuthor } from '../caller.ts';
import { runPeriodically } from '../concurrency.ts';
import type { Sql } from '../database/client.ts';
import { type KeyRing, missingKeyIn } from '../encryption/keys.ts';
import type { Event, EventEnvironment, Prisma, WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import { metrics } from '../metrics.ts';
import { type Outcome, reasonOf, type SendOptions, type StoredSecrets, send, signingSecrets } from './send.ts';

/** How long after a failed attempt the next one follows, in seconds: the schedule of Standard Webhooks, some three days. */
export const retrySeconds: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The longest extension of a wait, so that deliveries that failed together are not repeated together. */
const jitter = 0.2;

/** The longest wait that an endpoint may ask for. */
const maxRetryAfterSeconds = 86_400;

/** How many deliveries each gateway sends to a webhook at once. */
const maxInFlight = 4;

/** How long other gateways leave a delivery alone that a gateway sends: longer than an attempt may take. */
const takenSeconds = 60;

/** How many days an endpoint may fail, and how often one delivery at least, until the webhook is disabled. */
const maxFailingDays = 3;
const minAttempts = 5;

/** For how long a gateway leaves a webhook to others whose secret it cannot decrypt. */
const unableMs = 60_000;

/** What deliveries use. */
export interface DeliveryContext {
  readonly sql: Sql;
  readonly keys: KeyRing;
  readonly log: Logger;
  /** Receives each time what has failed since the last time, or nothing. */
  readonly report: (error?: unknown) => void;
}

/** How deliveries are made. */
export interface DeliveryOptions extends SendOptions {
  /** How often the gateway looks for work. Defaults to 2 s. */
  readonly intervalMs?: number;
  /** How long to wait after each failed attempt. Defaults to {@link retrySeconds}. */
  readonly retrySeconds?: readonly number[];
}

/** The deliveries of a process. */
export interface Deliveries {
  /** Begins no further deliveries. */
  drain(): void;
  /** The same, and waits until those in flight have ended: at most 15 s. Never rejects. */
  stop(): Promise<void>;
}

/** A webhook that is enabled, and its work. */
export interface WebhookWork extends StoredSecrets {
  readonly url: string;
  /** The types of events that it takes; none means all. */
  readonly types: readonly string[];
  /** None means all. */
  readonly environments: readonly EventEnvironment[];
  /** The position and the epoch of the feed behind which the next events are. */
  readonly position: bigint;
  readonly epoch: string;
  /** Whether events may lack a delivery. */
  readonly isBehind: boolean;
  /** How long a delivery has been due at most; null if none is. */
  readonly dueSeconds: number | null;
  /** The time of the database. */
  readonly now: Date;
}

/** A delivery to send. */
interface TakenDelivery {
  readonly id: bigint;
  /** How often it was sent. */
  readonly attempts: number;
  readonly eventId: string;
  readonly body: string;
  /** By the clock of the database: that of the gateway may be wrong. */
  readonly sentAt: Date;
}

/** A webhook after an attempt was recorded. */
interface Recorded {
  readonly wasFailing: boolean;
  readonly isFailing: boolean;
  /** Why the attempt has disabled it. */
  readonly disabledReason: string | null;
}

/**
 * Starts to deliver events to webhooks. Any number of processes may do so. A loop for each webhook with work, so that a webhook
 * that hangs or fails delays no other.
 */
export function startDeliveries(context: DeliveryContext, options: DeliveryOptions): Deliveries {
  const { sql, keys, log, report } = context;
  const { intervalMs = 2_000 } = options;
  const draining = new AbortController();
  const { signal } = draining;
  const loops = new Map<number, Promise<void>>();
  /** Of the last run of each loop. */
  const failures = new Map<number, Error>();

  async function look(): Promise<void> {
    while (await assignPositions(sql)) if (signal.aborted) return;
    const webhooks = await findWork(sql);
    metrics.webhookDelay.set(Math.max(0, ...webhooks.map(({ dueSeconds }) => dueSeconds ?? 0)));
    for (const webhook of webhooks) {
      const hasWork = webhook.isBehind || webhook.dueSeconds !== null;
      if (hasWork && !loops.has(webhook.id) && !signal.aborted) loops.set(webhook.id, deliver(webhook));
    }
    report(webhooks.map(({ id }) => failures.get(id)).find(Boolean));
  }

  async function deliver(found: WebhookWork): Promise<void> {
    const { id } = found;
    try {
      let webhook: WebhookWork | undefined = found;
      while (webhook && (await deliverNext(webhook)) && !signal.aborted) [webhook] = await findWork(sql, id);
      failures.delete(id);
    } catch (error) {
      failures.set(id, new Error(`Webhook ${id}: ${(error as Error).message}`, { cause: error }));
    } finally {
      loops.delete(id);
    }
  }

  /** @returns whether there may be more to do at once. */
  async function deliverNext(webhook: WebhookWork): Promise<boolean> {
    const { id, isBehind } = webhook;
    if (isBehind && (await enqueueDeliveries(sql, webhook)).isIncomplete)
      log.warn({ webhook: id }, 'events were removed before they were sent to a webhook: see AUDIT_RETENTION_DAYS');
    const secrets = await readSecrets(webhook);
    if (!secrets || signal.aborted) return false;
    const deliveries = await sql<TakenDelivery>('take-deliveries', take, [id]);
    const attempts = await Promise.allSettled(deliveries.map((delivery) => attempt(webhook, secrets, delivery)));
    const failed = attempts.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failed) throw failed.reason;
    return isBehind || deliveries.length === maxInFlight;
  }

  /** The secrets that sign; undefined, after a minute, if this gateway cannot decrypt them. */
  async function readSecrets(webhook: WebhookWork): Promise<string[] | undefined> {
    try {
      return signingSecrets(keys, webhook, webhook.now);
    } catch (error) {
      log.error({ webhook: webhook.id, err: error }, 'the secret of a webhook cannot be decrypted: its deliveries wait');
      if (missingKeyIn(error)) metrics.missingKeys.inc();
      await sleep(unableMs, undefined, { signal, ref: false }).catch(() => {});
      return undefined;
    }
  }

  async function attempt(webhook: WebhookWork, secrets: string[], delivery: TakenDelivery): Promise<void> {
    const { id, url } = webhook;
    const { eventId, body, sentAt } = delivery;
    const outcome = await send({ url, id: eventId, body, secrets, sentAt }, options);
    const recorded = await recordAttempt(sql, webhook, delivery, outcome, options.retrySeconds);
    // Of the URL only the host, and nothing of the target of a redirect: a path may be a secret.
    const shown = { webhook: id, host: new URL(url).host, status: outcome.status, error: outcome.error };
    if (recorded?.isFailing && !recorded.wasFailing) log.warn(shown, 'deliveries to a webhook fail');
    if (recorded?.wasFailing && !recorded.isFailing) log.info(shown, 'deliveries to a webhook succeed again');
    if (!recorded?.disabledReason) return;
    metrics.webhooksDisabled.inc();
    log.warn({ ...shown, reason: recorded.disabledReason }, 'a webhook was disabled');
  }

  const stopLooking = runPeriodically(look, {
    // Processes that start together do not look together.
    firstDelayMs: Math.random() * intervalMs,
    nextDelayMs: () => intervalMs,
    onFailure: report,
  });
  let stopped: Promise<void> | undefined;
  const drain = (): void => {
    draining.abort();
    stopped ??= stopLooking();
  };
  return {
    drain,
    async stop() {
      drain();
      await stopped;
      await Promise.all(loops.values());
      for (const failure of failures.values()) report(failure);
    },
  };
}

/** The webhooks that are enabled, or the one with this number, and their work. */
export const findWork = (sql: Sql, id?: number): Promise<WebhookWork[]> => sql('webhook-work', work, [id]);

const isDue = `status = 'PENDING'::webhook_delivery_status and next_attempt_at <= now()`;

const work = `
  select w.id, url, types, to_json(environments) as environments, position, epoch, position < last_position as "isBehind",
    secret_encrypted as "secretEncrypted", previous_secret_encrypted as "previousSecretEncrypted",
    previous_secret_ends_at as "previousSecretEndsAt", extract(epoch from now() - due.next_attempt_at)::float8 as "dueSeconds",
    now() as now
  from event_feed join webhook w on enabled and w.id = coalesce($1::int, w.id) left join lateral (
    select next_attempt_at from webhook_delivery where webhook_id = w.id and ${isDue} order by next_attempt_at limit 1
  ) as due on true`;

/** Other gateways skip the deliveries, and find them due again if this one is killed. */
const take = `
  with due as materialized (
    select id from webhook_delivery where webhook_id = $1::int and ${isDue}
    order by next_attempt_at limit ${maxInFlight} for update skip locked
  )
  update webhook_delivery d set next_attempt_at = now() + interval '${takenSeconds} seconds', last_attempt_at = now()
  from due where d.id = due.id returning d.id, attempts, event_id as "eventId", body, last_attempt_at as "sentAt"`;

/**
 * Records an attempt, and disables a webhook that has failed for too long.
 *
 * @returns undefined if another gateway has recorded an attempt meanwhile, or the webhook has another URL now.
 */
export async function recordAttempt(
  sql: Sql,
  { id, url }: { readonly id: number; readonly url: string },
  delivery: { readonly id: bigint; readonly attempts: number },
  outcome: Outcome,
  waits = retrySeconds,
): Promise<Recorded | undefined> {
  const { status, waitSeconds } = judge(delivery.attempts + 1, outcome, waits);
  metrics.webhookDeliveries.inc({ outcome: status === 'PENDING' ? 'failed_attempt' : status.toLowerCase() });
  const response = [outcome.status, outcome.body, reasonOf(outcome)];
  const values = [id, url, delivery.id, delivery.attempts, status, waitSeconds, ...response, JSON.stringify(systemAuthor)];
  const [recorded] = await sql<Recorded>('record-attempt', record, values);
  return recorded;
}

/** The webhook is locked before its delivery, as by every other change. */
const record = `
  with ${actor(10)}, locked as materialized (
    select w.id, enabled, failing_since from webhook w, actor where w.id = $1::int for update of w
  ), recorded as (
    update webhook_delivery d set status = $5::webhook_delivery_status, attempts = d.attempts + 1,
      next_attempt_at = now() + $6::float8 * interval '1 second', response_status = $7::int, response_body = $8, error = $9
    from locked where d.webhook_id = locked.id and d.id = $3::bigint and d.attempts = $4::int and d.status = 'PENDING'
    returning enabled, failing_since, d.attempts
  ), judged as (
    select failing_since is not null as was_failing,
      case when $5 <> 'DELIVERED' then coalesce(failing_since, now()) end as failing_since,
      case when not enabled or $5 = 'DELIVERED' then null when $7 = 410 then 'The endpoint responded with 410 Gone.'
        when attempts >= ${minAttempts} and failing_since <= now() - interval '${maxFailingDays} days'
        then 'Every attempt has failed for ${maxFailingDays} days.' end as reason
    from recorded
  )
  update webhook w set last_delivery_at = now(), failing_since = judged.failing_since,
    enabled = enabled and reason is null, disabled_reason = coalesce(reason, disabled_reason)
  from judged where w.id = $1 and url = $2
  returning was_failing as "wasFailing", w.failing_since is not null as "isFailing", reason as "disabledReason"`;

/** What follows from an attempt, and when. @param attempts how often the delivery was sent, this attempt included. */
export function judge(
  attempts: number,
  { status = 0, error, retryAfterSeconds = 0 }: Outcome,
  waits = retrySeconds,
): { readonly status: WebhookDeliveryStatus; readonly waitSeconds: number } {
  if (status >= 200 && status < 300 && error === undefined) return { status: 'DELIVERED', waitSeconds: 0 };
  const wait = waits[attempts - 1];
  if (wait === undefined) return { status: 'FAILED', waitSeconds: 0 };
  const waitSeconds = Math.max(wait * (1 + jitter * Math.random()), Math.min(retryAfterSeconds, maxRetryAfterSeconds));
  return { status: 'PENDING', waitSeconds };
}

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

/** The globally unique ID of an object of the API. */
export const globalId = (typename: string, id: string | number): string => Buffer.from(`${typename}:${id}`).toString('base64');

/** An event as it is sent. */
export interface DeliveryDraft {
  /** What `webhook-id` says: the ID of the event, the same in every attempt and to every endpoint. */
  readonly eventId: string;
  readonly type: string;
  /** What {@link deliveryBody} made. */
  readonly body: string;
}

/** What the body of a delivery is made of. */
export type SentEvent = Pick<
  Event,
  'type' | 'occurredAt' | 'environment' | 'teamId' | 'providedId' | 'subjectApiTokenId' | 'changes'
>;

/** How many members of an object are named; of an object in which more have changed, the name alone. */
const maxNamedMembers = 100;

/** Makes what is sent of an event of the audit log. */
export function draftDelivery(event: SentEvent & { readonly id: bigint }): DeliveryDraft {
  return { eventId: globalId('Event', eventKey(event)), type: event.type, body: deliveryBody(event) };
}

/** The body of a delivery, as JSON: what happened, to what, and the names of what changed; no values. */
export function deliveryBody(event: SentEvent): string {
  const { type, occurredAt, environment, teamId, providedId } = event;
  const data = {
    id: subjectOf(event),
    provided_id: providedId,
    team_id: teamId,
    environment,
    changed: changedNames(event),
  };
  return JSON.stringify({ type, timestamp: occurredAt.toISOString(), data });
}

/** The ID of what was changed; null for an event of the whole gateway. */
function subjectOf(event: SentEvent): string | null {
  const { teamId, subjectApiTokenId } = event;
  if (teamId !== null) return globalId('UserGroup', teamId);
  if (subjectApiTokenId !== null) return globalId('ApiToken', subjectApiTokenId);
  const webhook = asObject(asObject(event.changes)?.['webhook']);
  const number = webhook?.['to'] ?? webhook?.['from'];
  return isOfWebhook(event) && typeof number === 'number' ? globalId('Webhook', number) : null;
}

const isOfWebhook = ({ type }: SentEvent): boolean => type.startsWith('webhook.');

/** The names of the fields that changed; of an object, such as properties, those of its members. */
function changedNames(event: SentEvent): string[] {
  const changes = Object.entries(asObject(event.changes) ?? {});
  // The number says which webhook it is.
  const fields = isOfWebhook(event) ? changes.filter(([field]) => field !== 'webhook') : changes;
  return fields.flatMap(([field, change]) => {
    const { from, to, omitted } = asObject(change) ?? {};
    const sides = [from, to, asObject(omitted)?.['from'], asObject(omitted)?.['to']];
    const members = new Set(sides.flatMap((side) => Object.keys(asObject(side) ?? {})));
    if (members.size === 0 || members.size > maxNamedMembers) return [field];
    return [...members].map((member) => `${field}.${member}`);
  });
}

const asObject = (value: Prisma.JsonValue | undefined): Prisma.JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
