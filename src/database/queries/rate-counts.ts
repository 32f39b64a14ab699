import type { Database } from '../client.ts';

/**
 * What processes tell each other about the requests that they admitted: `[apiTokenId, ageSeconds, count]` for each second and API
 * token.
 */
export type SharedCounts = readonly (readonly [apiTokenId: number, ageSeconds: number, count: number])[];

/** What one process has shared at one time. */
export interface RateCounts {
  /** A UUID that the process drew. */
  readonly process: string;
  /** Numbers what the process shares, ascending. */
  readonly number: number;
  readonly counts: SharedCounts;
}

/** What another process has shared. */
export interface OthersCounts extends RateCounts {
  /** How long ago, by the database's clock. */
  readonly ageSeconds: number;
}

/**
 * Shares counts with other processes, and reads what those have shared since.
 *
 * @param own nothing is stored if it has no counts. What is stored under its number already stays.
 * @param known the last number that was read of each process; of others, everything is read.
 */
export type ExchangeRateCounts = (own: RateCounts, known: ReadonlyMap<string, number>) => Promise<OthersCounts[]>;

/** How long counts are of use to other processes, in seconds. */
const sharedCountsSeconds = 61;

/** Binds the exchange of counts to a database: one statement, however many API tokens there are. */
export function bindRateCounts({ query }: Pick<Database, 'query'>): ExchangeRateCounts {
  return async ({ process, number, counts }, known) => {
    const given = counts.length > 0 ? JSON.stringify(counts) : null;
    const rows = await query('exchange-rate-counts', exchange, [process, number, given, [...known.keys()], [...known.values()]]);
    return rows.map(([other, sequence, ageSeconds, text]) => ({
      process: other as string,
      number: Number(sequence),
      ageSeconds: Number(ageSeconds),
      counts: JSON.parse(text as string) as SharedCounts,
    }));
  };
}

/**
 * The condition that a row was stored so recently that it is of use. What was stored before the database's clock was set back is
 * in the future: it is neither read nor kept, or it would count as new.
 */
export const isRecent = (createdAt: string): string =>
  `${createdAt} between now() - interval '${sharedCountsSeconds} seconds' and now() + interval '${sharedCountsSeconds} seconds'`;

/** A process removes what it stored itself; the housekeeping, what ended processes left. */
const exchange = `
  with own as (select $1::uuid as process), removed as (
    delete from rate_count r using own
    where r.process = own.process and not (${isRecent('r.created_at')})
  ), added as (
    insert into rate_count (process, number, counts) select process, $2::int, $3::json from own where $3::json is not null
    on conflict do nothing
  ), known as (
    select * from unnest($4::uuid[], $5::int[]) as each (process, number)
  )
  select r.process, r.number, extract(epoch from greatest(clock_timestamp() - r.created_at, interval '0')), r.counts
  from rate_count r left join known using (process)
  where r.process <> $1::uuid and ${isRecent('r.created_at')} and r.number > coalesce(known.number, -1)
  order by r.process, r.number`;
