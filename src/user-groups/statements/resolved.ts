import type { Database } from '../../database/client.ts';

/**
 * Records when groups were last resolved, by the database's clock, where the stored time is at least an hour older. Waits for no
 * lock, because transactions lock groups in any order.
 *
 * @param secondsAgo how long ago that was, by the numbers of the groups.
 * @returns the time of that clock, in milliseconds since 1970, and the groups that another transaction has locked.
 */
export async function stampResolvedGroups(
  { query }: Pick<Database, 'query'>,
  secondsAgo: ReadonlyMap<number, number>,
): Promise<{ nowMs: number; lockedIds: readonly number[] }> {
  const rows = await query('stamp-resolved-groups', stampResolved, [[...secondsAgo.keys()], [...secondsAgo.values()]]);
  const lockedIds = rows.flatMap(([, teamId]) => (teamId === null ? [] : [Number(teamId)]));
  return { nowMs: Number(rows[0]?.[0]) * 1_000, lockedIds };
}

const stampResolved = `
  with due as materialized (
    select g.team_id, resolved.at
    from (
      select team_id, now() - seconds_ago * interval '1 second' as at
      from unnest($1::int[], $2::float8[]) as each (team_id, seconds_ago)
    ) as resolved
    join user_group g using (team_id) where coalesce(g.last_resolved_at <= resolved.at - interval '1 hour', true)
  ), unlocked as materialized (
    select g.team_id, due.at from due join user_group g using (team_id)
    where coalesce(g.last_resolved_at <= due.at - interval '1 hour', true) order by g.team_id for no key update of g skip locked
  ), updated as (
    update user_group g set last_resolved_at = unlocked.at from unlocked where g.team_id = unlocked.team_id
  )
  select extract(epoch from now()), locked.team_id
  from (select) as clock left join (select team_id from due except select team_id from unlocked) as locked on true`;
