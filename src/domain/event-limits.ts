import { maxEventValueBytes } from '../database/queries/event-writes.ts';
import type { UserGroupDraft } from '../database/queries/user-group-columns.ts';
import type { Caller } from './caller.ts';
import { GatewayError } from './errors.ts';
import { StoredBytes } from './stored-bytes.ts';

/** The limits of the audit log. */
export const eventLimits = {
  /** The bytes of a property's value in an event. Of a larger one it has the length and the SHA-256. */
  maxEventValueBytes,
  /** The changes of an event with as many bytes count towards {@link eventLimits.maxEventBytesPerApiToken}. */
  minCountedEventBytes: 1_024,
  /** The bytes of such changes that one process records for an API token in 24 hours. */
  maxEventBytesPerApiToken: 1_073_741_824,
} as const;

const { minCountedEventBytes, maxEventBytesPerApiToken } = eventLimits;

/** Creates the count of what API tokens record. */
export const countEventBytes = (): StoredBytes =>
  new StoredBytes({ minBytes: minCountedEventBytes, maxBytes: maxEventBytesPerApiToken });

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
    `The changes of properties and mappings that this API token has made exceed ${maxEventBytesPerApiToken} bytes of the audit log in ` +
      `24 hours. Nothing was changed. Send it again after ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}

/** The bytes of what the creation of a group records of its properties and its mapping. */
export function bytesOfCreation({ properties, mapping }: Pick<UserGroupDraft, 'properties' | 'mapping'>): number {
  const whole = Buffer.byteLength(properties ?? '');
  const sizes =
    whole > maxEventValueBytes
      ? Object.values(JSON.parse(properties ?? '{}')).map((value) => Buffer.byteLength(JSON.stringify(value)))
      : [];
  const omitted = sizes.reduce((sum, size) => (size > maxEventValueBytes ? sum + size : sum), 0);
  return Buffer.byteLength(mapping) + whole - omitted;
}

/** Refuses the creation of groups as {@link requireEventBytes} does, unless what they record would not count. */
export function requireCreationBytes(eventBytes: StoredBytes, caller: Caller, bytes: readonly number[]): void {
  if (bytes.some((each) => each >= minCountedEventBytes)) requireEventBytes(eventBytes, caller);
}
