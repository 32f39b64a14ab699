import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { packageRoot } from '../package-root.ts';
import type { Database } from './client.ts';
import { type EncryptToken, encryptTokens, rewriteStatistics } from './encrypt-tokens.ts';
import { requireCreation } from './rights.ts';

/** The folder with the migrations; the same from the sources and from the compiled files. */
const folder = fileURLToPath(new URL('prisma/migrations/', packageRoot));

/** The key of Prisma's own advisory lock, so that `prisma migrate deploy` and the gateway exclude each other. */
const lockNumber = 72_707_369;

/** Prisma's table of applied migrations, exactly as Prisma creates it. */
const historyTable = `
  create table _prisma_migrations (
    id varchar(36) primary key not null,
    checksum varchar(64) not null,
    finished_at timestamptz,
    migration_name varchar(255) not null,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

const migrations: readonly Migration[] = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()
  .map((name) => {
    const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });

/** What a migration does that its SQL file cannot. */
interface MigrationCode {
  /**
   * Runs before the SQL, in its transaction and under its lock. `prisma migrate deploy` runs the SQL alone: that must succeed where
   * there is nothing to convert, and fail everywhere else. Returns whether there was anything to convert.
   */
  before(query: Query, options: MigrateOptions): Promise<boolean>;
  /**
   * Runs once the transaction has ended, for what no transaction can do, if there was anything to convert. Returns what an
   * operator should know.
   */
  after(client: pg.PoolClient): Promise<string | undefined>;
}

type Query = (text: string, values?: unknown[]) => Promise<readonly Record<string, unknown>[]>;

/** What migrations need beside the database. */
export interface MigrateOptions {
  /** Encrypts a user group token, for databases that hold some as text; without it these are not migrated. */
  readonly encryptToken?: EncryptToken;
  /** Hears what an operator should know. */
  readonly onEvent?: (message: string) => void;
}

const code: Readonly<Record<string, MigrationCode>> = {
  '20261121190000_encrypt_tokens': {
    before: async (query, { encryptToken }) => encryptToken !== undefined && encryptTokens(query, encryptToken),
    after: rewriteStatistics,
  },
};

/**
 * Applies the migrations that are not applied, each in a transaction of its own, and records them where Prisma looks.
 * Processes that start at once wait for each other. The lock and the settings end with each transaction, so that a pooler
 * hands neither on to another client; a database that is up to date is only read.
 *
 * @returns the names of those applied now, in order.
 * @throws Error when the server is older than PostgreSQL 15, when an applied migration has changed since, when the role lacks
 *   a right, or when one fails.
 */
export async function migrate(pool: pg.Pool, options: MigrateOptions = {}): Promise<string[]> {
  const client = await pool.connect();
  let isUsable = true;
  try {
    await requireServerVersion(client);
    if (!firstMissing(await readHistory(client))) return [];
    const applied: string[] = [];
    for (;;) {
      const name = await applyNext(client, options);
      if (!name) return applied;
      applied.push(name);
    }
  } catch (error) {
    isUsable = false;
    throw error;
  } finally {
    client.release(!isUsable);
  }
}

/** Whether every migration of this version is applied. @throws Error when the database cannot be reached. */
export async function isMigrated({ query }: Pick<Database, 'query'>): Promise<boolean> {
  const text = 'select count(*) from _prisma_migrations where finished_at is not null and migration_name = any($1)';
  const [row] = await query('is-migrated', text, [migrations.map(({ name }) => name)]);
  return Number(row?.[0]) === migrations.length;
}

/** How long a migration, or one in another process, may take. The limit of requests' statements is far below. */
const migrationTimeoutMs = 3_600_000;

async function patiently(client: pg.PoolClient, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  // The driver knows the setting per statement; its types do not.
  const statement: pg.QueryConfig & { query_timeout: number } = {
    text,
    query_timeout: migrationTimeoutMs,
    ...(values && { values }),
  };
  return (await client.query<Record<string, unknown>>(statement)).rows;
}

async function requireServerVersion(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  const version = rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) < 15) {
    throw new Error(
      `The database server is PostgreSQL ${version}; the gateway needs 15 or later. Upgrade it, or set DATABASE_URL to another server.`,
    );
  }
}

const firstMissing = (applied: ReadonlySet<string>): Migration | undefined => migrations.find(({ name }) => !applied.has(name));

/** The names of the applied migrations. @throws Error when one of them differs from this version's file, or did not finish. */
async function readHistory(client: pg.PoolClient): Promise<Set<string>> {
  if (!(await hasHistory(client))) return new Set();
  const { rows } = await client.query<{ migration_name: string; checksum: string; finished: boolean }>(
    `select migration_name, checksum, finished_at is not null as finished from _prisma_migrations where rolled_back_at is null`,
  );
  const unfinished = rows.find((row) => !row.finished);
  if (unfinished) {
    throw new Error(
      `The migration ${unfinished.migration_name} was started by another tool and did not finish. ` +
        'Inspect the database, then resolve it with `prisma migrate resolve`.',
    );
  }
  const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const changed = migrations.find(({ name, checksum }) => checksums.has(name) && checksums.get(name) !== checksum);
  if (changed) {
    throw new Error(
      `The migration ${changed.name} was modified after it was applied to this database. ` +
        'Restore prisma/migrations as published; put schema changes in a new migration.',
    );
  }
  return new Set(checksums.keys());
}

async function hasHistory(client: pg.PoolClient): Promise<boolean> {
  // Not to_regclass(): inside a transaction it may not see a table that another process has just created.
  const { rowCount } = await client.query(
    "select from pg_class where relname = '_prisma_migrations' and relkind = 'r' and pg_table_is_visible(oid)",
  );
  return rowCount === 1;
}

/** Applies the first migration that is missing once the lock is held, if one still is. @returns its name. */
async function applyNext(client: pg.PoolClient, options: MigrateOptions): Promise<string | undefined> {
  let migration: Migration | undefined;
  let followUp: MigrationCode | undefined;
  try {
    // The lock is waited for longer than any statement of a request may take, and what is read is read after it.
    await client.query('begin isolation level read committed; set local statement_timeout = 0; set local lock_timeout = 0');
    await patiently(client, `select pg_advisory_xact_lock(${lockNumber})`);
    migration = firstMissing(await readHistory(client));
    if (migration && (await apply(client, migration, options))) followUp = code[migration.name];
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

/** Applies a migration and records it. Returns whether its code had anything to do. */
async function apply(client: pg.PoolClient, { name, sql, checksum }: Migration, options: MigrateOptions): Promise<boolean> {
  await requireCreation(client, name);
  if (!(await hasHistory(client))) await client.query(historyTable);
  const hadCode = await code[name]?.before((text, values) => patiently(client, text, values), options);
  await patiently(client, sql);
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     values ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
  return hadCode ?? false;
}
