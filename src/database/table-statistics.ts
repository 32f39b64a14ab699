import { runPeriodically } from '../concurrency/periodic.ts';
import type { Database } from './client.ts';
import { isStatementTimeout, isUnavailable } from './errors.ts';

/** The tables that grow with use and that requests read. `request_count` is not one: its rows last a minute. */
const tables = [
  'user_group',
  'retired_token',
  'revoked_viewer',
  'api_token',
  'retired_secret',
  'event',
  'idempotency_record',
  'webhook_delivery',
];

/** The pages of 8 KiB below which a table counts as empty: PostgreSQL reads them all about as fast as a few rows by an index. */
const minPages = 8;

/** As many rows as small tables have in so many pages: there may be new rows in pages that others have left. */
const minRows = 1_000;

/** The number of the advisory lock under which one process at a time updates statistics, for the length of a transaction. */
const statisticsLock = 727_091;

/**
 * Updates PostgreSQL's statistics of the tables that have doubled since they were made, by their pages or their rows. Connections
 * keep the plans of their statements until there are new statistics, and a plan for a few rows may read the whole table.
 * PostgreSQL's own update may come minutes later. If no table has grown, this is one statement that reads none of them.
 *
 * Leaves out a table that another process has locked, such as PostgreSQL's own update, and one whose statistics the role may not
 * update: it must own the table, or have the privilege `MAINTAIN` (from PostgreSQL 17 on).
 *
 * @param signal ends it early, between two tables.
 * @throws the first error of the database, after the other tables are done; at once when it is unavailable.
 */
export async function updateGrownStatistics(
  { query, interactiveTransaction }: Pick<Database, 'query' | 'interactiveTransaction'>,
  signal?: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  for (const [grown] of await query('grown-tables', grownTables, [tables])) {
    if (signal?.aborted) return;
    // A transaction for each table, which ends together with its `analyze`: if one is rolled back, the size that `analyze` noted
    // stays, its statistics do not, and the table no longer counts as grown.
    const update = interactiveTransaction(async (transaction) => {
      const [row] = await transaction.query('lock-grown-tables', lockGrownTables, [[grown]]);
      if (row) transaction.queryLast(`analyze-${row[0]}`, `analyze (skip_locked) ${row[0]}`, []);
    });
    await update.catch((error: unknown) => {
      if (isOutage(error)) throw error;
      failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Locked tables first, as `case` guarantees: reading the size of one would wait for its lock. PostgreSQL would log a warning for
 * each table that it skips, each time.
 */
const grownTables = `
  select c.oid::regclass from pg_class c
  where c.oid = any ($1::regclass[])
    and case when exists (
      select from pg_locks l
      where l.relation = c.oid and l.database = (select oid from pg_database where datname = current_database())
        and l.mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
    ) then false else pg_relation_size(c.oid) >= 2 * greatest(c.relpages, ${minPages}) * current_setting('block_size')::bigint
      or (select n_live_tup from pg_stat_user_tables where relid = c.oid) >= 2 * greatest(c.reltuples, ${minRows}) end
    and case when current_setting('server_version_num')::int >= 170000
      then has_table_privilege(c.oid, 'maintain') else pg_has_role(c.relowner, 'usage') end`;

const lockGrownTables = `
  with guard as materialized (
    select pg_try_advisory_xact_lock(${statisticsLock}) as is_held
  )
  select grown.oid from guard, lateral (${grownTables}) as grown where is_held`;

/** Whether the next attempt may succeed soon. One that takes longer than a statement may is not likely to. */
const isOutage = (error: unknown): boolean => isUnavailable(error) && !isStatementTimeout(error);

/** The pause between two checks: the first synchronization of a customer creates thousands of groups a second. */
const intervalMs = 1_000;

/**
 * The pause after a failure that is not an outage, for all tables: an update that takes longer than a statement may would
 * otherwise begin again at once.
 */
const failurePauseMs = 60_000;

/**
 * Keeps PostgreSQL's statistics recent while tables grow, so that requests do not read whole tables by plans for small ones.
 *
 * @param onFailure takes why statistics could not be updated; not that the database is unavailable, which requests report.
 * @returns a function that stops it and waits for its end.
 */
export function startStatistics(
  database: Pick<Database, 'query' | 'interactiveTransaction'>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  return runPeriodically((signal) => updateGrownStatistics(database, signal), {
    firstDelayMs: intervalMs,
    nextDelayMs: (failure) => (failure === undefined || isOutage(failure) ? intervalMs : failurePauseMs),
    onFailure: (error) => {
      if (!isOutage(error)) onFailure(error);
    },
  });
}
