import { createSemaphore } from '../concurrency/fair-queue.ts';
import { abandoned, GatewayError } from '../errors.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { isStatementTimeout } from './errors.ts';

/** How long reading a filtered page of a list, or counting, may take. */
const maxReadMs = 2_000;

/**
 * How many such reads are in progress at once, so that connections remain for other requests, and how many wait. Apart from
 * `pageReads`, because those take milliseconds, and would wait for these.
 */
const slowReads = createSemaphore(3, 200, 'filtered lists and counts');

/** Longer than the statements in it may take, so that these end first. */
const transactionOptions = { timeout: 2 * maxReadMs, maxWait: 5_000 };

/** What is moved from one environment to another between the statements is neither missed nor found twice. */
const ofOneMoment = { isolationLevel: 'RepeatableRead' } as const;

/** On whose behalf something is read. */
interface Reader {
  readonly app: { readonly db: PrismaClient };
  readonly caller: { readonly queueKey: number | undefined };
  /** Whether the response is no longer needed; reads that have not started are then skipped. */
  readonly isAbandoned: () => boolean;
}

/**
 * Reads one after another, of one moment, all within two seconds.
 *
 * @param items what the message of an error calls what is read, such as `events`.
 * @throws GatewayError `UNAVAILABLE` when the time is over; its cause is the database's error. Also when too many reads wait.
 */
export async function readWithinTime<Result>(
  { app, caller, isAbandoned }: Reader,
  items: string,
  reads: readonly ((reader: { readonly db: Prisma.TransactionClient }) => Promise<Result>)[],
): Promise<Result[]> {
  const work = () =>
    app.db.$transaction(
      async (db) => {
        const deadlineMs = performance.now() + maxReadMs;
        const results: Result[] = [];
        for (const read of reads) {
          await limitStatementTime(db, Math.max(1, Math.ceil(deadlineMs - performance.now())));
          results.push(await read({ db }));
        }
        return results;
      },
      { ...transactionOptions, ...(reads.length > 1 && ofOneMoment) },
    );
  try {
    return await slowReads.run(caller.queueKey, () => {
      if (isAbandoned()) throw abandoned();
      return work();
    });
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    const message = `Finding the ${items} took longer than ${maxReadMs / 1_000} seconds and was stopped. Narrow the filter.`;
    throw new GatewayError('UNAVAILABLE', message, { cause: error });
  }
}

/**
 * Limits how long each further statement of a transaction may run, and has each planned for its own values: a plan for any value
 * would walk through the whole table for a rare one. Planned so, one may read the whole table if that is the fastest way. Ends
 * with the transaction, so that a pooler hands nothing on.
 *
 * @param milliseconds at least 1.
 */
export async function limitStatementTime(
  transaction: Pick<Prisma.TransactionClient, '$executeRaw'>,
  milliseconds: number,
): Promise<void> {
  await transaction.$executeRaw`
    select set_config('statement_timeout', ${String(milliseconds)}, true), set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('enable_seqscan', 'on', true)`;
}

/** What the clock is read with: Prisma, or a transaction. */
export type ClockReader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The time of the database's clock. */
export async function readClock(prisma: ClockReader): Promise<Date> {
  const [row] = await prisma.$queryRaw<{ now: Date }[]>`select now()`;
  if (!row) throw new Error('The database did not respond with its time.');
  return row.now;
}
