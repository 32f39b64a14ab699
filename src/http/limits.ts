import { requestLimits, requestTimeouts } from '../domain/request-limits.ts';

/** The limits of the HTTP transport. docs/limits.md lists the same figures. */
export const httpLimits = {
  /** Open connections; further ones are closed at once. */
  maxConnections: 4_096,
  /** Requests that wait on one connection for the response to an earlier one. A connection with more is closed. */
  maxPipelinedRequests: 64,
  /** The headers of a request, including the request line. */
  maxHeaderBytes: requestLimits.maxHeaderBytes,
  /** A request body. */
  maxBodyBytes: requestLimits.maxBodyBytes,
  /** A request body without an accepted API token, which permits little more than introspection. */
  maxAnonymousBodyBytes: requestLimits.maxAnonymousBodyBytes,
  /** The parts that a body comes in; each costs more than its bytes. */
  maxBodyParts: 4_096,
  /** Levels of nesting in JSON. */
  maxJsonDepth: 256,
  /** All request bodies that are held at once. One API token may hold half of it; those without an accepted one share a quarter. */
  maxHeldBodyBytes: 64 * 2 ** 20,
  /** All responses together that clients have not read yet, in the same shares. */
  maxUnsentBytes: 48 * 2 ** 20,
  /** Large bodies that wait to be parsed. */
  maxWaitingBodies: 200,
} as const;

/** The timeouts of a request and its response, in milliseconds. */
export const httpTimeouts = {
  /** Until the headers are there, and until the whole request is. */
  headersMs: 15_000,
  requestMs: requestTimeouts.requestMs,
  /** Until the whole request is there, without an accepted API token. */
  anonymousRequestMs: requestTimeouts.anonymousRequestMs,
  /** From the moment when the request is there until its response. */
  responseMs: 12_000,
  /** Until the client has taken the response. */
  sendMs: 30_000,
  /** An idle connection: longer than load balancers usually keep theirs, so that it is they who close it. */
  keepAliveMs: 65_000,
  /** How long the rest of a rejected body is discarded, so that the client gets to read the refusal. */
  lingerMs: 2_000,
} as const;

/** Bodies up to this size are read before the credential is checked, and not counted: the number of connections bounds them. */
export const smallBodyBytes = 16_384;

/** From this size on, bodies take turns to be parsed, so that other requests are served in between. */
export const largeBodyBytes = 65_536;

/** Responses up to this size are always sent; the number of connections bounds them. */
export const smallResponseBytes = 65_536;

/** How many bytes of the rest of a rejected body are discarded, so that the client gets to read the response; and on how many connections at once. */
export const maxLingerBytes = 262_144;
export const maxLingeringConnections = 64;
