import type { Caller } from './caller.ts';
import { type ErrorCode, errorCatalog } from './error-catalog.ts';
import type { UserGroup } from './generated/prisma/client.ts';
import { redactTokens } from './tokens.ts';

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

  /** @param retryAfterSeconds when another request is permitted, 1 to 60. */
  constructor(caller: Caller, message: string, retryAfterSeconds: number) {
    super('RATE_LIMITED', message, { retryAfterSeconds });
    this.caller = caller;
  }
}

/** The messages of an error: those of its parts if it has none itself, as when none of the addresses of a host can be reached. */
export function messagesOf(error: unknown): string[] {
  const { message, errors } = error as Partial<AggregateError>;
  return message ? [message] : (errors ?? []).flatMap(messagesOf);
}

/** The error of work that was not started, because its response is no longer needed. */
export const abandoned = (): GatewayError =>
  new GatewayError('UNAVAILABLE', 'The request was abandoned: it timed out or the client disconnected.');

/** What the message of a failure says that came before any change. It is left out where the failure is of a later part. */
export const nothingChanged = 'Nothing was changed. ';

/** What a caller may do when it is not known whether a change was made. */
export const safeToRepeat =
  'Reads, get-or-create and requests with an Idempotency-Key are safe to repeat. An update without a key or a version may replace ' +
  'what others have changed meanwhile; before you repeat a rotation without a key, look up the group by its id.';

/** Invalid settings. The message never contains a value that may be secret. */
export class ConfigError extends Error {
  /** What is wrong, one text for each invalid setting. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid settings; nothing was started:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Invalid command-line arguments. The message says what is expected. */
export class UsageError extends Error {}
