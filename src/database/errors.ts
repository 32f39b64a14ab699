import { setTimeout as sleep } from 'node:timers/promises';

/** Too many keys wait for the database to look up or write one more. Nothing was sent, and so nothing was changed. */
export class DatabaseBusy extends Error {
  constructor() {
    super('Too many keys are waiting for the database.');
    this.name = new.target.name;
  }
}

/** SQLSTATE classes and codes that say that the database cannot serve just now, whatever was asked. */
const unavailableStates = [
  /^08/, // connection exception
  /^53/, // insufficient resources, disk full among them
  /^57P/, // shutting down, starting up, crashed
  /^57014$/, // statement timeout
  /^58/, // system error, such as a failed write
  /^25006$/, // read-only: a standby took over
  /^40/, // deadlock or serialisation failure that a repetition did not cure
];

const unavailableCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'],
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'],
]);

/** Texts of errors that carry no code: an exhausted pool, a broken connection. */
const unavailableTexts =
  /timeout exceeded when trying to connect|query read timeout|connection terminated|client has encountered a connection error|server closed the connection|cannot use a pool after/i;

/** Whether an error, from Prisma or the driver, means that the database cannot be reached or cannot serve just now. */
export function isUnavailable(error: unknown): boolean {
  for (let fault = error; fault instanceof Object; fault = causeOf(fault)) {
    const { originalCode, code, message } = fault as { originalCode?: unknown; code?: unknown; message?: unknown };
    for (const state of [originalCode, code]) {
      if (typeof state !== 'string') continue;
      if (unavailableCodes.has(state) || unavailableStates.some((pattern) => pattern.test(state))) return true;
    }
    if (typeof message === 'string' && unavailableTexts.test(message)) return true;
  }
  return false;
}

/** Whether an error, from Prisma or the driver, means that the server stopped a statement that ran for too long. */
export function isStatementTimeout(error: unknown): boolean {
  for (let fault = error; fault instanceof Object; fault = causeOf(fault)) {
    const { originalCode, code } = fault as { originalCode?: unknown; code?: unknown };
    if (originalCode === '57014' || code === '57014') return true;
  }
  return false;
}

/** SQLSTATE of errors after which the server has rolled everything back, and the same work may succeed when it is repeated. */
const conflictStates: readonly unknown[] = ['40001', '40P01']; // serialization failure, deadlock

/** How long the other side of a conflict gets to go on, in milliseconds. */
const repeatDelayMs = 100;

/**
 * Does `work` and, if it fails by a deadlock or a serialization failure, does it once more. Only for work that committed
 * nothing when it fails so: a single statement, or a whole transaction.
 *
 * @throws whatever the work throws: of the second attempt, if there was one.
 */
export async function repeatOnConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isConflict(error)) throw error;
    // Repeated at once, it could take the same lock before the one that it lost to, and lose again.
    await sleep(repeatDelayMs);
    return work();
  }
}

function isConflict(error: unknown): boolean {
  for (let fault = error; fault instanceof Object; fault = causeOf(fault)) {
    const { originalCode, code } = fault as { originalCode?: unknown; code?: unknown };
    if (code === 'P2034' || conflictStates.includes(originalCode) || conflictStates.includes(code)) return true;
  }
  return false;
}

function causeOf(fault: object): unknown {
  const { cause, meta } = fault as { cause?: unknown; meta?: { driverAdapterError?: unknown } };
  return cause ?? meta?.driverAdapterError;
}
