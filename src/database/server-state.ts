import type pg from 'pg';
import type { Database } from './client.ts';

/** What is wrong with a database or its sessions, and what corrects it. */
export interface SessionProblem {
  readonly found: string;
  readonly remedy: string;
}

/**
 * Finds out whether a database can store every text, and whether its sessions find tables in the schema `public`, which Prisma
 * names in its statements.
 */
export async function findDatabaseProblem(pool: pg.Pool): Promise<SessionProblem | undefined> {
  const { rows } = await pool.query<SessionProblem>(
    `select format('The database %I has the encoding %s, and the gateway needs UTF8', current_database(), encoding) as found,
       'Create another one: create database NAME encoding ''UTF8'' locale ''C.UTF-8'' template template0; and set DATABASE_URL to it.' as remedy
     from current_setting('server_encoding') as encoding where encoding <> 'UTF8'
     union all
     select format('The schema %I comes first in the search_path of the role %I, and the tables of the gateway must be in public', current_schema(), current_user),
       format('Run: alter role %I in database %I set search_path = public;', current_user, current_database())
     where current_schema() <> 'public'`,
  );
  return rows[0];
}

/** A server that replicates the database. */
export interface Replica {
  /** The `application_name` with which it connects. */
  readonly name: string;
  /** What PostgreSQL reports: `streaming`, `catchup`, `startup`, `backup` or `stopping`. */
  readonly state: string;
  /** How much of the write-ahead log it has not replayed yet, in bytes; null before it has reported a position. */
  readonly lagBytes: number | null;
}

/** What operators see of a database over the API. */
export interface DatabaseFacts {
  /** Such as `16.4`. */
  readonly serverVersion: string;
  /** The size of this database on disk, in bytes. */
  readonly sizeBytes: number;
  /**
   * The first {@link maxReplicas} by name; nothing if the role may not see them, for which it needs `pg_read_all_stats` or
   * `pg_monitor`.
   */
  readonly replicas: readonly Replica[] | null;
  /** How many of the asked migrations are applied. */
  readonly appliedMigrations: number;
}

/** The most replicas that are reported. */
export const maxReplicas = 100;

/**
 * Reads the facts about a database, in one statement.
 *
 * @param migrations the names of the migrations to count.
 * @throws Error when the database cannot be reached or has no table of migrations.
 */
export async function readDatabaseFacts({ sql }: Database, migrations: readonly string[]): Promise<DatabaseFacts> {
  const [facts] = await sql<DatabaseFacts>('database-facts', databaseFacts, [migrations]);
  return facts as DatabaseFacts;
}

/**
 * To a role without the right, `pg_stat_replication` shows rows without content. The position of the log is read only where there
 * is a replica, because some managed servers do not support it.
 */
const databaseFacts = `
  select current_setting('server_version') as "serverVersion", pg_database_size(current_database())::float8 as "sizeBytes",
    case when pg_has_role('pg_read_all_stats', 'usage') then (
      select coalesce(json_agg(replica), '[]') from (
        select application_name as name, state, case when own_lsn is not null and replay_lsn is not null
          then greatest(0, pg_wal_lsn_diff(own_lsn, replay_lsn)) end as "lagBytes"
        from pg_stat_replication, (
          select case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end as own_lsn
        ) as here order by application_name, pid limit ${maxReplicas}
      ) as replica
    ) end as replicas,
    (select count(distinct migration_name)::int from _prisma_migrations
      where finished_at is not null and migration_name = any($1)) as "appliedMigrations"`;
