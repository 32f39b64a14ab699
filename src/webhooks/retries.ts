import type { WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import type { Outcome } from './send.ts';

/** How long after a failed attempt the next one follows, in seconds: the schedule of Standard Webhooks, some three days. */
export const retrySeconds: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** By how much a wait is longer at most, so that what failed together is not repeated together. */
const jitter = 0.2;

/** The longest wait that an endpoint may ask for. */
const maxRetryAfterSeconds = 86_400;

/** What follows from an attempt. */
export interface Verdict {
  readonly status: WebhookDeliveryStatus;
  /** How long until it is tried again; null if it stays due. */
  readonly waitSeconds: number | null;
}

/** Decides what follows from an attempt. @param attempts how often the delivery was tried, this attempt included. */
export function judge(
  attempts: number,
  { status = 0, error, retryAfterSeconds = 0, isOwnFailure }: Outcome,
  waits: readonly number[] = retrySeconds,
): Verdict {
  // Another gateway may be able to send it.
  if (isOwnFailure) return { status: 'PENDING', waitSeconds: null };
  if (status >= 200 && status < 300 && error === undefined) return { status: 'DELIVERED', waitSeconds: 0 };
  const wait = waits[attempts - 1];
  if (wait === undefined) return { status: 'FAILED', waitSeconds: 0 };
  const waitSeconds = Math.max(wait * (1 + jitter * Math.random()), Math.min(retryAfterSeconds, maxRetryAfterSeconds));
  return { status: 'PENDING', waitSeconds };
}
