/** The limits of requests with an Idempotency-Key. */
export const idempotencyLimits = {
  /** The characters of a key. */
  maxIdempotencyKeyCharacters: 255,
  /**
   * The transactions of requests with a key at once, and at most on half of the connections: each occupies one until it is
   * committed, and other requests need some.
   */
  maxKeyedTransactions: 5,
  /** The bytes of the responses in one transaction of several requests. What exceeds them is executed alone. */
  maxSharedResponseBytes: 4_194_304,
  /** The transactions that wait to begin. */
  maxWaitingKeyedTransactions: 1_000,
  /** The bytes of a response, which is stored for 24 hours. */
  maxStoredResponseBytes: 1_048_576,
  /** A response with as many bytes counts towards {@link idempotencyLimits.maxStoredBytesPerApiToken}. */
  minCountedResponseBytes: 4_096,
  /** The bytes of such responses that one process stores for an API token in 24 hours. */
  maxStoredBytesPerApiToken: 1_073_741_824,
} as const;
