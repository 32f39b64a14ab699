/** The limits of requests with an Idempotency-Key. */
export const idempotencyLimits = {
  /** The characters of a key. */
  maxIdempotencyKeyCharacters: 255,
  /**
   * The transactions of requests with a key at once, and at most on half of the connections: each occupies one until it is
   * committed, and other requests need some.
   */
  maxKeyedTransactions: 5,
  /** The transactions that wait to begin. */
  maxWaitingKeyedTransactions: 1_000,
  /** The bytes of a response, which is stored for 24 hours. */
  maxStoredResponseBytes: 1_048_576,
} as const;
