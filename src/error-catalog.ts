import { httpLimits, httpTimeouts } from './http-limits.ts';

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

const { maxHeaderBytes, maxBodyBytes, maxAnonymousBodyBytes } = httpLimits;
const { requestMs } = httpTimeouts;

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
  PERSISTED_QUERY_NOT_SUPPORTED: {
    status: 400,
    title: 'Persisted queries are not supported',
    remedy: 'Send the text of the document as `query`. The operator can allow ids with the setting PERSISTED_OPERATIONS.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 400,
    title: 'Unknown persisted query',
    remedy: 'Send the text of the document as `query`, or ask the operator to add it to PERSISTED_OPERATIONS.',
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
  CURSOR_EXPIRED: {
    status: 410,
    title: 'The cursor of the event feed has expired',
    remedy:
      'Reload the objects that you mirror, then restart the feed: omit `after` to begin at the oldest event, or use `after: "latest"`.',
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
