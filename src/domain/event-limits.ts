import { maxEventValueBytes } from '../database/queries/event-writes.ts';
import type { UserGroupDraft } from '../database/queries/user-group-columns.ts';
import type { Caller } from './caller.ts';
import { GatewayError } from './errors.ts';
import { StoredBytes } from './stored-bytes.ts';

/** The limits of the audit log. */
export const eventLimits = {
  /** The bytes of a property's value in an event. Of a larger one it has the length and the SHA-256. */
  maxEventValueBytes,
  /** The bytes of changes that one process records for an API token in 24 hours. */
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

/**
 * Counts the bytes of what a change has recorded, if an API token has made it. They stay counted when the transaction of the
 * change is rolled back, as that of a request with an `Idempotency-Key` is when its response is not kept.
 */
export function countEventBytes(eventBytes: StoredBytes, apiTokenId: number | null | undefined, bytes: number): void {
  if (apiTokenId != null) eventBytes.count(apiTokenId, bytes);
}

/** Counts a group that was created, as {@link countEventBytes} does. */
export function countCreation(eventBytes: StoredBytes, { apiToken }: Caller, draft: Created): void {
  countEventBytes(eventBytes, apiToken?.id, bytesOfCreation(draft));
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

/** What counts of a new group. */
type Created = Pick<UserGroupDraft, 'name' | 'properties' | 'mapping'>;

/** The bytes of what the creation of a group records of its name, its properties and its mapping. */
function bytesOfCreation({ name, properties, mapping }: Created): number {
  const whole = Buffer.byteLength(properties ?? '');
  const sizes =
    whole > maxEventValueBytes
      ? Object.values(JSON.parse(properties ?? '{}')).map((value) => Buffer.byteLength(JSON.stringify(value)))
      : [];
  const omitted = sizes.reduce((sum, size) => (size > maxEventValueBytes ? sum + size : sum), 0);
  return Buffer.byteLength(name) + Buffer.byteLength(mapping) + whole - omitted;
}
