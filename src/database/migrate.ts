import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { packageRoot } from '../package-root.ts';
import type { Database } from './client.ts';
import { type EncryptToken, encryptTokens, rewriteStatistics } from './encrypt-tokens.ts';
import { buildIndex, createHistory, type Migration, readHistory, recordMigration, requireMigrations } from './migrations.ts';
import { requireCreatePrivileges, requirePrivileges } from './privileges.ts';

/** Where the migrations of this version are; the folder is the same from the sources and from the compiled files. */
const migrationsFolder = fileURLToPath(new URL('prisma/migrations/', packageRoot));

let known: readonly Migration[] | undefined;

/** The migrations of this version, read once. @throws Error when the installation lacks them. */
function ownMigrations(): readonly Migration[] {
  known ??= requireMigrations(migrationsFolder);
  return known;
}

/** The names of the migrations of this version, in order. @throws Error as {@link ownMigrations} does. */
export const ownMigrationNames = (): readonly string[] => ownMigrations().map(({ name }) => name);

/** The key of Prisma's own advisory lock, so that `prisma migrate deploy` and the gateway exclude each other. */
const lockNumber = 72_707_369;

/**
 * How long a migration may take, and how long to wait for another process that applies some. Far above the limit of requests'
 * statements.
 */
const migrationTimeoutMs = 3_600_000;

/** How often a process that waits for another one tries again. */
const lockRetryMs = 100;

/** What a migration does that its SQL file cannot. */
interface MigrationCode {
  /**
   * Runs before the SQL, in its transaction and under its lock. `prisma migrate deploy` runs the SQL alone: that must succeed
   * where there is nothing to convert, and fail otherwise. Returns whether there was anything to convert.
   */
  before(query: Query, options: MigrateOptions): Promise<boolean>;
  /**
   * Runs once the transaction has ended, for what no transaction can do, if there was anything to convert. Returns what an
   * operator should know.
   */
  after(client: pg.Client): Promise<string | undefined>;
}

type Connections = Pick<Database, 'pool' | 'openConnection'>;

type Query = (text: string, values?: unknown[]) => Promise<readonly Record<string, unknown>[]>;

/** What migrations need besides the database. */
export interface MigrateOptions {
  /** Encrypts a user group token, for databases that hold some as text; without it these are not migrated. */
  readonly encryptToken?: EncryptToken;
  /** Receives messages for the operator. */
  readonly onEvent?: (message: string) => void;
  /** Ends the wait for another process that applies migrations, and the whole after the migration that is being applied. */
  readonly signal?: AbortSignal;
  /** The migrations to apply; those of this version by default. */
  readonly migrations?: readonly Migration[];
}

const code: Readonly<Record<string, MigrationCode>> = {
  '20261121190000_encrypt_tokens': {
    before: async (query, { encryptToken }) => encryptToken !== undefined && encryptTokens(query, encryptToken),
    after: rewriteStatistics,
  },
};

/**
 * Applies the migrations that are not applied, each in a transaction of its own, and records them where Prisma looks; an index
 * on an existing table is built concurrently, outside the transaction. Processes that start at once wait for each other. The lock
 * and the settings end with each transaction, so that a pooler passes neither on to another client; a database that is up to
 * date is only read.
 *
 * @returns the names of those applied now, in order.
 * @throws Error when the server is older than PostgreSQL 15, when an applied migration has changed since, when the role lacks
 *   a privilege, or when one fails.
 * @throws the reason of the signal.
 */
export async function migrate(database: Connections, options: MigrateOptions = {}): Promise<string[]> {
  const { migrations = ownMigrations() } = options;
  const history = await inspect(database, migrations, options);
  const applied: string[] = [];
  if (!firstMissing(migrations, history)) return applied;
  const client = await database.openConnection(migrationTimeoutMs);
  try {
    for (;;) {
      const name = await applyNext(database, client, migrations, options);
      if (!name) return applied;
      applied.push(name);
    }
  } finally {
    await client.end();
  }
}

/** Makes sure that no migration is pending, for what changes nothing. @throws Error when one is, or as {@link migrate} does. */
export async function requireMigrated(database: Connections, options: Pick<MigrateOptions, 'onEvent'>): Promise<void> {
  const history = await inspect(database, ownMigrations(), options);
  if (!firstMissing(ownMigrations(), history)) return;
  throw new Error(
    'Migrations of this version are not applied to the database, and this command changes nothing. Run the command migrate, or start a gateway of this version.',
  );
}

/** The applied migrations. Reports those of a newer version. */
async function inspect(
  { pool }: Connections,
  migrations: readonly Migration[],
  { onEvent }: MigrateOptions,
): Promise<ReadonlySet<string>> {
  await requireServerVersion(pool);
  const history = await readHistory(pool, migrations);
  const unknown = unknownMigrations(migrations, history);
  if (unknown.length > 0) onEvent?.(describeUnknown(unknown));
  return history;
}

