import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { messagesOf } from '../errors.ts';

/** SQLSTATE of a connection that failed. */
export const connectionFailure = '08006';

/**
 * What the driver returns. Errors that it makes itself have no code, such as those of a lost connection, of an exhausted pool and
 * of a time that is over: they get the SQLSTATE of a connection that failed. Those of the server and the system have a code.
 */
export function withCode<Result>(result: Result): Result {
  if (!(result instanceof Promise)) return result; // of a call with a callback
  return result.catch((error) => {
    // Not a TypeError, for example: that would be a mistake in a statement's values.
    const isOwn = error instanceof Error && error.name === 'Error' && !(error instanceof pg.DatabaseError) && !('code' in error);
    throw isOwn ? Object.assign(error, { code: connectionFailure }) : error;
  }) as Result;
}

/** SQLSTATE of a write that a read-only server refuses. */
export const readOnlyServer = '25006';

/** A connection whose errors have codes. */
export class CodedClient extends pg.Client {
  /** Whether the server has refused a write. */
  isReadOnly = false;

  // biome-ignore lint/suspicious/noExplicitAny: the driver's own declaration has nine overloads; this one only passes on
  override query(...args: any[]): any {
    const result = withCode(super.query(...(args as [string])));
    if (result instanceof Promise)
      result.catch(({ code }) => {
        if (code === readOnlyServer) this.isReadOnly = true;
      });
    return result;
  }
}

/** A pool whose errors have codes. */
export class CodedPool extends pg.Pool {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  override query(...args: any[]): any {
    return withCode(super.query(...(args as [string])));
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  override connect(...args: any[]): any {
    return withCode(super.connect(...(args as [])));
  }
}

/** SQLSTATE classes and codes that mean that the database is unavailable, regardless of the statement. */
const unavailableStates = [
  /^08/, // connection exception
  /^53/, // insufficient resources, such as a full disk
  /^57P/, // shutting down, starting up, crashed
  /^57014$/, // statement timeout
  /^55P03$/, // lock timeout
  /^58/, // system error, such as a failed write
  /^25006$/, // read-only: a standby took over
  /^25P0[34]$/, // the server ended a transaction that was idle or took too long
  /^40/, // deadlock or serialization failure, even after a retry
];

/** Codes of the system, and Prisma's of a transaction that did not begin or end in time. */
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'P2028',
]);

/** Whether an error means that the database is unreachable or temporarily unavailable. */
export function isUnavailable(error: unknown): boolean {
  return codesOf(error).some((code) => unavailableCodes.has(code) || unavailableStates.some((pattern) => pattern.test(code)));
}

/** Whether an error means that a pooler such as PgBouncer rejects the settings of a session, which it does not pass on. */
export const isRejectedByPooler = (error: unknown): boolean =>
  hasCode(error, ['08P01']) && messagesOf(error).some((message) => /startup parameter/.test(message));

/** Whether an error means that the server stopped a statement that ran for too long. */
export const isStatementTimeout = (error: unknown): boolean => hasCode(error, ['57014']);

const hasCode = (error: unknown, codes: readonly string[]): boolean => codesOf(error).some((code) => codes.includes(code));

/** What statements find; nothing if a table does not exist, because no migration has been applied yet. */
export async function ifDefined<Item>(find: () => Promise<Item[]>): Promise<Item[]> {
  try {
    return await find();
  } catch (error) {
    if (hasCode(error, ['42P01'])) return [];
    throw error;
  }
}

/** The codes of an error and of its causes: SQLSTATE, the system's, or Prisma's. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Object)) return [];
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return [...(typeof code === 'string' ? [code] : []), ...codesOf(cause)];
}

/** Codes of errors after which the server has rolled everything back, and the same work may succeed when it is repeated. */
const conflictCodes = ['40001', '40P01']; // serialization failure, deadlock

/** SQLSTATE of a statement that was prepared before its columns got other types. It was not executed; others have it, too. */
const stalePlanCode = '0A000';

/** Whether an error may be that of a statement that must be prepared again. */
export const isStalePlan = (error: unknown): boolean => hasCode(error, [stalePlanCode]);

/** The delay before a retry, so that the other transaction can proceed, in milliseconds. */
const retryDelayMs = 100;

/**
 * Runs `work` and retries it once if it fails with a deadlock or a serialization failure, or with a statement that must be
 * prepared again. Only for work that has committed nothing when it fails this way: a single statement, or a whole transaction.
 *
 * @throws the error of the last attempt.
 */
export async function retryOnConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!hasCode(error, [...conflictCodes, stalePlanCode])) throw error;
    // An immediate retry could acquire the same lock before the other transaction does, and deadlock again.
    await sleep(retryDelayMs);
    return work();
  }
}

/** Whether a unique index kept a statement from being executed. */
export const isUniqueViolation = (error: unknown): boolean => hasCode(error, ['23505']);

/** Whether an error is a deadlock or a serialization failure: the server has rolled everything back. */
export const isConflict = (error: unknown): boolean => hasCode(error, conflictCodes);
