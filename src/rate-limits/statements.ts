import type { Sql } from '../database/client.ts';

/** The requests of an API token that all processes have admitted in a second. */
export interface RequestCount {
  /** Since 1970, by the database's clock. */
  readonly second: number;
  readonly apiTokenId: number;
  readonly count: number;
}

/** The requests of the last seconds. */
export interface RequestCounts {
  /** The current second. */
  readonly second: number;
  readonly counts: readonly RequestCount[];
}

/**
 * Adds requests to those of the current second, and reads all of the last seconds.
 *
 * @param added by API token.
 * @param ageSeconds how far back to read: at most {@link keptSeconds}.
 */
export async function addRequestCounts(sql: Sql, added: ReadonlyMap<number, number>, ageSeconds: number): Promise<RequestCounts> {
  const values = [[...added.keys()], [...added.values()], ageSeconds];
  const rows = await sql<RequestCount & { now: number }>('add-request-counts', addCounts, values);
  // If there are no counts, a row without one has the second.
  return { second: rows[0]?.now as number, counts: rows.filter(({ count }) => count > 0) };
}

/** How long counts are kept, in seconds: a minute, rounded up to whole seconds. */
export const keptSeconds = 61;

/**
 * Counts are added in the order of the API tokens, so that statements do not wait for each other in a circle. Those in the future
 * are from before the database's clock was set back: they are removed like old ones, or they would count again.
 */
const addCounts = `
  with clock as materialized (
    select floor(extract(epoch from clock_timestamp()))::bigint as now
  ), added as (
    insert into request_count as known (second, api_token_id, count)
    select now, api_token_id, count from clock, unnest($1::int[], $2::int[]) as given (api_token_id, count) order by api_token_id
    on conflict (second, api_token_id) do update set count = known.count + excluded.count
    returning second, api_token_id, count
  ), doomed as materialized (
    select second, api_token_id from request_count
    where second < (select now from clock) - ${keptSeconds} or second > (select now from clock) + 1
    for update skip locked
  ), removed as (
    delete from request_count c using doomed d where (c.second, c.api_token_id) = (d.second, d.api_token_id)
  ), counts as (
    select * from added union all
    select second, api_token_id, count from request_count c
    where second between (select now from clock) - $3::int and (select now from clock)
      and not exists (select from added a where (a.second, a.api_token_id) = (c.second, c.api_token_id))
  )
  select now::float8, second::float8, api_token_id as "apiTokenId", count::int from clock left join counts on true`;
