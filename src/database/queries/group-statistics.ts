import type { Database } from '../client.ts';

/** The fewest new groups that matter: PostgreSQL reads all of a smaller table about as fast as a few rows by an index. */
const minNewGroups = 1_000;

/**
 * Keeps PostgreSQL's statistics of user groups recent while many are created. The connections of gateways keep the plans of
 * their look-ups until there are new statistics, and the plan for a few groups is to read the whole table. PostgreSQL's own
 * update of statistics may come minutes later.
 *
 * @returns a function that takes how many groups were created since it was last called. It updates the statistics once the
 *   groups have doubled, by a thousand at least; where the role is not the owner of the table, PostgreSQL ignores that. It
 *   rejects with errors of the database.
 */
export function trackNewGroups({ pool }: Pick<Database, 'pool'>): (created: number) => Promise<void> {
  let countedGroups: number | undefined;
  let newGroups = 0;
  return async (created) => {
    newGroups += created;
    if (newGroups < Math.max(minNewGroups, countedGroups ?? 0)) return;
    countedGroups ??= await countedBefore(pool);
    if (newGroups < countedGroups) return;
    countedGroups += newGroups;
    newGroups = 0; // before it may fail: not to try again after each batch
    await pool.query(analyze);
  };
}

/** How many groups there were when the statistics were made. */
async function countedBefore(pool: Database['pool']): Promise<number> {
  const { rows } = await pool.query<{ counted: number }>(lastCount);
  return Math.max(0, rows[0]?.counted ?? 0); // -1 if they never were
}

const lastCount = `select reltuples::float8 as counted from pg_class where oid = 'user_group'::regclass`;

/** Does not wait for another process that has locked the table, which may take minutes. */
const analyze = 'analyze (skip_locked) user_group';
