/** The limits of requests that the remedies of error codes state; the HTTP transport enforces them. Sizes are in bytes. */
export const requestLimits = {
  maxHeaderBytes: 16_384,
  maxBodyBytes: 1_048_576,
  maxAnonymousBodyBytes: 131_072,
} as const;

/** The time that a request may take to arrive, in milliseconds. */
export const requestTimeouts = { requestMs: 30_000 } as const;
