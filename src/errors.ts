import type { Caller } from './caller.ts';
import type { UserGroup } from './generated/prisma/client.ts';
import { requestLimits, requestTimeouts } from './request-limits.ts';
import { redactTokens } from './tokens.ts';

/** What an error code means, over GraphQL and REST. */
export interface ErrorCatalogEntry {
  /** The HTTP status over REST, and over GraphQL where the whole request failed. */
  readonly status: number;
  /** A short summary that never varies. */
  readonly title: string;
  /** What the caller should do. */
  readonly remedy: string;
  /** When to try again. */
  readonly retryAfterSeconds?: number;
  /** The authentication scheme that the caller is asked to use. */
  readonly authenticationScheme?: string;
}

/** What a legacy caller can do when its client or a proxy drops the body of a GET. */
export const droppedBodyRemedy =
  'If your client or a proxy drops the body of a GET, send QUERY /api/user with the same body, or GET /api/user?user_group_id=…&name=….';

const { maxHeaderBytes, maxBodyBytes, maxAnonymousBodyBytes } = requestLimits;
const { requestMs } = requestTimeouts;

/** Every error code. Codes may be added; the meaning of a code never changes. */
export const errorCatalog = {
  INVALID_INPUT: {
    status: 400,
    title: 'Invalid input',
    remedy: 'Fix each entry in `issues`: `path` is the location, `message` what is expected.',
  },
  BODY_REQUIRED: {
    status: 400,
    title: 'Missing request body',
    remedy: `Send a JSON object. ${droppedBodyRemedy}`,
  },
  MALFORMED_JSON: {
    status: 400,
    title: 'Malformed JSON',
    remedy: 'Send valid JSON in UTF-8, without a byte order mark and without duplicate object members.',
  },
  QUERY_TOO_COSTLY: {
    status: 400,
    title: 'GraphQL operation exceeds a limit',
    remedy: 'Request fewer fields or items, or split the operation. The message states the limit.',
  },
  UNAUTHENTICATED: {
    status: 401,
    title: 'No valid API token',
    remedy: 'Send the header "Authorization: Token <API_TOKEN>" with an API token that is neither expired nor revoked.',
    authenticationScheme: 'Token',
  },
  FORBIDDEN: {
    status: 403,
    title: 'Missing scope',
    remedy: 'Use an API token with the scope that the message names, or ask the operator for one.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'Not found',
    remedy: 'Check the path or the identifier, and that the API token belongs to the right environment.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method not allowed',
    remedy: 'Use a method listed in the Allow header.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request timeout',
    remedy: `Send the whole request without pauses: within ${requestMs / 1_000} seconds.`,
  },
  CONFLICT: {
    status: 409,
    title: 'Conflicts with an existing user group',
    remedy:
      'Use another id, or an API token of an environment that the message names, or change the environment of one of the groups ' +
      '(setUserGroupEnvironment over GraphQL).',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    title: 'The Idempotency-Key is in use',
    remedy:
      'Send the same request again after the number of seconds in the Retry-After header, to get the response of the first.',
    retryAfterSeconds: 1,
  },
  SUSPENDED: {
    status: 409,
    title: 'The user group is suspended',
    remedy:
      'Show the viewer that there is no access. Once the group may be used again, resume it (resumeUserGroup over GraphQL).',
  },
  VERSION_MISMATCH: {
    status: 412,
    title: 'The user group has changed',
    remedy:
      'Read the group again, apply your change to it, and send the change with the current version: as `expectedVersion` over GraphQL, ' +
      'in the header If-Match over REST.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'Request body too large',
    remedy: `Send at most ${maxBodyBytes / 2 ** 20} MiB, or ${maxAnonymousBodyBytes / 1_024} KiB without a valid API token.`,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'Unsupported media type',
    remedy: 'Send the body in the media type that the message names, in UTF-8 and without a content encoding.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'Another request had the Idempotency-Key',
    remedy: 'Use a new key for each request, and the same key only to send the same request again.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'Request headers too large',
    remedy: `Send at most ${maxHeaderBytes / 1_024} KiB of headers, including the request line.`,
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    remedy: 'Wait for the number of seconds in the Retry-After header.',
    retryAfterSeconds: 1,
  },
  INTERNAL: {
    status: 500,
    title: 'Internal error',
    remedy: 'Try again. If the error persists, send the request id to the operator, who can find the cause in the log.',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'Service unavailable',
    remedy:
      'Try again after the number of seconds in the Retry-After header. The message says whether a change may have been made.',
    retryAfterSeconds: 1,
  },
} as const satisfies Record<string, ErrorCatalogEntry>;

