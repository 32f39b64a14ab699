import type { Logger } from 'pino';
import { bindFeed } from '../audit-log/statements/feed.ts';
import { runPeriodically } from '../concurrency/periodic.ts';
import type { Database } from '../database/client.ts';
import { isLockTimeout, isUnavailable } from '../database/errors.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { metrics } from '../metrics/metrics.ts';
import type { GlobalId } from './body.ts';
import { type Attempt, recordAndClaim, type Settlement } from './claims.ts';
import { enqueueDeliveries } from './enqueue.ts';
import { signingSecrets } from './secrets.ts';
import { type Outcome, type SendOptions, send } from './send.ts';
import { type Claim, findWork, type WebhookWork } from './statements/work.ts';

/** What deliveries use. */
export interface DeliveryContext {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly keys: KeyRing;
  readonly log: Logger;
  readonly globalId: GlobalId;
}

/** How deliveries are made. */
export interface DeliveryOptions extends SendOptions {
  /** How often the gateway looks for what there is to do. Defaults to 2 s. */
  readonly intervalMs?: number;
  /** After how long another gateway tries what this one has begun and not recorded. Defaults to 60 s. */
  readonly leaseSeconds?: number;
  /** How long to wait after each failed attempt. Defaults to the schedule of Standard Webhooks. */
  readonly retrySeconds?: readonly number[];
}

