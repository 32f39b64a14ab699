import { setTimeout as sleep } from 'node:timers/promises';

/** SQLSTATE of a write that a read-only server refuses. */
export const readOnlyServer = '25006';

/**
 * Of SQLSTATE: connection, resources, shut down, a statement, a lock or a transaction that took too long, system, a server that
 * takes no writes, conflict even after a retry; then codes of the system, and of Prisma. Nothing is wrong with the statement.
 */
const unavailable =
  /^(?:08...|53...|57P..|57014|55P03|58...|25006|25P0[34]|40...|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT|ConnectionClosed|DatabaseNotReachable|SocketTimeout|P2028)$/;

/** What the driver says, without a code, when a connection is lost or none is free in time. */
const lostConnection =
  /^(?:Connection terminated|Query read timeout|timeout exceeded|timeout expired|Client (?:was closed|has encountered)|Cannot use a pool after)/;

/** Whether an error means that the database is unreachable or temporarily unavailable. */
export const isUnavailable = (error: unknown): boolean =>
  hasCode(error, unavailable) || chainOf(error).some(({ message = '' }) => lostConnection.test(message));

/** Whether an error means that a pooler such as PgBouncer rejects the settings of a session, which it does not pass on. */
export const isRejectedByPooler = (error: unknown): boolean =>
  hasCode(error, /^08P01$/) && chainOf(error).some(({ message = '' }) => message.includes('startup parameter'));

/** Whether an error means that the server stopped a statement that ran for too long. */
export const isStatementTimeout = (error: unknown): boolean => hasCode(error, /^57014$/);

/** Whether a unique index kept a statement from being executed. */
export const isUniqueViolation = (error: unknown): boolean => hasCode(error, /^23505$/);

/** Whether an error is a serialization failure or a deadlock: the server has rolled everything back. */
export const isConflict = (error: unknown): boolean => hasCode(error, /^40(?:001|P01)$/);

/** What statements find; nothing if a table does not exist, because no migration has been applied yet. */
export async function ifDefined<Item>(find: () => Promise<Item[]>): Promise<Item[]> {
  try {
    return await find();
  } catch (error) {
    if (hasCode(error, /^42P01$/)) return [];
    throw error;
  }
}

/**
 * Runs a statement or a whole transaction, and once more if a conflict rolled it back, or if it must be prepared again because
 * its columns have other types (0A000).
 */
export async function retryOnConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isConflict(error) && !hasCode(error, /^0A000$/)) throw error;
    await sleep(100); // so that the other transaction gets the lock first
    return work();
  }
}

/** An error of the driver has a code; Prisma's adapter keeps it, or the kind of an error of the socket. */
interface Link {
  readonly message?: string;
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly kind?: unknown;
  readonly cause?: unknown;
  readonly meta?: { readonly driverAdapterError?: unknown };
}

/** Whether an error or one of its causes has a code: a SQLSTATE, the system's, or Prisma's. */
const hasCode = (error: unknown, pattern: RegExp): boolean =>
  chainOf(error).some(({ code, originalCode, kind }) =>
    [code, originalCode, kind].some((each) => typeof each === 'string' && pattern.test(each)),
  );

/** An error with its causes. */
function chainOf(error: unknown): Link[] {
  if (!(error instanceof Object)) return [];
  const { cause, meta }: Link = error;
  return [error, ...chainOf(cause), ...chainOf(meta?.driverAdapterError)];
}
