import { maxEventValueBytes, type RecordedEvent } from '../database/queries/event-writes.ts';
import type { Caller } from './caller.ts';
import { GatewayError } from './errors.ts';
import { StoredBytes } from './stored-bytes.ts';

/** The limits of the audit log. */
export const eventLimits = {
  /** The bytes of a property's value in an event. Of a larger one it has the length and the SHA-256. */
  maxEventValueBytes,
  /** The bytes of events about groups that one process records for an API token in 24 hours. */
  maxEventBytesPerApiToken: 1_073_741_824,
} as const;

const { maxEventBytesPerApiToken } = eventLimits;

/**
 * Creates the count of what API tokens record.
 *
 * @param maxBytes how much each may record in 24 hours.
 * @param now the time in seconds, as {@link StoredBytes} reads it.
 */
export const createEventBytes = (maxBytes: number = maxEventBytesPerApiToken, now?: () => number): StoredBytes =>
  new StoredBytes({ minBytes: 1, maxBytes }, now);

/** The bytes of an event without its texts, with its entries in indexes: 290 to 390, as measured with 100,000 of each type. */
const bytesWithoutTexts = 400;

/** The bytes that an event about a group takes of the database. */
function bytesOfEvent({ author: { name, requestId }, providedId, changesBytes }: RecordedEvent): number {
  return bytesWithoutTexts + changesBytes + Buffer.byteLength(`${name}${requestId ?? ''}${providedId}`);
}

/**
 * Counts an event about a group, if an API token has made the change. It stays counted when the transaction of the change is
 * rolled back, as that of a request with an `Idempotency-Key` is when its response is not kept.
 */
export function countEvent(eventBytes: StoredBytes, event: RecordedEvent): void {
  const { apiTokenId } = event.author;
  if (apiTokenId !== null) eventBytes.count(apiTokenId, bytesOfEvent(event));
}

/**
 * Refuses a change of a caller whose API token has reached its limit. How much a change records is known when it is made, so the
 * last one may exceed the limit.
 *
 * @throws GatewayError `RATE_LIMITED`.
 */
export function requireEventBytes(eventBytes: StoredBytes, { apiToken }: Caller): void {
  const retryAfterSeconds = apiToken ? eventBytes.secondsUntilRoom(apiToken.id) : 0;
  if (retryAfterSeconds === 0) return;
  throw new GatewayError(
    'RATE_LIMITED',
    `The changes of user groups that this API token has made exceed ${maxEventBytesPerApiToken} bytes of the audit log in ` +
      `24 hours. Nothing was changed. Send it again after ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}
