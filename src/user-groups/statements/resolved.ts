import { silent } from '../../audit-log/statements/author.ts';
import type { Database } from '../../database/client.ts';

/**
 * Records when groups were last resolved, by the database's clock, where the stored time is at least an hour older.
 *
 * @param secondsAgo how long ago that was, by the numbers of the groups.
 * @returns the time of that clock, in milliseconds since 1970.
 */
export async function stampResolvedGroups(
  { query }: Pick<Database, 'query'>,
  secondsAgo: ReadonlyMap<number, number>,
): Promise<number> {
  const [row] = await query('stamp-resolved-groups', stampResolved, [[...secondsAgo.keys()], [...secondsAgo.values()]]);
  return Number(row?.[0]) * 1_000;
}

/** Locked by number, as imports lock groups. Silent to spare the triggers the look at each row: the column is bookkeeping. */
const stampResolved = `
  with ${silent}, due as materialized (
    select g.team_id, now() - seconds_ago * interval '1 second' as at
    from unnest($1::int[], $2::float8[]) as each (team_id, seconds_ago) join user_group g using (team_id)
    where coalesce(g.last_resolved_at <= now() - (seconds_ago + 3600) * interval '1 second', true)
    order by g.team_id for no key update of g
  ), updated as (
    update user_group g set last_resolved_at = due.at from due, silent where g.team_id = due.team_id
  )
  select extract(epoch from now())`;