/** Whether every migration of this version is applied. @throws Error when the database cannot be reached. */
export async function isMigrated({ query }: Pick<Database, 'query'>): Promise<boolean> {
  const text =
    'select count(distinct migration_name) from _prisma_migrations where finished_at is not null and migration_name = any($1)';
  const names = ownMigrationNames();
  const [row] = await query('is-migrated', text, [names]);
  return Number(row?.[0]) === names.length;
}

/** The names of applied migrations that this version does not have, in order: those of a newer version. */
function unknownMigrations(migrations: readonly Migration[], applied: ReadonlySet<string>): string[] {
  const names = new Set(migrations.map(({ name }) => name));
  return [...applied].filter((name) => !names.has(name)).sort((a, b) => (a < b ? -1 : 1));
}

/** What an operator should know about migrations of a newer version. */
const describeUnknown = (names: readonly string[]): string =>
  `a newer version of the gateway has changed this database (${names.join(', ')}): update this one, which may not work with it`;

/** The oldest major version of PostgreSQL that the gateway works with. */
export const minServerVersion = 15;

async function requireServerVersion(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  const version = rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) < minServerVersion) {
    throw new Error(
      `The database server is PostgreSQL ${version}; the gateway needs ${minServerVersion} or later. Upgrade it, or set DATABASE_URL to another server.`,
    );
  }
}

const firstMissing = (migrations: readonly Migration[], applied: ReadonlySet<string>): Migration | undefined =>
  migrations.find(({ name }) => !applied.has(name));

/** Applies the first migration that is missing once the lock is held, if one still is. @returns its name. */
async function applyNext(
  database: Connections,
  client: pg.Client,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<string | undefined> {
  let migration: Migration | undefined;
  let followUp: MigrationCode | undefined;
  try {
    await beginLocked(client, options.signal);
    migration = firstMissing(migrations, await readHistory(client, migrations));
    if (migration && (await apply(database, client, migration, options))) followUp = code[migration.name];
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback').catch(() => {});
    if (!migration) throw cause;
    throw new Error(`The migration ${migration.name} failed and was rolled back: ${(cause as Error).message}`, { cause });
  }
  const event = await followUp?.after(client);
  if (event) options.onEvent?.(event);
  return migration?.name;
}

/**
 * Begins a transaction that holds the lock. Does not wait within a statement: an index that another process builds concurrently
 * is not complete before every statement that began earlier has ended.
 */
async function beginLocked(client: pg.Client, signal: AbortSignal | undefined): Promise<void> {
  const deadline = Date.now() + migrationTimeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    await client.query(
      'begin isolation level read committed; set local statement_timeout = 0; set local lock_timeout = 0; ' +
        'set local idle_in_transaction_session_timeout = 0',
    );
    const { rows } = await client.query<{ held: boolean }>(`select pg_try_advisory_xact_lock(${lockNumber}) as held`);
    if (rows[0]?.held) return;
    await client.query('rollback');
    if (Date.now() > deadline) {
      throw new Error(
        'Another process has been applying migrations for an hour, or holds their lock. Wait until it has finished, or end it.',
      );
    }
    await sleep(lockRetryMs);
  }
}

/** Applies a migration and records it. Returns whether its code had anything to do. */
async function apply(database: Connections, client: pg.Client, migration: Migration, options: MigrateOptions): Promise<boolean> {
  const { name, sql, concurrentIndex } = migration;
  await requireCreatePrivileges(client, name);
  await createHistory(client);
  const query: Query = async (text, values) => (await client.query<Record<string, unknown>>(text, values)).rows;
  const hadCode = await code[name]?.before(query, options);
  if (concurrentIndex === undefined) await client.query(sql);
  else await buildIndex(database, migration, concurrentIndex, migrationTimeoutMs);
  await recordMigration(client, migration);
  return hadCode ?? false;
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

/**
 * Compares the migrations of this version with those of a database.
 *
 * @throws Error as `readHistory` does, or when there are none.
 */
export async function readMigrationState({ pool }: Pick<Database, 'pool'>): Promise<MigrationState> {
  const migrations = ownMigrations();
  const history = await readHistory(pool, migrations);
  const pending = migrations.filter(({ name }) => !history.has(name)).map(({ name }) => name);
  return { applied: migrations.length - pending.length, pending, unknown: unknownMigrations(migrations, history) };
}

/**
 * Makes sure that the role may do what the next start and then requests need.
 *
 * @param pending the first migration that is not applied.
 * @throws Error that names what is missing, and the SQL that grants it.
 */
export async function requireAllPrivileges(database: Pick<Database, 'pool'>, pending: string | undefined): Promise<void> {
  if (pending === undefined) return requirePrivileges(database);
  await requireCreatePrivileges(database.pool, pending);
}
