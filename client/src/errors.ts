import type { ErrorCode, Viewer } from './generated.ts';

/** One problem with an input. */
export interface Issue {
  /** Where it is: names of members, and indexes of lists from 0. */
  readonly path: readonly (string | number)[];
  /** What is wrong, and what is expected. */
  readonly message: string;
}

/**
 * What {@link GatewayError.code} can be: a code of the gateway, or one of the client. `NETWORK`: no complete response. `TIMEOUT`:
 * none in time. `INVALID_RESPONSE`: not one of the gateway, a proxy's for example. A newer gateway may have further codes.
 */
export type GatewayErrorCode =
  | ErrorCode
  | 'NETWORK'
  | 'TIMEOUT'
  | 'INVALID_RESPONSE'
  | 'INVALID_EMBED_TOKEN'
  | 'EXPIRED_EMBED_TOKEN'
  | 'INVALID_WEBHOOK'
  | (string & {});

/** What is known of an error besides its code and message. */
export interface GatewayErrorDetails {
  readonly issues?: readonly Issue[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly userGroup?: Viewer | undefined;
  readonly cause?: unknown;
}

/** Every error of the client: one of the classes below, or this one for the remaining codes. */
export class GatewayError extends Error {
  /** The kind of failure. */
  readonly code: GatewayErrorCode;
  /** What is wrong with the input; empty for other errors. */
  readonly issues: readonly Issue[];
  /** The id under which the gateway logged the request, if it responded. */
  readonly requestId: string | undefined;
  /** When to try again, in seconds, if the gateway says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: GatewayErrorCode, message: string, details: GatewayErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.name = `GatewayError [${code}]`;
    this.code = code;
    this.issues = details.issues ?? [];
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** The input is not valid: `issues` lists why. Nothing was changed. */
export class InvalidInputError extends GatewayError {}

/** The API token is missing, unknown, expired, revoked or disabled. */
export class UnauthenticatedError extends GatewayError {}

/** The API token lacks the scope that the message names. */
export class ForbiddenError extends GatewayError {}

/** There is no such group, or the API token has no access to it. */
export class NotFoundError extends GatewayError {}

/** The change conflicts with another group. Nothing was changed. */
export class ConflictError extends GatewayError {}

/** The group is suspended: its tokens identify nothing, and no embed token is created for it. */
export class SuspendedError extends GatewayError {}

/** The group does not have the `expectedVersion`. Nothing was changed. */
export class VersionMismatchError extends GatewayError {
  /** The group as it is, without its token: errors are logged. */
  readonly userGroup: Viewer | undefined;

  constructor(code: GatewayErrorCode, message: string, details: GatewayErrorDetails = {}) {
    super(code, message, details);
    this.userGroup = details.userGroup;
  }
}

/** The API token has used up its requests. Nothing was changed. */
export class RateLimitedError extends GatewayError {}

/** The gateway cannot serve now, also after every retry. The message says whether a change may have been made. */
export class UnavailableError extends GatewayError {}

/** There was no complete response in time, also after every retry. A change may have been made. */
export class NetworkError extends GatewayError {}

/** An embed token is not genuine, not for this verifier, or expired. */
export class EmbedTokenError extends GatewayError {}

/** A webhook is not from the holder of the secret, or too old. */
export class WebhookError extends GatewayError {}

const classes = new Map<string, typeof GatewayError>([
  ['INVALID_INPUT', InvalidInputError],
  ['UNAUTHENTICATED', UnauthenticatedError],
  ['FORBIDDEN', ForbiddenError],
  ['NOT_FOUND', NotFoundError],
  ['CONFLICT', ConflictError],
  ['SUSPENDED', SuspendedError],
  ['VERSION_MISMATCH', VersionMismatchError],
  ['RATE_LIMITED', RateLimitedError],
  ['UNAVAILABLE', UnavailableError],
  ['NETWORK', NetworkError],
  ['TIMEOUT', NetworkError],
  ['INVALID_EMBED_TOKEN', EmbedTokenError],
  ['EXPIRED_EMBED_TOKEN', EmbedTokenError],
  ['INVALID_WEBHOOK', WebhookError],
]);

/** Creates an error of the class that its code has. */
export function createError(code: GatewayErrorCode, message: string, details?: GatewayErrorDetails): GatewayError {
  return new (classes.get(code) ?? GatewayError)(code, message, details);
}
