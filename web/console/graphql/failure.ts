import type { ErrorCode } from './generated.ts';

/** One problem with an input. */
export interface Issue {
  /** The path from the root of the input to the problem. */
  readonly path: readonly string[];
  readonly message: string;
}

/** The codes of failures: those of the gateway, and `NETWORK` for a request without a response. */
export type FailureCode = ErrorCode | 'NETWORK';

/** A request that failed, or a mutation whose result is an error. */
export class Failure extends Error {
  readonly code: FailureCode;
  /** The id under which the log of the gateway has the request; nothing when there was no response. */
  readonly requestId: string | undefined;
  /** How long to wait before the request is sent again, in seconds, if the gateway says so. */
  readonly retryAfterSeconds: number | undefined;
  readonly issues: readonly Issue[];
  /** Whether the change may have been made all the same. */
  readonly isOutcomeUnknown: boolean;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message);
    this.name = 'Failure';
    this.code = code;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.issues = details.issues ?? [];
    this.isOutcomeUnknown = details.isOutcomeUnknown ?? false;
  }

  /** What is wrong with one field of the input, with every issue below it; nothing if it is valid. */
  issueAt(...path: string[]): string | undefined {
    const own = this.issues.filter((issue) => path.every((segment, index) => issue.path[index] === segment));
    return own.length > 0 ? own.map(({ message }) => message).join(' ') : undefined;
  }
}

interface FailureDetails {
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly issues?: readonly Issue[] | undefined;
  readonly isOutcomeUnknown?: boolean;
}

/** Any thrown value as a failure. */
export function toFailure(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('INTERNAL', error instanceof Error ? error.message : String(error));
}
