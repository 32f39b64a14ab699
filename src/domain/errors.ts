import { isUnavailable } from '../database/faults.ts';

/** What a code of the closed list means, over both doors. */
export interface ErrorKind {
  /** The HTTP status over REST, and over GraphQL where the whole request failed. */
  readonly status: number;
  /** A few words that never vary. */
  readonly title: string;
  /** What a caller who meets it should do. */
  readonly advice: string;
}

/** The closed list of error codes. Later work adds to it, and never changes what a code means. */
export const errorKinds = {
  INVALID_INPUT: {
    status: 400,
    title: 'The input is not valid',
    advice: 'Mend each of the issues: its path says where it is, its message what is expected.',
  },
  BODY_REQUIRED: {
    status: 400,
    title: 'The request has no body',
    advice:
      'Send a JSON object. If your client or a proxy drops the body of a GET, send QUERY /api/user with the same body, or GET /api/user?user_group_id=…&name=….',
  },
  MALFORMED_JSON: {
    status: 400,
    title: 'The body is not strict JSON',
    advice: 'Send UTF-8 without a byte order mark, and each member of an object once.',
  },
  QUERY_TOO_COSTLY: {
    status: 400,
    title: 'The GraphQL operation is over a limit',
    advice: 'Ask for fewer fields or items at once, or split the operation. The message has the limit.',
  },
  UNAUTHENTICATED: {
    status: 401,
    title: 'No valid credential',
    advice: 'Send the header "Authorization: Token <API_TOKEN>" with an API token that is neither expired nor revoked.',
  },
  FORBIDDEN: {
    status: 403,
    title: 'The API token lacks a scope',
    advice: 'Use an API token that has the scope, or have one issued.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'There is no such thing here',
    advice: 'Check the path or the identifier, and that the API token belongs to the environment that you mean.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'This path does not take that method',
    advice: 'Use one of the methods in the Allow header.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request did not arrive in time',
    advice: 'Send the whole request without pauses: within 30 seconds, or within 5 without an accepted API token.',
  },
  CONFLICT: {
    status: 409,
    title: 'It would contradict what is stored',
    advice:
      'Use another id. If an untagged group holds the id, whoever operates the database can label the untagged group as Customer or Testing.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    advice: 'Send at most 1 MB.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The body is not declared as JSON',
    advice: 'Send "Content-Type: application/json", in UTF-8 and without a content encoding.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'The request headers are too large',
    advice: 'Send at most 16 KiB of headers, the request line included.',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    advice: 'Wait for as many seconds as the Retry-After header says.',
  },
  INTERNAL: {
    status: 500,
    title: 'Something went wrong in the gateway',
    advice: 'Try again; if it persists, tell the operator the request id, under which the log has the cause.',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'The gateway cannot serve this request now',
    advice:
      'Try again after as many seconds as the Retry-After header says. The message says whether a change may have been made.',
  },
} as const satisfies Record<string, ErrorKind>;

/** A code of the closed list. */
export type ErrorCode = keyof typeof errorKinds;

/** One thing that is wrong with an input. */
export interface Issue {
  /** Member names and list positions from the input's root to the fault. */
  readonly path: readonly (string | number)[];
  /** What is wrong and what is expected, in one sentence. */
  readonly message: string;
}

/** An expected failure. Its message is public; a cause, if it has one, is for the log alone. */
export class GatewayError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }
}

/** The most issues that are listed: enough to fix several at once, and a response that stays small whatever was sent. */
export const maxIssues = 10;

/** The most characters of a member's name, and of an issue's message, that are repeated to the caller. */
const maxShownName = 64;
const maxShownMessage = 1_000;

/** A name that came from a caller, cut to its beginning if it is long. */
export function shorten(name: string, maxLength = maxShownName): string {
  return name.length > maxLength ? `${name.slice(0, maxLength).toWellFormed()}…` : name;
}

/** The first ten issues, with long names in their paths cut short. */
export function boundIssues(issues: readonly Issue[]): Issue[] {
  return issues.slice(0, maxIssues).map(({ path, message }) => ({
    path: path.map((segment) => (typeof segment === 'string' ? shorten(segment) : segment)),
    message: shorten(message, maxShownMessage),
  }));
}

/** Issues as one text: each with its place, if it has one. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join(' ');
}

/** The input breaks a rule; says every issue at once, up to ten. */
export class InvalidInput extends GatewayError {
  /** At most ten, each short. */
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    const bounded = boundIssues(issues);
    super('INVALID_INPUT', describeIssues(bounded));
    this.issues = bounded;
  }
}

/** Nobody is asking: no API token, or one that is not accepted. */
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

/** There is no such thing, or none that the caller may see: the two are told apart by nothing. */
export class NotFound extends GatewayError {
  constructor(message: string) {
    super('NOT_FOUND', message);
  }
}

/** The change contradicts what is stored. */
export class Conflict extends GatewayError {
  constructor(message: string) {
    super('CONFLICT', message);
  }
}

/** Any error as one of the closed list: an expected one as it is, a fault of the database as `UNAVAILABLE`, the rest as `INTERNAL`. */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isUnavailable(error)) {
    return new GatewayError('UNAVAILABLE', 'The database cannot be reached at the moment. Try again shortly.', { cause: error });
  }
  return new GatewayError('INTERNAL', 'Something went wrong in the gateway. The log has the cause under the request id.', {
    cause: error,
  });
}
