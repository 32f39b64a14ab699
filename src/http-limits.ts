/** The limits of the HTTP transport. docs/limits.md lists the same figures. */
export const httpLimits = {
  /** Open connections; further ones are closed immediately. */
  maxConnections: 1_024,
  /** Requests on one connection that are not answered yet. A connection with more is closed. */
  maxPipelinedRequests: 64,
  /** The headers of a request, including the request line. */
  maxHeaderBytes: 16_384,
  /** A request body. */
  maxBodyBytes: 1_048_576,
  /** A request body without a valid API token, which permits little more than introspection. */
  maxAnonymousBodyBytes: 131_072,
  /** A form: enough for the longest embed token. */
  maxFormBytes: 131_072,
  /** The parameters of a form. */
  maxFormParameters: 16,
  /** Levels of nesting in JSON. */
  maxJsonDepth: 256,
  /** All request bodies in memory, apart from small ones. */
  maxHeldBodyBytes: 64 * 2 ** 20,
  /** All responses that clients have not read yet, apart from small ones. */
  maxUnsentBytes: 32 * 2 ** 20,
} as const;

/** The timeouts of a request and its response, in milliseconds. */
export const httpTimeouts = {
  /** Until the headers are received. */
  headersMs: 15_000,
  /** Until the whole request is received. */
  requestMs: 30_000,
  /** From the end of the request until the response. */
  responseMs: 12_000,
  /** A connection on which nothing is received or sent, although a request or a response is under way. */
  silenceMs: 30_000,
  /** An idle connection: longer than the usual idle timeout of load balancers, so that they close it first. */
  keepAliveMs: 65_000,
} as const;

/** Bodies up to this size are read before the credential is checked, and do not count: the number of connections bounds them. */
export const smallBodyBytes = 16_384;

/** Responses up to this size are always sent; the number of connections bounds them. */
export const smallResponseBytes = 65_536;
