import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/client.ts';
import { isUnavailable } from '../database/errors.ts';
import { type KeyRing, missingKeyIn } from '../encryption/keys.ts';
import { metrics } from '../metrics/metrics.ts';
import { judge, type Verdict } from './retries.ts';
import { signingSecrets } from './secrets.ts';
import type { Outcome, Sender } from './send.ts';
import {
  type Batch,
  batchSize,
  type DueDelivery,
  disableWebhook,
  endLease,
  maxFailingDays,
  recordAttempts,
  takeDeliveries,
  type WebhookState,
  type WebhookWork,
} from './statements/work.ts';

/** How many deliveries of a webhook are in flight at most, over all gateways: one at a time has its lease. */
const maxInFlight = 2;

/** How long deliveries begin until what became of them is recorded: a gateway that is killed repeats no more. */
const maxBatchMs = 1_000;

/** What deliveries are sent with. */
export interface SendContext {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly keys: KeyRing;
  readonly log: Logger;
  readonly sender: Pick<Sender, 'send'>;
  /** After how long another gateway tries what this one has begun and not recorded. */
  readonly leaseSeconds: number;
  /** How long to wait after each failed attempt. By default the schedule of Standard Webhooks. */
  readonly retrySeconds?: readonly number[] | undefined;
  /** How long to wait until what became of deliveries is recorded, when the database fails. */
  readonly pauseMs: number;
  /** The database fails; it is tried again. */
  readonly onFailure: (error: unknown) => void;
}

/** A delivery that was tried. */
interface Attempt {
  readonly delivery: DueDelivery;
  readonly outcome: Outcome;
  readonly startedMs: number;
  readonly verdict: Verdict;
}

/**
 * Sends what is due to a webhook, until nothing is, or another gateway sends to it.
 *
 * @param signal nothing is begun any more; what is in flight is waited for, and recorded.
 * @returns false if this gateway could not decrypt the secret: the deliveries stay due for others.
 * @throws when the database fails. What was tried and could not be recorded is tried again after the lease.
 */
export async function sendDue(context: SendContext, webhook: WebhookWork, signal: AbortSignal): Promise<boolean> {
  const { database, leaseSeconds } = context;
  let isAble = true;
  let batch = await takeDeliveries(database, webhook, leaseSeconds, false);
  while (batch) {
    const attempts = await tryBatch(context, batch, signal);
    if (attempts.length > 0) await record(context, batch, attempts, signal);
    isAble = !attempts.some(({ outcome }) => outcome.isOwnFailure);
    // What became due meanwhile is left to the next look.
    const isLast = attempts.length === batch.deliveries.length && attempts.length < batchSize;
    const isOver = isLast || signal.aborted || !isAble;
    const next: Batch | undefined = isOver ? undefined : await takeDeliveries(database, batch, leaseSeconds, true);
    if (!next) await endLease(database, batch);
    batch = next;
  }
  return isAble;
}

/** Tries deliveries until one fails, so that this is recorded before more are tried, or a second is over. */
async function tryBatch(context: SendContext, batch: Batch, signal: AbortSignal): Promise<Attempt[]> {
  const { sender, retrySeconds } = context;
  const secrets = readSecrets(context, batch);
  const readMs = performance.now();
  const waiting = [...batch.deliveries];
  const attempts: Attempt[] = [];
  const tryNext = async (): Promise<void> => {
    while (!signal.aborted && performance.now() < readMs + maxBatchMs) {
      const delivery = waiting.shift();
      if (!delivery) return;
      const { eventId: id, body } = delivery;
      const startedMs = performance.now();
      // By the database's clock: that of a gateway may be wrong.
      const sentAt = new Date(batch.readAt.getTime() + startedMs - readMs);
      const outcome = Array.isArray(secrets) ? await sender.send({ url: batch.url, id, body, secrets, sentAt }) : secrets;
      const verdict = judge(delivery.attempts + 1, outcome, retrySeconds);
      attempts.push({ delivery, outcome, startedMs, verdict });
      if (verdict.status !== 'DELIVERED') waiting.length = 0;
    }
  };
  await Promise.all(Array.from({ length: maxInFlight }, tryNext));
  return attempts;
}

