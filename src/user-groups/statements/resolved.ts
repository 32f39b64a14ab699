import type { Database } from '../../database/client.ts';

/**
 * Records that groups are resolved in the current hour, by the database's clock. Skips groups that another transaction has
 * locked: their next look-up records them.
 *
 * @returns the time of that clock, in milliseconds since 1970.
 */
export async function stampResolvedGroups({ query }: Pick<Database, 'query'>, teamIds: readonly number[]): Promise<number> {
  const [[seconds] = []] = await query('stamp-resolved-groups', stampResolved, [teamIds]);
  return Number(seconds) * 1_000;
}

const stampResolved = `
  with clock as materialized (
    select extract(epoch from now()) as seconds, floor(extract(epoch from now()) / 3600)::int as hour
  ), due as materialized (
    select g.team_id, clock.hour from clock, user_group g
    where g.team_id = any ($1::int[]) and coalesce(g.last_resolved_hour < clock.hour, true)
    order by g.team_id for update of g skip locked
  ), updated as (
    update user_group g set last_resolved_hour = due.hour from due where g.team_id = due.team_id
  )
  select seconds from clock`;
