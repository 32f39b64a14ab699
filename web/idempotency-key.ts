/** A new Idempotency-Key. Not `crypto.randomUUID`, which browsers have only over HTTPS and on the own machine. */
export function createIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-');
}

/** A failure: its code, and its message. */
interface Failure {
  readonly code: string;
  readonly message: string;
}

/** Failures that the same request has each time, and that come before any change. */
const refusals: ReadonlySet<string> = new Set(['INVALID_INPUT', 'MALFORMED_JSON', 'PAYLOAD_TOO_LARGE']);

/** Whether a change may have been made that failed with a key of its own. The messages of the gateway say it. */
export function mayBeMade({ code, message }: Failure): boolean {
  if (code === 'UNAVAILABLE') return !message.includes('Nothing was changed');
  return code === 'NETWORK' || code === 'IDEMPOTENCY_KEY_IN_USE';
}

/**
 * Whether a change keeps its key after a failure, because it is not known whether it was made. A later failure says nothing of an
 * earlier attempt, unless it is due to what was sent.
 *
 * @param wasUnknown whether it was not known before.
 */
export function staysUnknown(failure: Failure, wasUnknown: boolean): boolean {
  return !refusals.has(failure.code) && (wasUnknown || mayBeMade(failure));
}
