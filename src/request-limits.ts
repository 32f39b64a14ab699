/** The limits of requests that the remedies of error codes state; the HTTP transport enforces them. Sizes are in bytes. */
export const requestLimits = {
  maxHeaderBytes: 16_384,
  maxBodyBytes: 1_048_576,
  maxAnonymousBodyBytes: 131_072,
} as const;

/** The timeouts that the rest of the gateway knows, in milliseconds. */
export const requestTimeouts = {
  /** Until the whole request is received. */
  requestMs: 30_000,
  /** From the end of the request until the response. */
  responseMs: 12_000,
} as const;
