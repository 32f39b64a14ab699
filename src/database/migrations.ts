import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { Database } from './client.ts';

/** A migration, as it is in its folder. */
export interface Migration {
  /** The name of the folder: the time and what it does. */
  readonly name: string;
  readonly sql: string;
  /** The SHA-256 of the file, as Prisma records it. */
  readonly checksum: string;
  /** The name of the index, if the migration builds one concurrently: that is impossible in a transaction. */
  readonly concurrentIndex: string | undefined;
}

/**
 * Reads migrations, in the order in which they apply.
 *
 * @param folder contains one folder for each migration, with its `migration.sql`.
 * @throws Error when a file that builds an index concurrently has any other statement.
 */
export function readMigrations(folder: string): Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { name, sql, checksum, concurrentIndex: concurrentIndex(name, sql) };
    });
}

/** Reads the migrations of an installation. @throws Error also when there are none. */
export function requireMigrations(folder: string): Migration[] {
  const migrations = existsSync(folder) ? readMigrations(folder) : [];
  if (migrations.length > 0) return migrations;
  throw new Error(`The folder ${folder} contains no migrations: the installation is incomplete. Install the gateway again.`);
}

const concurrentBuild = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY "(\w+)" ON [^;]+;$/;

function concurrentIndex(migration: string, sql: string): string | undefined {
  const statements = sql.replaceAll(/^--.*$/gm, '').trim();
  if (!/\bconcurrently\b/i.test(statements)) return undefined;
  const [, index] = concurrentBuild.exec(statements) ?? [];
  if (index) return index;
  throw new Error(
    `The migration ${migration} must contain a single statement, CREATE INDEX CONCURRENTLY "name" ON …; ` +
      'and no other: such an index is not built in a transaction. Put other changes in a separate migration.',
  );
}

/**
 * Builds the index of a migration while others write to its table, on a connection of its own. Does nothing if the index is
 * complete, and first drops what an interrupted build left. The caller makes sure that one process at a time builds it.
 *
 * @param timeoutMs how long the build may take.
 * @throws Error that says how to build it by hand when the server ends the build.
 */
export async function buildIndex(
  { openConnection }: Pick<Database, 'openConnection'>,
  { sql }: Migration,
  index: string,
  timeoutMs: number,
): Promise<void> {
  const client = await openConnection(timeoutMs);
  try {
    const state = await indexState(client, index);
    if (state === 'complete') return;
    if (state === 'incomplete') await client.query(`drop index concurrently ${client.escapeIdentifier(index)}`);
    await client.query(sql);
  } catch (cause) {
    throw new Error(
      `${(cause as Error).message}. The next start tries again. If the role's statement_timeout or lock_timeout is too short for the index, ` +
        `build it without them first:\n\n  drop index concurrently if exists ${client.escapeIdentifier(index)};\n  ${sql.trim()}\n`,
      { cause },
    );
  } finally {
    await client.end().catch(() => {});
  }
}

async function indexState(client: pg.ClientBase, index: string): Promise<'absent' | 'incomplete' | 'complete'> {
  const { rows } = await client.query<{ complete: boolean }>(
    `select i.indisvalid and i.indisready as complete from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname = $1 and pg_table_is_visible(c.oid)`,
    [index],
  );
  if (!rows[0]) return 'absent';
  return rows[0].complete ? 'complete' : 'incomplete';
}

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

/**
 * The names of the applied migrations.
 *
 * @param migrations those of this version.
 * @throws Error when one of them differs from what was applied, or another tool did not finish one.
 */
export async function readHistory(client: pg.ClientBase | pg.Pool, migrations: readonly Migration[]): Promise<Set<string>> {
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

/** Creates the table of applied migrations if there is none. */
export async function createHistory(client: pg.ClientBase): Promise<void> {
  if (!(await hasHistory(client))) await client.query(historyTable);
}

/** Records that a migration is applied. */
export async function recordMigration(client: pg.ClientBase, { name, checksum }: Migration): Promise<void> {
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     values ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}

async function hasHistory(client: pg.ClientBase | pg.Pool): Promise<boolean> {
  // Not to_regclass(): inside a transaction it may not see a table that another process has just created.
  const { rowCount } = await client.query(
    "select from pg_class where relname = '_prisma_migrations' and relkind = 'r' and pg_table_is_visible(oid)",
  );
  return rowCount === 1;
}