/** An error code. */
export type ErrorCode = keyof typeof errorCatalog;

/** One problem with an input. */
export interface Issue {
  /** Member names and list indexes from the root of the input to the problem. */
  readonly path: readonly (string | number)[];
  /** What is wrong and what is expected, in one sentence. */
  readonly message: string;
}

/**
 * An expected failure. Its message is public, without the tokens that it repeats, because clients log it; its cause, if any, is
 * only logged. It has no stack trace: recording one takes longer than all else about a rejected request, and the code and the
 * message say what happened.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  /** When to try again; undefined for that of the {@link errorCatalog}. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { readonly retryAfterSeconds?: number }) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(redactTokens(message), options);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.retryAfterSeconds = options?.retryAfterSeconds;
    this.name = new.target.name;
  }
}

/** The most issues that are listed: enough to fix several at once, and a response that stays small whatever was sent. */
export const maxIssues = 10;

/** The most characters of a member's name, and of an issue's message, that are repeated in a response. */
const maxShownName = 64;
const maxShownMessage = 1_000;

/** A name that came from a caller, cut to its beginning if it is long. */
export function shorten(name: string, maxLength = maxShownName): string {
  return name.length > maxLength ? `${name.slice(0, maxLength).toWellFormed()}…` : name;
}

/** The first ten issues, with long names in their paths cut short, and without tokens. */
export function boundIssues(issues: readonly Issue[]): Issue[] {
  return issues.slice(0, maxIssues).map(({ path, message }) => ({
    path: path.map((segment) => (typeof segment === 'string' ? shorten(redactTokens(segment)) : segment)),
    message: shorten(redactTokens(message), maxShownMessage),
  }));
}

/** Issues as one text: each with its path, if it has one. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join(' ');
}

/** The input is not valid; lists every issue, up to ten. */
export class InvalidInput extends GatewayError {
  /** At most ten, each short. */
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    const bounded = boundIssues(issues);
    super('INVALID_INPUT', describeIssues(bounded));
    this.issues = bounded;
  }
}

/** No API token was sent, or it is not valid. */
export class Unauthenticated extends GatewayError {
  constructor(message: string) {
    super('UNAUTHENTICATED', message);
  }
}

/** The caller's API token lacks a scope. */
export class Forbidden extends GatewayError {
  constructor(message: string) {
    super('FORBIDDEN', message);
  }
}

/** Not found, or not accessible to the caller: the two are indistinguishable. */
export class NotFound extends GatewayError {
  constructor(message: string) {
    super('NOT_FOUND', message);
  }
}

/** The change conflicts with an existing user group. */
export class Conflict extends GatewayError {
  constructor(message: string) {
    super('CONFLICT', message);
  }
}

/** The group is suspended: no embed token is created for it. */
export class Suspended extends GatewayError {
  constructor() {
    super('SUSPENDED', 'The user group is suspended: its tokens identify nothing. Resume it (resumeUserGroup) first.');
  }
}

/** The message of {@link VersionMismatch}. */
const otherVersion = `The user group does not have the expected version. Nothing was changed. ${errorCatalog.VERSION_MISMATCH.remedy}`;

/** The group does not have the version that the caller expects: it has changed since the caller read it. */
export class VersionMismatch extends GatewayError {
  /** The group as it is. */
  readonly userGroup: UserGroup;

  constructor(userGroup: UserGroup) {
    super('VERSION_MISMATCH', otherVersion);
    this.userGroup = userGroup;
  }
}

/** The caller has used up the requests that an API token may send in 60 seconds. Nothing was executed. */
export class RateLimited extends GatewayError {
  readonly caller: Caller;

  /** @param retryAfterSeconds when another request is permitted, if there are none until then: 1 to 61. */
  constructor(caller: Caller, message: string, retryAfterSeconds: number) {
    super('RATE_LIMITED', message, { retryAfterSeconds });
    this.caller = caller;
  }
}

/** The error of work that was not started, because its response is no longer needed. */
export const abandoned = (): GatewayError =>
  new GatewayError('UNAVAILABLE', 'The request was abandoned: it timed out or the client disconnected.');

/** What the message of a failure says that came before any change. It is left out where the failure is of a later part. */
export const nothingChanged = 'Nothing was changed. ';

/** What a caller may do when it is not known whether a change was made. */
export const safeToRepeat =
  'Reads, get-or-create, update and requests with an Idempotency-Key are safe to repeat; after another rotation, look up the group ' +
  'by its id first.';
