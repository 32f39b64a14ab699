import { recordWebhookDisabling } from '../audit-log/record.ts';
import type { Database } from '../database/client.ts';
import { judge } from './retries.ts';
import type { Outcome } from './send.ts';
import {
  type Claim,
  type Completion,
  claimDeliveries,
  disableWebhook,
  lockWebhooks,
  maxFailingDays,
  recordAttempts,
  type WebhookState,
} from './statements/work.ts';

/** A delivery that was tried. */
export interface Attempt {
  readonly claim: Claim;
  readonly outcome: Outcome;
}

/** What to record, and what to claim. */
export interface SettlementRequest {
  readonly attempts: readonly Attempt[];
  /** The webhooks whose deliveries may be claimed. */
  readonly webhookIds: readonly number[];
  /** How long other gateways leave to this one what it claims. */
  readonly leaseSeconds: number;
  /** How long to wait after each failed attempt. */
  readonly retrySeconds?: readonly number[] | undefined;
}

/** What was recorded, and claimed. */
export interface Settlement {
  readonly claims: readonly Claim[];
  readonly completions: readonly Completion[];
  /** The webhooks whose deliveries were tried. */
  readonly states: readonly WebhookState[];
  /** The webhooks that were disabled. */
  readonly disabled: readonly { readonly id: number; readonly reason: string }[];
}

/**
 * Records attempts, disables webhooks that have failed for too long, and claims further deliveries: all in one transaction, so
 * that of a webhook never more are in flight than may be.
 */
export function recordAndClaim(database: Pick<Database, 'transaction'>, request: SettlementRequest): Promise<Settlement> {
  const { attempts, webhookIds, leaseSeconds, retrySeconds } = request;
  const judged = attempts.map(({ claim, outcome }) => ({
    claim,
    outcome,
    verdict: judge(claim.attempts, outcome, retrySeconds),
  }));
  const completions = judged.map(({ claim, outcome, verdict: { status, waitSeconds } }): Completion => {
    const { status: responseStatus, body: responseBody, error, isOwnFailure = false } = outcome;
    return { claim, isCounted: !isOwnFailure, status, waitSeconds, responseStatus, responseBody, error };
  });
  const tried = [...new Set(attempts.map(({ claim }) => claim.webhookId))];
  const others = webhookIds.filter((id) => !tried.includes(id));
  return database.transaction(async (query) => {
    const locked = await lockWebhooks({ query }, tried, others);
    const states = completions.length > 0 ? await recordAttempts({ query }, completions) : [];
    const disabled: { id: number; reason: string }[] = [];
    for (const { id, isGone, isOverdue } of states) {
      const reason = reasonToDisable(isGone, isOverdue);
      if (!reason || !(await disableWebhook({ query }, id, reason))) continue;
      await recordWebhookDisabling({ query }, id, reason);
      disabled.push({ id, reason });
    }
    const wanted = locked.filter((id) => webhookIds.includes(id));
    const claims = wanted.length > 0 ? await claimDeliveries({ query }, wanted, leaseSeconds) : [];
    return { claims, completions, states, disabled };
  });
}

function reasonToDisable(isGone: boolean, isOverdue: boolean): string | undefined {
  if (isGone) return 'The endpoint responded with 410 Gone.';
  return isOverdue ? `Every attempt has failed for ${maxFailingDays} days.` : undefined;
}
