import type { Prisma } from '../../generated/prisma/client.ts';

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
