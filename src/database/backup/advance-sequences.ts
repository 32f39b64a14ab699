import pg from 'pg';
import type { Connection } from '../client.ts';

/**
 * How many numbers of a sequence a restored database leaves out, at least, by the type of the numbers: far more than are given
 * out between a backup and its restore, and the least of what there is. Twice as many at most, at random, so that two restores
 * of one backup go on at different numbers.
 */
const leftOut = { integer: 1_000_000, bigint: 1_000_000_000 } as const;

/**
 * Advances every sequence, so that the ids of what was created after the backup are not given to something else. Takes half of
 * what is left at most, because a sequence at its end gives out nothing.
 */
export const advanceStatement = `select setval(format('%I.%I', schemaname, sequencename)::regclass, used + least(gap, (max_value - used) / 2))
from (
  select *, coalesce(last_value, 0) as used,
    ((1 + random()) * case data_type when 'bigint'::regtype then ${leftOut.bigint} else ${leftOut.integer} end)::bigint as gap
  from pg_sequences where schemaname = 'public'
) as sequence`;

/** Executes {@link advanceStatement} in a restored database. */
export async function advanceSequences(connection: Connection): Promise<void> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000, query_timeout: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(advanceStatement);
  } finally {
    await client.end().catch(() => {});
  }
}
