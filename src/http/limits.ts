import { requestLimits, requestTimeouts } from '../domain/request-limits.ts';

/** The limits of the HTTP transport. docs/limits.md lists the same figures. */
export const httpLimits = {
  /** Open connections; further ones are closed immediately. */
  maxConnections: 4_096,
  /** Requests that wait on one connection for the response to an earlier one. A connection with more is closed. */
  maxPipelinedRequests: 64,
  /** The headers of a request, including the request line. */
  maxHeaderBytes: requestLimits.maxHeaderBytes,
  /** The header If-Match, in characters: many times any list of versions that a client has. */
  maxIfMatchCharacters: 1_024,
  /** A request body. */
  maxBodyBytes: requestLimits.maxBodyBytes,
  /** A request body without a valid API token, which permits little more than introspection. */
  maxAnonymousBodyBytes: requestLimits.maxAnonymousBodyBytes,
  /** The chunks of a request body; each costs more than its bytes. */
  maxBodyParts: 4_096,
  /** The chunks of all bodies in a tenth of a second, after which a body may have 64. */
  maxRecentParts: 20_000,
  /** A form: enough for the longest embed token. */
  maxFormBytes: 131_072,
  /** The parameters of a form. */
  maxFormParameters: 16,
  /** Levels of nesting in JSON. */
  maxJsonDepth: 256,
  /** All request bodies in memory. One API token may hold half of it; requests without a valid one share a quarter. */
  maxHeldBodyBytes: 64 * 2 ** 20,
  /** All responses that are being serialized or that clients have not read yet, in the same shares. */
  maxUnsentBytes: 40 * 2 ** 20,
  /** Rejections of unread requests that wait while connections are being accepted; each holds up to 64 KiB of a body. */
  maxPostponedRejections: 1_024,
  /** Large bodies that wait to be parsed. */
  maxWaitingBodies: 200,
} as const;

/** The timeouts of a request and its response, in milliseconds. */
export const httpTimeouts = {
  /** Until the headers are received. */
  headersMs: 15_000,
  /** Until the whole request is received. */
  requestMs: requestTimeouts.requestMs,
  /** Until the whole request is received, without a valid API token. */
  anonymousRequestMs: requestTimeouts.anonymousRequestMs,
  /** From the end of the request until the response. */
  responseMs: 12_000,
  /** Until the client has read the response. */
  sendMs: 30_000,
  /** An idle connection: longer than the usual idle timeout of load balancers, so that they close it first. */
  keepAliveMs: 65_000,
  /**
   * How long the rest of a rejected body is read and discarded, or the connection held open, so that the client can read the
   * response.
   */
  lingerMs: 2_000,
  /** How long the rejection of a request whose body was not read waits at most while connections are being accepted. */
  rejectionPostponedMs: 1_000,
} as const;

/** Bodies up to this size are read before the credential is checked, and do not count: the number of connections bounds them. */
export const smallBodyBytes = 16_384;

/** The interval of {@link httpLimits.maxRecentParts}. */
export const partsIntervalMs = 100;

/** What each part of a body that was received separately takes besides its bytes. It counts as much. */
export const receivedPartBytes = 512;

/** Bodies of at least this size are parsed one at a time, so that other requests are served in between. */
export const largeBodyBytes = 65_536;

/** Responses up to this size are always sent; the number of connections bounds them. */
export const smallResponseBytes = 65_536;

/** How many bytes of the rest of a rejected body are read and discarded, and on how many connections at a time. */
export const maxLingerBytes = 262_144;
/** The same limit in chunks: a client may send chunks of one byte, and each costs more than its bytes. */
export const maxLingerChunks = 256;
export const maxLingeringConnections = 64;
/** The same limit in sum: with more, the rest is not read. */
export const maxLingerBytesPerSecond = 8 * 2 ** 20;
/** How many connections with an unread rest are held open for `lingerMs`; further ones are closed, and reset. */
export const maxHeldConnections = 512;
