import type { Database } from '../../database/client.ts';

/** How long a group that was resolved is not recorded again, in seconds. */
const accuracySeconds = 3_600;

/** Whether the group was not resolved within the last hour, as far as it is recorded, by the database's clock, as SQL. */
export const isStale = (table: string): string =>
  `coalesce(${table}.last_resolved_at < now() - interval '${accuracySeconds} seconds', true)`;

/** Records that the groups with these numbers are resolved now, unless they were within the last hour. */
export type StampResolved = (teamIds: readonly number[]) => Promise<void>;

/** Binds the record of when groups were resolved to a database. */
export function bindResolvedStamps({ query }: Pick<Database, 'query'>): StampResolved {
  return async (teamIds) => {
    await query('stamp-resolved-groups', stampResolved, [teamIds]);
  };
}

/** A group that another transaction has locked is left for the next time: nobody waits for this, and it waits for nobody. */
const stampResolved = `
  with due as materialized (
    select g.team_id from user_group g where g.team_id = any ($1::int[]) and ${isStale('g')}
    order by g.team_id for update skip locked
  )
  update user_group g set last_resolved_at = now() from due where g.team_id = due.team_id`;