/** What the deliveries of a webhook are signed with; if it cannot be decrypted, what is recorded of them. */
function readSecrets({ keys, log }: SendContext, { id, secrets, readAt }: Batch): string[] | Outcome {
  try {
    return signingSecrets(keys, secrets, readAt);
  } catch (error) {
    log.error({ webhook: id, err: error }, 'the secret of a webhook cannot be decrypted');
    const missingKey = missingKeyIn(error);
    if (missingKey) metrics.missingKeys.inc();
    const reason = missingKey ? `${missingKey.message} The command doctor says where it belongs.` : 'See the log of the gateway.';
    return { error: `The secret of the webhook cannot be decrypted. ${reason}`, isOwnFailure: true };
  }
}

/** Records attempts as soon as the database responds. @throws when it does not and the signal is aborted. */
async function record(context: SendContext, batch: Batch, attempts: readonly Attempt[], signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await recordOnce(context, batch, attempts);
      return;
    } catch (error) {
      if (signal.aborted || !isUnavailable(error)) throw error;
      context.onFailure(error);
      await sleep(context.pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}

const notStored: Outcome = { error: 'The response cannot be stored: see the log of the gateway.' };

/** Records attempts; one that the database refuses, without its response. What was recorded before a failure is ignored later. */
async function recordOnce(context: SendContext, batch: Batch, attempts: readonly Attempt[]): Promise<void> {
  const { database, log, retrySeconds } = context;
  try {
    describe(log, batch, attempts, await settle(database, batch, attempts));
  } catch (error) {
    const [first, ...others] = attempts;
    if (isUnavailable(error) || !first || first.outcome === notStored) throw error;
    if (others.length > 0) {
      for (const attempt of attempts) await recordOnce(context, batch, [attempt]);
      return;
    }
    log.error({ webhook: batch.id, err: error }, 'the response to a delivery cannot be stored');
    const verdict = judge(first.delivery.attempts + 1, notStored, retrySeconds);
    await recordOnce(context, batch, [{ ...first, outcome: notStored, verdict }]);
  }
}

/** What changed with recorded attempts. */
interface Settlement {
  readonly state: WebhookState | undefined;
  /** Why the webhook was disabled; undefined if it was not. */
  readonly disabledReason: string | undefined;
}

/** Records attempts, and disables the webhook if it has failed for too long. */
async function settle(database: SendContext['database'], batch: Batch, attempts: readonly Attempt[]): Promise<Settlement> {
  const now = performance.now();
  const records = attempts.map(({ delivery, outcome, startedMs, verdict }) => ({
    ...verdict,
    id: delivery.id,
    attempts: delivery.attempts,
    isCounted: !outcome.isOwnFailure,
    tookSeconds: (now - startedMs) / 1_000,
    responseStatus: outcome.status,
    responseBody: outcome.body,
    error: outcome.error,
  }));
  const state = await recordAttempts(database, batch, records);
  const reason = state && reasonToDisable(state);
  const isDisabled = reason !== undefined && (await disableWebhook(database, batch, reason));
  return { state, disabledReason: isDisabled ? reason : undefined };
}

function reasonToDisable({ isGone, isOverdue }: WebhookState): string | undefined {
  if (isGone) return 'The endpoint responded with 410 Gone.';
  return isOverdue ? `Every attempt has failed for ${maxFailingDays} days.` : undefined;
}

/** Counts and logs what was recorded. Of a URL only the host, because its path may be a secret. */
function describe(log: Logger, batch: Batch, attempts: readonly Attempt[], { state, disabledReason }: Settlement): void {
  for (const { outcome, verdict } of attempts) {
    const kind = verdict.status === 'PENDING' ? 'failed_attempt' : verdict.status.toLowerCase();
    if (!outcome.isOwnFailure) metrics.webhookDeliveries.inc({ outcome: kind });
  }
  const { status, error } = attempts.at(-1)?.outcome ?? {};
  const shown = { webhook: batch.id, host: new URL(batch.url).host, status, error };
  if (state?.isFailing && !state.wasFailing) log.warn(shown, 'deliveries to a webhook fail');
  if (state?.wasFailing && !state.isFailing) log.info(shown, 'deliveries to a webhook succeed again');
  if (!disabledReason) return;
  metrics.webhooksDisabled.inc();
  log.warn({ ...shown, reason: disabledReason }, 'a webhook was disabled');
}
