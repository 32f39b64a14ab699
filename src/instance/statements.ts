import type { Database } from '../database/client.ts';

/** A server that replicates the database. */
export interface Replica {
  /** The `application_name` with which it connects. */
  readonly name: string;
  /** What PostgreSQL reports: `streaming`, `catchup`, `startup`, `backup` or `stopping`. */
  readonly state: string;
  /** How much of the write-ahead log it has not replayed yet, in bytes; nothing before it has reported a position. */
  readonly lagBytes: number | undefined;
}

/** What an operator should know about a database. */
export interface DatabaseFacts {
  /** Such as `16.4`. */
  readonly serverVersion: string;
  /** The size of this database on disk, in bytes. */
  readonly sizeBytes: number;
  /**
   * The first {@link maxReplicas} by name; nothing if the role may not see them, for which it needs `pg_read_all_stats` or
   * `pg_monitor`.
   */
  readonly replicas: readonly Replica[] | undefined;
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
export async function readDatabaseFacts(
  { query }: Pick<Database, 'query'>,
  migrations: readonly string[],
): Promise<DatabaseFacts> {
  const [row = []] = await query('database-facts', databaseFacts, [migrations]);
  const [serverVersion, sizeBytes, replicas, appliedMigrations] = row;
  return {
    serverVersion: serverVersion ?? '',
    sizeBytes: Number(sizeBytes),
    replicas: replicas == null ? undefined : (JSON.parse(replicas) as StoredReplica[]).map(toReplica),
    appliedMigrations: Number(appliedMigrations),
  };
}

interface StoredReplica {
  readonly name: string | null;
  readonly state: string | null;
  readonly lag: number | null;
}

const toReplica = ({ name, state, lag }: StoredReplica): Replica => ({
  name: name ?? '',
  state: state ?? 'unknown',
  lagBytes: lag === null ? undefined : Math.max(0, lag),
});

/**
 * To a role without the right, `pg_stat_replication` shows rows without content. The position of the log is read only where there
 * is a replica, because some managed servers do not support it.
 */
const databaseFacts = `
  select current_setting('server_version'), pg_database_size(current_database()),
    case when pg_has_role('pg_read_all_stats', 'usage') then (
      select coalesce(json_agg(json_build_object('name', name, 'state', state, 'lag', lag)), '[]') from (
        select application_name as name, state, pg_wal_lsn_diff(
          case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end, replay_lsn
        ) as lag
        from pg_stat_replication order by application_name, pid limit ${maxReplicas}
      ) as replica
    ) end,
    (select count(*) from _prisma_migrations where finished_at is not null and migration_name = any($1))`;
