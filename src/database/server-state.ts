import type pg from 'pg';
import type { Database } from './client.ts';
import { applicationNames } from './database-url.ts';

/** What `doctor` looks at in a database server. */
export interface ServerState {
  /** Such as `18.4`. */
  readonly version: string;
  readonly major: number;
  readonly role: string;
  readonly databaseBytes: number;
  /** Whether the extension that searches use is there. */
  readonly hasTrigrams: boolean;
  readonly settings: Readonly<Record<'fsync' | 'full_page_writes' | 'synchronous_commit' | 'synchronous_standby_names', string>>;
  /** The standbys that are connected. */
  readonly standbys: number;
  /** How many of them commits may wait for; all when the role may not see it. */
  readonly synchronousStandbys: number;
  readonly connections: {
    /**
     * How many the role may open at most: the lowest of the limits of server, database and role, without those reserved for
     * others.
     */
    readonly limit: number;
    /**
     * How many there are besides this one: of any program; of the gateway's pools.
     */
    readonly all: number;
    readonly pooled: number;
  };
}

/** Reads the state of the server with statements that any role may run. */
export async function readServerState({ pool }: Database): Promise<ServerState> {
  const { rows } = await pool.query<{ state: ServerState }>(
    `select jsonb_build_object(
       'version', split_part(current_setting('server_version'), ' ', 1),
       'major', current_setting('server_version_num')::int / 10000,
       'role', current_user,
       'databaseBytes', pg_database_size(current_database()),
       'hasTrigrams', exists (select from pg_extension where extname = 'pg_trgm'),
       'settings', (
         select jsonb_object_agg(name, setting) from pg_settings
         where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')
       ),
       'standbys', (select count(*) from pg_stat_replication where state is distinct from 'backup'),
       'synchronousStandbys', (
         select count(*) filter (where coalesce(sync_state, 'sync') in ('sync', 'quorum'))
         from pg_stat_replication where state is distinct from 'backup'
       ),
       'connections', jsonb_build_object(
         'limit', least(
           current_setting('max_connections')::int - case when r.rolsuper then 0 else
             current_setting('superuser_reserved_connections')::int + coalesce(current_setting('reserved_connections', true), '0')::int end,
           nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)
         ),
         'all', (select count(*) from pg_stat_activity where coalesce(backend_type = 'client backend', datid is not null) and pid <> pg_backend_pid() and application_name is distinct from $2),
         'pooled', (select count(*) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid())
       )
     ) as state
     from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`,
    [applicationNames.pool, applicationNames.presence],
  );
  if (!rows[0]) throw new Error('The server does not know the role of this connection.');
  return rows[0].state;
}

/** The time of the server's clock, in milliseconds since 1970. */
export async function readServerTime({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ ms: string }>('select extract(epoch from clock_timestamp()) * 1000 as ms');
  return Number(rows[0]?.ms);
}

/** What is wrong with a database or its sessions, and the SQL that corrects it. */
export interface SessionProblem {
  readonly found: string;
  readonly remedy: string;
}

/** Finds out whether a database can store every text. @returns undefined if it can. */
export async function findEncodingProblem(pool: pg.Pool): Promise<SessionProblem | undefined> {
  const { rows } = await pool.query<Record<'database' | 'encoding', string>>(
    `select quote_ident(current_database()) as database, current_setting('server_encoding') as encoding
     where current_setting('server_encoding') <> 'UTF8'`,
  );
  const [place] = rows;
  return (
    place && {
      found: `The database ${place.database} has the encoding ${place.encoding}, and the gateway needs UTF8`,
      remedy:
        "Create another one: create database NAME encoding 'UTF8' locale 'C.UTF-8' template template0; and set DATABASE_URL to it.",
    }
  );
}

/**
 * Finds out whether a session creates and finds tables in the schema `public`, which Prisma names in its statements; the others
 * leave it to `search_path`. Another schema that comes first there would get half of the writes.
 *
 * @returns undefined if it does, or if the role may use no schema, for which it lacks a privilege.
 */
export async function findSchemaProblem(pool: pg.Pool): Promise<SessionProblem | undefined> {
  const { rows } = await pool.query<Record<'role' | 'database' | 'schema', string>>(
    `select quote_ident(current_user) as role, quote_ident(current_database()) as database, quote_ident(current_schema()) as schema
     where current_schema() <> 'public'`,
  );
  const [place] = rows;
  return (
    place && {
      found: `The schema ${place.schema} comes first in the search_path of the role ${place.role}: the gateway's tables must be in public`,
      remedy:
        `Run: alter role ${place.role} in database ${place.database} set search_path = public; ` +
        'and remove search_path from the options of DATABASE_URL if it is there. Tables that the gateway has made elsewhere are not used.',
    }
  );
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
