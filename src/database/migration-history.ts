import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Migration } from './migration-files.ts';

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
