import { createSemaphore } from '../concurrency.ts';
import type { Database } from '../database/client.ts';
import { isStatementTimeout } from '../database/errors.ts';
import { limitStatementTime } from '../database/queries/statement-time.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { abandoned, GatewayError } from './errors.ts';

/** How long reading a filtered page of a list, or counting, may take. */
const maxReadMs = 2_000;

/**
 * How many such reads are in progress at once, so that connections remain for other requests, and how many wait. Apart from
 * `pageReads`, because those take milliseconds, and would wait for these.
 */
const slowReads = createSemaphore(3, 200, 'filtered lists and counts');

/** Longer than the statements in it may take, so that these end first. */
const transactionOptions = { timeout: 2 * maxReadMs, maxWait: 5_000 };

/** On whose behalf something is read, and what. */
export interface TimedRead {
  readonly db: Pick<Database['prisma'], '$transaction'>;
  /** The share of the caller. */
  readonly share: number | undefined;
  /** Whether the response is no longer needed; reads that have not started are then skipped. */
  readonly isAbandoned: () => boolean;
  /** What is read, in plural. */
  readonly items: string;
}

/**
 * Reads one after another in one transaction, all within two seconds.
 *
 * @throws GatewayError `UNAVAILABLE` when the time is over; its cause is the database's error. Also when too many reads wait.
 */
export async function readWithinTime<Result>(
  { db, share, isAbandoned, items }: TimedRead,
  reads: readonly ((transaction: Prisma.TransactionClient) => Promise<Result>)[],
): Promise<Result[]> {
  const work = () =>
    db.$transaction(async (transaction) => {
      const deadlineMs = performance.now() + maxReadMs;
      const results: Result[] = [];
      for (const read of reads) {
        await limitStatementTime(transaction, Math.max(1, Math.ceil(deadlineMs - performance.now())));
        results.push(await read(transaction));
      }
      return results;
    }, transactionOptions);
  try {
    return await slowReads.run(share, () => {
      if (isAbandoned()) throw abandoned();
      return work();
    });
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    const message = `Finding the ${items} took longer than ${maxReadMs / 1_000} seconds and was stopped. Narrow the filter.`;
    throw new GatewayError('UNAVAILABLE', message, { cause: error });
  }
}
