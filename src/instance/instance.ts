import { within } from '../concurrency/semaphore.ts';
import type { Database } from '../database/client.ts';
import { isMigrated } from '../database/migrate.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { findNewestKeyId } from '../key-rotation/statements.ts';

/** A server that replicates the database. */
export interface Replica {
  /** The `application_name` with which it connects. */
  readonly name: string;
  /** What PostgreSQL reports: `streaming`, `catchup`, `startup`, `backup` or `stopping`. */
  readonly state: string;
  /** How much of the write-ahead log it has not replayed yet, in bytes; null before it has reported a position. */
  readonly lagBytes: number | null;
}

/** What an operator should know about a database. */
interface DatabaseFacts {
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

/** What is known about an instance of the gateway. */
export interface InstanceReport {
  /** Of the gateway. */
  readonly version: string;
  /** When this process began to serve. */
  readonly startedAt: Date;
  readonly database: DatabaseReport;
}

/** What is known about its database. */
export interface DatabaseReport {
  /** Whether the gateway itself runs the database server. */
  readonly isEmbedded: boolean;
  /** Nothing while the database cannot be reached, or takes longer than two seconds. */
  readonly facts: DatabaseFacts | undefined;
  /** How many migrations this version has. */
  readonly migrations: number;
}

/** Where the report of an instance is read. */
export interface InstanceSource {
  /** Never rejects. */
  read(): Promise<InstanceReport>;
}

/** What does not change while an instance runs. */
export interface InstanceOptions {
  readonly version: string;
  /** The names of the migrations of this version. */
  readonly migrations: readonly string[];
}

/** How long a report, and `/readyz`, wait for the database. */
const timeoutMs = 2_000;

/**
 * Creates the source of an instance that starts now. However many reports are requested, the database is asked once at a time.
 */
export function instanceSource(
  database: Pick<Database, 'query' | 'isEmbedded'>,
  { version, migrations }: InstanceOptions,
): InstanceSource {
  const startedAt = new Date();
  const { isEmbedded } = database;
  let pending: Promise<DatabaseFacts | undefined> | undefined;
  const readFacts = (): Promise<DatabaseFacts | undefined> => {
    pending ??= readDatabaseFacts(database, migrations)
      .catch(() => undefined)
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };
  return {
    async read() {
      const facts = await within(timeoutMs, readFacts(), () => undefined);
      return { version, startedAt, database: { isEmbedded, facts, migrations: migrations.length } };
    },
  };
}

/** Why the gateway cannot serve; nothing if it can. Never rejects. */
export async function unreadiness(database: Database, keys: KeyRing): Promise<string | undefined> {
  const read = async () =>
    (await isMigrated(database)) ? { newest: await findNewestKeyId(database) } : 'the database has pending migrations';
  const check = read().catch(() => 'the database is unreachable');
  const found = await within(timeoutMs, check, () => 'the database does not respond');
  if (typeof found === 'string') return found;
  // Reads a file, and does not fail for the same reasons.
  if (found.newest === undefined || keys.has(found.newest)) return undefined;
  return `the encryption key ${found.newest} is missing, which new user groups use: the command doctor says where it belongs`;
}

/**
 * Reads the facts about a database, in one statement.
 *
 * @param migrations the names of the migrations to count.
 * @throws Error when the database cannot be reached or has no table of migrations.
 */
async function readDatabaseFacts({ query }: Pick<Database, 'query'>, migrations: readonly string[]): Promise<DatabaseFacts> {
  const [row = []] = await query('database-facts', databaseFacts, [migrations]);
  const [serverVersion, sizeBytes, replicas, appliedMigrations] = row;
  return {
    serverVersion: serverVersion ?? '',
    sizeBytes: Number(sizeBytes),
    replicas: replicas == null ? undefined : JSON.parse(replicas),
    appliedMigrations: Number(appliedMigrations),
  };
}

/**
 * To a role without the right, `pg_stat_replication` shows rows without content. The position of the log is read only where there
 * is a replica, because some managed servers do not support it.
 */
const databaseFacts = `
  select current_setting('server_version'), pg_database_size(current_database()),
    case when pg_has_role('pg_read_all_stats', 'usage') then (
      select coalesce(json_agg(replica), '[]') from (
        select application_name as name, state, case when replay_lsn is not null then greatest(0, pg_wal_lsn_diff(
          case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end, replay_lsn
        )) end as "lagBytes"
        from pg_stat_replication order by application_name, pid limit ${maxReplicas}
      ) as replica
    ) end,
    (select count(*) from _prisma_migrations where finished_at is not null and migration_name = any($1))`;
