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
  await query(connection, advanceStatement);
}

/** Expires every cursor of the event feed: readers may have seen events that the backup does not have. */
export async function expireCursors(connection: Connection): Promise<void> {
  await query(connection, 'update event_feed set epoch = gen_random_uuid()');
}

/** Whether recovery is in progress, the system identifier, and whether the database has reached a position of its log. */
export async function readState(connection: Connection, lsn: string) {
  const [state] = await query<{ recovering: boolean; id: string; reached: boolean }>(
    connection,
    `select pg_is_in_recovery() as recovering, (select system_identifier::text from pg_control_system()) as id,
       case when pg_is_in_recovery() then false else pg_current_wal_lsn() >= $1::pg_lsn end as reached`,
    [lsn],
  );
  return state;
}

/**
 * Removes the settings that roles and databases have of their own, which can load libraries.
 *
 * @returns each, such as `role all in database gateway: work_mem=64MB`.
 */
export async function resetSettings(connection: Connection): Promise<string[]> {
  const found = await query<{ owner: string; settings: string[] }>(
    connection,
    `select format('role %s%s', coalesce(quote_ident(rolname), 'all'), ' in database ' || quote_ident(datname)) as owner,
       setconfig as settings
     from pg_db_role_setting left join pg_roles on pg_roles.oid = setrole left join pg_database on pg_database.oid = setdatabase`,
  );
  for (const { owner } of found) await query(connection, `alter ${owner} reset all`);
  return found.flatMap(({ owner, settings }) => settings.map((setting) => `${owner}: ${setting}`));
}

/** Executes a statement, also if settings of roles and databases name libraries, which are not loaded, or permit no writes. */
async function query<Row extends pg.QueryResultRow>(connection: Connection, sql: string, values?: unknown[]): Promise<Row[]> {
  const options = `${connection.options} -c session_preload_libraries= -c local_preload_libraries= -c default_transaction_read_only=off`;
  const client = new pg.Client({ ...connection, options, connectionTimeoutMillis: 10_000, query_timeout: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
