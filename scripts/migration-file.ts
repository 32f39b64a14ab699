import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Creates the folder of a migration, `<time>_<name>` with its `migration.sql`, as a whole or not at all.
 *
 * @param migrations the folder of all migrations, which apply in the order of their names.
 * @param name lowercase letters, digits and underscores.
 * @returns the path of the file.
 * @throws Error when the name is not valid, the SQL is empty, or a migration is newer than `now`.
 */
export function createMigration(migrations: string, name: string, sql: string, now: Date): string {
  assertMigrationName(name);
  if (sql.trim() === '') throw new Error('A migration must have SQL.');
  const folder = `${now.toISOString().replace(/\D/g, '').slice(0, 14)}_${name}`;
  const newer = readdirSync(migrations).find((other) => /^\d{14}_/.test(other) && other >= folder);
  if (newer) throw new Error(`The migration ${newer} is newer than this one would be. Check the time of this machine.`);
  const draft = join(migrations, `.${folder}`);
  try {
    mkdirSync(draft);
    writeFileSync(join(draft, 'migration.sql'), sql);
    renameSync(draft, join(migrations, folder));
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  return join(migrations, folder, 'migration.sql');
}

/** @throws Error when the name of a migration is not valid. */
export function assertMigrationName(name: string): void {
  if (!/^[a-z0-9_]{1,100}$/.test(name)) {
    throw new Error('Name the migration in lowercase letters, digits and underscores: npm run migration -- add_color');
  }
}

/**
 * Separates what must not be in one migration: each index on a table that exists already is built concurrently, alone in its
 * file, so that writes to the table continue.
 *
 * @param sql statements as Prisma formats them, separated by empty lines.
 * @returns the SQL of each migration, in order; none if there is no statement.
 */
export function separateIndexes(sql: string): string[] {
  const statements = sql.split(/\n{2,}/).map((statement) => statement.trim());
  const created = new Set(statements.flatMap((statement) => /^CREATE TABLE "(\w+)"/m.exec(statement)?.[1] ?? []));
  const isOnExisting = (statement: string) => {
    const [, table] = /^CREATE (?:UNIQUE )?INDEX "\w+" ON "(\w+)"/m.exec(statement) ?? [];
    return table !== undefined && !created.has(table);
  };
  const rest = statements.filter((statement) => statement !== '' && !isOnExisting(statement)).join('\n\n');
  const builds = statements.filter(isOnExisting).map((statement) => statement.replace(' INDEX "', ' INDEX CONCURRENTLY "'));
  return [rest, ...builds].filter((each) => each !== '').map((each) => `${each}\n`);
}
