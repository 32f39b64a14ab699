import { setTimeout as sleep } from 'node:timers/promises';

/** Too many keys wait for the database to look up or write one more. Nothing was sent, and so nothing was changed. */
export class DatabaseBusy extends Error {
  constructor() {
    super('Too many keys are waiting for the database.');
    this.name = new.target.name;
  }
}

/** SQLSTATE classes and codes that mean that the database is unavailable, regardless of the statement. */
const unavailableStates = [
  /^08/, // connection exception
  /^53/, // insufficient resources, such as a full disk
  /^57P/, // shutting down, starting up, crashed
  /^57014$/, // statement timeout
  /^58/, // system error, such as a failed write
  /^25006$/, // read-only: a standby took over
  /^25P0[34]$/, // the server ended a transaction that was idle or took too long
  /^40/, // deadlock or serialization failure, even after a retry
];

const unavailableCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'],
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'],
]);

/**
 * What Prisma's adapter makes of errors of a socket when it begins or ends a transaction: they have neither a code nor a text.
 */
const unavailableKinds = new Set(['ConnectionClosed', 'DatabaseNotReachable', 'SocketTimeout', 'TooManyConnections']);

/** Messages of errors without a code: an exhausted pool, a broken connection. */
const unavailableTexts =
  /timeout exceeded when trying to connect|query read timeout|connection terminated|client has encountered a connection error|server closed the connection|cannot use a pool after/i;

/** Whether an error, of Prisma or the driver, means that the database is unreachable or temporarily unavailable. */
export function isUnavailable(error: unknown): boolean {
  for (let fault = error; fault instanceof Object; fault = causeOf(fault)) {
    const { originalCode, code, kind, message } = fault as Record<'originalCode' | 'code' | 'kind' | 'message', unknown>;
    if (typeof kind === 'string' && unavailableKinds.has(kind)) return true;
    for (const state of [originalCode, code]) {
      if (typeof state !== 'string') continue;
      if (unavailableCodes.has(state) || unavailableStates.some((pattern) => pattern.test(state))) return true;
    }
    if (typeof message === 'string' && unavailableTexts.test(message)) return true;
  }
  return false;
}

/** Whether an error, from Prisma or the driver, means that the server stopped a statement that ran for too long. */
export const isStatementTimeout = (error: unknown): boolean => hasCode(error, ['57014']);

/** Whether an error, from Prisma or the driver, has one of these codes: SQLSTATE or Prisma's. */
function hasCode(error: unknown, codes: readonly unknown[]): boolean {
  for (let fault = error; fault instanceof Object; fault = causeOf(fault)) {
    const { originalCode, code } = fault as { originalCode?: unknown; code?: unknown };
    if (codes.includes(originalCode) || codes.includes(code)) return true;
  }
  return false;
}

/** Codes of errors after which the server has rolled everything back, and the same work may succeed when it is repeated. */
const conflictCodes = ['40001', '40P01', 'P2034']; // serialization failure, deadlock; of Prisma, either

/** SQLSTATE of a statement that was prepared before its columns got other types. It was not executed; others have it, too. */
const stalePlanCode = '0A000';

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

const uniqueViolation = '23505';

/** The name of the unique index that kept a statement from being executed; undefined for any other error. */
export function violatedUniqueIndex(error: unknown): string | undefined {
  for (let fault = error; fault instanceof Object; fault = causeOf(fault)) {
    const { code, constraint } = fault as { code?: unknown; constraint?: unknown };
    if (code === uniqueViolation && typeof constraint === 'string') return constraint;
  }
  return undefined;
}

/**
 * Whether an error, from Prisma or the driver, is a deadlock or a serialization failure: the server has rolled everything back.
 */
export const isConflict = (error: unknown): boolean => hasCode(error, conflictCodes);

function causeOf(fault: object): unknown {
  const { cause, meta } = fault as { cause?: unknown; meta?: { driverAdapterError?: unknown } };
  return cause ?? meta?.driverAdapterError;
}
