import type { Database } from '../../database/client.ts';

/**
 * Records that the groups with these numbers are resolved in the current hour, by the database's clock.
 *
 * @returns the time of that clock, in seconds since 1970.
 */
export type StampResolved = (teamIds: readonly number[]) => Promise<number>;

/** Binds the record of when groups were resolved to a database. */
export function bindResolvedStamps({ query }: Pick<Database, 'query'>): StampResolved {
  return async (teamIds) => Number((await query('stamp-resolved-groups', stampResolved, [teamIds]))[0]?.[0]);
}

/** Skips groups that another transaction has locked: their next look-up records them. */
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
