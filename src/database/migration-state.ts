import type { Database } from './client.ts';
import { ownMigrations, unknownMigrations } from './migrate.ts';
import { readHistory } from './migration-history.ts';
import { requireCreatePrivileges, requirePrivileges } from './privileges.ts';

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