/** The deliveries of a process. */
export interface Deliveries {
  /** Begins no further deliveries. */
  drain(): void;
  /** The same, and waits until those in flight have ended, at most for the time that an attempt may take. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts to deliver events to webhooks. Any number of processes may do so: each event is delivered at least once to each webhook
 * that takes it.
 *
 * Every two seconds it looks for what there is to do, with one statement. Between, an attempt that ends lets the next delivery of
 * its webhook begin.
 */
export function startDeliveries(context: DeliveryContext, options: DeliveryOptions): Deliveries {
  const { database, keys, log, globalId } = context;
  const { intervalMs = 2_000, leaseSeconds = 60, retrySeconds } = options;
  const feed = bindFeed(database);
  /** What was tried and is not recorded yet. */
  let tried: Attempt[] = [];
  /** The same, of webhooks that somebody else has locked: recorded with the next look. */
  let locked: Attempt[] = [];
  /** Webhooks that may have deliveries to claim. */
  const wanted = new Set<number>();
  const inFlight = new Set<Promise<void>>();
  /** Webhooks whose deliveries cannot be created: logged once, until they can be again. */
  const stuck = new Set<number>();
  let nextDelayMs = intervalMs;
  let isDraining = false;
  let isFailing = false;

  const report = (error: unknown): void => {
    const reason = isUnavailable(error) ? ': the database fails' : '';
    if (error && !isFailing) log.warn({ err: error }, `webhooks cannot be delivered${reason}`);
    if (!error && isFailing) log.info('webhooks can be delivered again');
    isFailing = error !== undefined;
  };

  async function look(signal: AbortSignal): Promise<void> {
    const { webhooks, hasNewEvents } = await findWork(database);
    metrics.webhookDelay.set(Math.max(0, ...webhooks.map(({ dueSeconds }) => dueSeconds ?? 0)));
    nextDelayMs = intervalMs;
    unlock();
    if (hasNewEvents) while (await feed.assign()) if (signal.aborted) return;
    let failure: unknown;
    for (const webhook of webhooks) {
      if (signal.aborted) return;
      try {
        if (await needsClaims(webhook, hasNewEvents)) wanted.add(webhook.id);
      } catch (error) {
        failure ??= error; // may be of this webhook alone
      }
      void settle();
    }
    void settle();
    report(failure ?? settleFailure);
  }

  async function needsClaims({ id, isBehind, dueSeconds }: WebhookWork, hasNewEvents: boolean): Promise<boolean> {
    if (!isBehind && !hasNewEvents) return dueSeconds !== null;
    try {
      // One part of the events at a time, so that a webhook with many does not keep the others waiting.
      const { hasMore, isIncomplete } = await enqueueDeliveries(database, id, globalId);
      stuck.delete(id);
      if (hasMore) nextDelayMs = 0;
      if (isIncomplete)
        log.warn({ webhook: id }, 'events were removed before they were sent to a webhook: see AUDIT_RETENTION_DAYS');
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (!stuck.has(id)) log.error({ webhook: id, err: error }, 'deliveries to a webhook cannot be created');
      stuck.add(id);
    }
    return true;
  }

  function unlock(): void {
    tried.push(...locked);
    locked = [];
  }

  let isSettling = false;
  let settled = Promise.resolve();
  /** Why the last attempt to do so failed; undefined if it did not. */
  let settleFailure: unknown;

  /** Records what was tried and claims what is next, until there is nothing to do. Never rejects. */
  function settle(): Promise<void> {
    if (!isSettling) settled = settleAll();
    return settled;
  }

  async function settleAll(): Promise<void> {
    isSettling = true;
    while (tried.length > 0 || (wanted.size > 0 && !isDraining)) {
      const attempts = tried;
      const webhookIds = isDraining ? [] : [...new Set([...wanted, ...attempts.map(({ claim }) => claim.webhookId)])];
      tried = [];
      wanted.clear();
      try {
        await settleBatch(attempts, webhookIds);
        settleFailure = undefined;
      } catch (error) {
        // Recorded when the database responds again, unless another gateway has tried it by then.
        tried = [...attempts, ...tried];
        settleFailure = error;
        report(error);
        break;
      }
    }
    isSettling = false;
  }

  /** @throws when the database is unavailable, or refuses the claims. */
  async function settleBatch(attempts: Attempt[], webhookIds: number[]): Promise<void> {
    let settlement: Settlement;
    try {
      settlement = await recordAndClaim(database, { attempts, webhookIds, leaseSeconds, retrySeconds });
    } catch (error) {
      if (isUnavailable(error) || attempts.length === 0) throw error;
      // One that cannot be recorded keeps no others waiting. What was recorded before a failure is ignored the second time.
      if (attempts.length > 1) for (const attempt of attempts) await settleBatch([attempt], []);
      else if (isLockTimeout(error)) locked.push(...attempts);
      else log.error({ webhook: attempts[0]?.claim.webhookId, err: error }, 'an attempt to deliver cannot be recorded');
      if (webhookIds.length > 0) await settleBatch([], webhookIds);
      return;
    }
    for (const claim of settlement.claims) begin(claim);
    describe(attempts, settlement);
  }

  function begin(claim: Claim): void {
    const attempt = attemptOf(claim).then((outcome) => {
      inFlight.delete(attempt);
      tried.push({ claim, outcome });
      void settle();
    });
    inFlight.add(attempt);
  }

  async function attemptOf({ url, eventId, body, secrets, claimedAt }: Claim): Promise<Outcome> {
    try {
      return await send({ url, id: eventId, body, secrets: signingSecrets(keys, secrets, claimedAt) }, options);
    } catch (error) {
      log.error({ webhook: secrets.id, err: error }, 'the secret of a webhook cannot be decrypted');
      return { error: 'The secret of the webhook cannot be decrypted: see the log of the gateway.', isOwnFailure: true };
    }
  }

  /** Counts and logs what was recorded. Of a URL only the host, because its path may be a secret. */
  function describe(attempts: readonly Attempt[], { completions, states, disabled }: Settlement): void {
    for (const { status, isCounted } of completions)
      if (isCounted) metrics.webhookDeliveries.inc({ outcome: status === 'PENDING' ? 'failed_attempt' : status.toLowerCase() });
    metrics.webhooksDisabled.inc(disabled.length);
    const shown = (id: number) => {
      const last = attempts.findLast(({ claim }) => claim.webhookId === id);
      return {
        webhook: id,
        host: last && new URL(last.claim.url).host,
        status: last?.outcome.status,
        error: last?.outcome.error,
      };
    };
    for (const { id, wasFailing, isFailing: isNow } of states) {
      if (isNow && !wasFailing) log.warn(shown(id), 'deliveries to a webhook fail');
      if (!isNow && wasFailing) log.info(shown(id), 'deliveries to a webhook succeed again');
    }
    for (const { id, reason } of disabled) log.warn({ ...shown(id), reason }, 'a webhook was disabled');
  }

  // Processes that start together do not look together.
  const stopLooking = runPeriodically(look, {
    firstDelayMs: Math.random() * intervalMs,
    nextDelayMs: (failure) => (failure ? intervalMs : nextDelayMs),
    onFailure: report,
  });
  let stopped: Promise<void> | undefined;
  const drain = (): void => {
    isDraining = true;
    stopped ??= stopLooking();
  };
  return {
    drain,
    async stop() {
      drain();
      await stopped;
      do {
        await Promise.all(inFlight);
        unlock();
        await settle();
        // A claim that was under way begins deliveries.
      } while (inFlight.size > 0);
    },
  };
}
