import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
