/** The limits of the HTTP transport. docs/limits.md lists the same figures. */
export const httpLimits = {
  /** Open connections; further ones are closed immediately. */
  maxConnections: 4_096,
  /** Requests that wait on one connection for the response to an earlier one. A connection with more is closed. */
  maxPipelinedRequests: 64,
  /** The headers of a request, including the request line. */
  maxHeaderBytes: 16_384,
  /** A request body. */
  maxBodyBytes: 1_048_576,
  /** A request body without a valid API token, which permits little more than introspection. */
  maxAnonymousBodyBytes: 131_072,
  /** The chunks of a request body; each costs more than its bytes. */
  maxBodyParts: 4_096,
  /** A form: enough for the longest embed token. */
  maxFormBytes: 131_072,
  /** The parameters of a form. */
  maxFormParameters: 16,
  /** Levels of nesting in JSON. */
  maxJsonDepth: 256,
  /** All request bodies in memory. One API token may hold half of it; requests without a valid one share a quarter. */
  maxHeldBodyBytes: 64 * 2 ** 20,
  /** All responses that clients have not read yet, with the same limits. */
  maxUnsentBytes: 40 * 2 ** 20,
} as const;

/** The timeouts of a request and its response, in milliseconds. */
export const httpTimeouts = {
  /** Until the headers are received. */
  headersMs: 15_000,
  /** Until the whole request is received. */
  requestMs: 30_000,
  /** From the end of the request until the response. */
  responseMs: 12_000,
  /** Until the client has read the response. */
  sendMs: 30_000,
  /** An idle connection: longer than the usual idle timeout of load balancers, so that they close it first. */
  keepAliveMs: 65_000,
  /** How long the rest of a rejected body is read and discarded, so that the client can read the response. */
  discardMs: 2_000,
} as const;

/** Bodies up to this size are read before the credential is checked, and do not count: the number of connections bounds them. */
export const smallBodyBytes = 16_384;

/** What each part of a body that was received separately takes besides its bytes. It counts as much. */
export const receivedPartBytes = 512;

/** Bodies of at least this size are parsed one at a time, so that other requests are served in between. */
export const largeBodyBytes = 65_536;

/** Responses up to this size are always sent; the number of connections bounds them. */
export const smallResponseBytes = 65_536;

/** How many chunks of the rest of a rejected body are read and discarded: each costs more than its bytes. */
export const maxDiscardedChunks = 256;
