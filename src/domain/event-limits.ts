import { maxEventValueBytes } from '../database/queries/event-writes.ts';
import type { UserGroupDraft } from '../database/queries/user-group-columns.ts';
import type { Caller } from './caller.ts';
import { GatewayError } from './errors.ts';
import { StoredBytes } from './stored-bytes.ts';

/** The limits of the audit log. */
export const eventLimits = {
  /** The bytes of a property's value in an event. Of a larger one it has the length and the SHA-256. */
  maxEventValueBytes,
  /** A new group with as many bytes of properties and mapping counts towards {@link eventLimits.maxEventBytesPerApiToken}. */
  minCountedCreationBytes: 1_024,
  /** The bytes of changes that one process records for an API token in 24 hours. */
  maxEventBytesPerApiToken: 1_073_741_824,
} as const;

const { minCountedCreationBytes, maxEventBytesPerApiToken } = eventLimits;

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

/** Counts a group that was created, as {@link countEventBytes} does, unless it is small: its own row has as many bytes. */
export function countCreation(eventBytes: StoredBytes, { apiToken }: Caller, draft: CreatedJson): void {
  const bytes = bytesOfCreation(draft);
  if (bytes >= minCountedCreationBytes) countEventBytes(eventBytes, apiToken?.id, bytes);
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

/** Refuses the creation of groups as {@link requireEventBytes} does, unless none of them would count. */
export function requireCreationBytes(eventBytes: StoredBytes, caller: Caller, drafts: readonly CreatedJson[]): void {
  if (drafts.some((draft) => bytesOfCreation(draft) >= minCountedCreationBytes)) requireEventBytes(eventBytes, caller);
}

/** What counts of a new group. */
type CreatedJson = Pick<UserGroupDraft, 'properties' | 'mapping'>;

/** The bytes of what the creation of a group records of its properties and its mapping. */
function bytesOfCreation({ properties, mapping }: CreatedJson): number {
  const whole = Buffer.byteLength(properties ?? '');
  const sizes =
    whole > maxEventValueBytes
      ? Object.values(JSON.parse(properties ?? '{}')).map((value) => Buffer.byteLength(JSON.stringify(value)))
      : [];
  const omitted = sizes.reduce((sum, size) => (size > maxEventValueBytes ? sum + size : sum), 0);
  return Buffer.byteLength(mapping) + whole - omitted;
}
