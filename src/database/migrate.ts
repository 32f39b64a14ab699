import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { packageRoot } from '../package-root.ts';
import type { Database } from './client.ts';
import { ifDefined } from './errors.ts';
import { requireCreatePrivileges } from './server-state.ts';

/** A migration, as it is in its folder. */
interface Migration {
  /** The name of the folder. Migrations apply in the order of their names. */
  readonly name: string;
  readonly sql: string;
  /** The SHA-256 of the file, as Prisma records it. */
  readonly checksum: string;
}

/** The migrations of this version, compared with those of a database. */
export interface MigrationState {
  /** How many of this version are applied. */
  readonly applied: number;
  /** The names of those that the next start applies, in order. */
  readonly pending: readonly string[];
  /** The names of those of a newer version. */
  readonly unknown: readonly string[];
}

/** What migrations need besides the database. */
export interface MigrateOptions {
  /** Receives messages for the operator. */
  readonly onEvent?: (message: string) => void;
  /** Ends the connection, which rolls back the migration that is being applied. */
  readonly signal?: AbortSignal;
  /** The names of those to apply; by default all. */
  readonly only?: readonly string[];
}

/** The oldest major version of PostgreSQL that the gateway works with. */
export const minServerVersion = 15;

/** The key of Prisma's own advisory lock, so that `prisma migrate deploy` and the gateway exclude each other. */
const lockNumber = 72_707_369;

/**
 * Applies the migrations that are not applied, each in a transaction, and records them where Prisma looks. Processes that start
 * at once wait for each other; a database that is up to date is only read.
 *
 * @returns the names of those applied now, in order.
 * @throws Error when the server is older than PostgreSQL 15, when an older build made the database, when an applied migration
 *   has changed since, when the role lacks a privilege, or when a migration fails.
 * @throws the reason of the signal.
 */
export async function migrate(database: Database, { signal, onEvent, only }: MigrateOptions = {}): Promise<string[]> {
  const state = await inspect(database, onEvent);
  const pending = state.pending.filter((name) => only?.includes(name) ?? true);
  const [first] = pending;
  if (first === undefined) return [];
  await requireCreatePrivileges(database.pool, first);
  const client = await database.openConnection(signal);
  try {
    const applied: string[] = [];
    for (const migration of ownMigrations())
      if (pending.includes(migration.name) && (await apply(client, migration))) applied.push(migration.name);
    return applied;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    await client.end();
  }
}

/** Makes sure that no migration is pending, for what changes nothing. @throws Error when one is, or as {@link migrate} does. */
export async function requireMigrated(database: Database, { onEvent }: MigrateOptions): Promise<void> {
  if ((await inspect(database, onEvent)).pending.length === 0) return;
  throw new Error(
    'Migrations of this version are not applied to the database, and this command changes nothing. Run the command migrate, or start a gateway of this version.',
  );
}

/** Whether every migration of this version is applied. @throws Error when the database cannot be reached. */
export const isMigrated = async (database: Database): Promise<boolean> =>
  (await readMigrationState(database)).pending.length === 0;

/**
 * Compares the migrations of this version with those of a database.
 *
 * @throws Error as {@link migrate} does when they cannot be reconciled.
 */
export async function readMigrationState({ pool }: Database): Promise<MigrationState> {
  const migrations = ownMigrations();
  const select = `select migration_name as name, checksum ${fromApplied}`;
  const found = await ifDefined(async () => (await pool.query<{ name: string; checksum: string }>(select)).rows);
  const checksums = new Map(found.map(({ name, checksum }) => [name, checksum]));
  const pending = migrations.filter(({ name }) => !checksums.has(name)).map(({ name }) => name);
  if (checksums.size > 0 && pending[0] === migrations[0]?.name) {
    throw new Error(
      'An older build of the gateway made this database, and this version cannot migrate it. Export the user groups with that build (groups export), and import them into a new database.',
    );
  }
  const changed = migrations.find(({ name, checksum }) => (checksums.get(name) ?? checksum) !== checksum);
  if (changed) {
    throw new Error(
      `The migration ${changed.name} was modified after it was applied to this database. ` +
        'Restore prisma/migrations as published; put schema changes in a new migration.',
    );
  }
  const unknown = [...checksums.keys()].filter((name) => !migrations.some((migration) => migration.name === name));
  return { applied: migrations.length - pending.length, pending, unknown };
}

/** The migrations of this version, in order. @throws Error when the installation lacks them. */
export function ownMigrations(): readonly Migration[] {
  known ??= readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return known;
}

const folder = fileURLToPath(new URL('prisma/migrations/', packageRoot));
let known: readonly Migration[] | undefined;

async function inspect(database: Database, onEvent: MigrateOptions['onEvent']): Promise<MigrationState> {
  const { rows } = await database.pool.query<{ server_version: string }>('show server_version');
  const version = rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) < minServerVersion) {
    throw new Error(
      `The database server is PostgreSQL ${version}; the gateway needs ${minServerVersion} or later. Upgrade it, or set DATABASE_URL to another server.`,
    );
  }
  const state = await readMigrationState(database);
  if (state.unknown.length > 0) {
    onEvent?.(
      `a newer version of the gateway has changed this database (${state.unknown.join(', ')}): update this one, which may not work with it`,
    );
  }
  return state;
}

const fromApplied = 'from _prisma_migrations where finished_at is not null and rolled_back_at is null';

/** Prisma's table of applied migrations, exactly as Prisma creates it. */
const historyTable = `
  create table if not exists _prisma_migrations (
    id varchar(36) primary key not null,
    checksum varchar(64) not null,
    finished_at timestamptz,
    migration_name varchar(255) not null,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`;

/** Applies a migration, unless another process did so while this one waited for the lock. */
async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<boolean> {
  try {
    // The settings end with the transaction, because a pooler may pass the connection on.
    await client.query(
      `begin isolation level read committed; set local statement_timeout = 0; set local lock_timeout = 0;
       set local idle_in_transaction_session_timeout = 0; select pg_advisory_xact_lock(${lockNumber})`,
    );
    await client.query(historyTable);
    const { rowCount } = await client.query(`select ${fromApplied} and migration_name = $1`, [name]);
    if (rowCount === 0) {
      await client.query(sql);
      await client.query(
        `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
         values ($1, $2, $3, clock_timestamp(), 1)`,
        [randomUUID(), checksum, name],
      );
    }
    await client.query('commit');
    return rowCount === 0;
  } catch (cause) {
    await client.query('rollback').catch(() => {});
    throw new Error(`The migration ${name} failed and was rolled back: ${(cause as Error).message}`, { cause });
  }
}
