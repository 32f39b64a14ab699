import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Migration, readMigrations } from '../../src/database/migrations.ts';

/** Until here there was no release, so that no gateway of an earlier version could be running. */
const lastWithoutPredecessor = '20261121190000_lists';

/** Tables that the version before the one that drops them did not use. */
const unusedTables: ReadonlySet<string> = new Set(['rate_count']);

/**
 * What a running gateway of the previous version does not notice: new tables, their indexes and keys, new columns that it need
 * not fill, indexes that are built concurrently.
 */
const compatible = [/^CREATE (?:UNLOGGED )?TABLE /, /^CREATE TYPE /, /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY /, /^COMMENT ON /];

/** Whether a statement adds columns that need not be filled, and does nothing else. */
function addsColumns(statement: string): boolean {
  const [, clauses = ''] = /^ALTER TABLE "\w+"\s+(.*)$/s.exec(statement) ?? [];
  return clauses
    .split(/,\s*(?=(?:ADD|ALTER|DROP|RENAME)\b)/)
    .every((clause) => /^ADD COLUMN (?!.*NOT NULL(?!.*DEFAULT))/s.test(clause));
}

/** The statements of a migration that a running gateway of the previous version, or a large table, would notice. */
function incompatible({ sql }: Pick<Migration, 'sql'>): string[] {
  const statements = sql
    .replaceAll(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const created = new Set(statements.flatMap((statement) => /^CREATE TABLE "(\w+)"/.exec(statement)?.[1] ?? []));
  return statements.filter((statement) => {
    const table = /^(?:CREATE (?:UNIQUE )?INDEX "\w+" ON|ALTER TABLE|INSERT INTO) "(\w+)"/.exec(statement)?.[1];
    const dropped = /^DROP TABLE "(\w+)"$/.exec(statement)?.[1] ?? '';
    const isCompatible =
      unusedTables.has(dropped) || addsColumns(statement) || compatible.some((pattern) => pattern.test(statement));
    return !(table && created.has(table)) && !isCompatible;
  });
}

test('the previous version can keep running while a migration is applied, and after', () => {
  const migrations = readMigrations(fileURLToPath(new URL('../../prisma/migrations', import.meta.url)));
  const later = migrations.filter(({ name }) => name > lastWithoutPredecessor);
  expect(migrations.length).toBeGreaterThan(later.length);
  expect(later.map((migration) => ({ name: migration.name, found: incompatible(migration) }))).toEqual(
    later.map(({ name }) => ({ name, found: [] })),
  );
});

test.each([
  'CREATE INDEX "i" ON "user_group"("name");',
  'ALTER TABLE "user_group" ADD COLUMN "b" TEXT NOT NULL;',
  'ALTER TABLE "user_group" DROP COLUMN "name";',
  'ALTER TABLE "user_group" ADD COLUMN "b" TEXT,\nALTER COLUMN "name" SET NOT NULL;',
  'ALTER TABLE "user_group" ADD COLUMN "b" TEXT, DROP COLUMN "name";',
  'ALTER TABLE "user_group" ADD COLUMN "b" TEXT NOT NULL,\nADD COLUMN "c" TEXT DEFAULT \'\';',
  'ALTER TABLE "user_group" ALTER COLUMN "name" SET DATA TYPE TEXT;',
  'ALTER TABLE "user_group" RENAME COLUMN "name" TO "title";',
  'DROP TABLE "retired_token";',
  'UPDATE "user_group" SET "name" = \'\';',
])('finds that the previous version, or its requests, would notice %j', (sql) => {
  expect(incompatible({ sql })).toEqual([sql.slice(0, -1)]);
});

test.each([
  'CREATE TABLE "a" ("b" TEXT);\nCREATE INDEX "i" ON "a"("b");\nALTER TABLE "a" ADD CONSTRAINT "c" FOREIGN KEY ("b") REFERENCES "d"("e");',
  'CREATE UNIQUE INDEX CONCURRENTLY "i" ON "user_group"("name");',
  'ALTER TABLE "user_group" ADD COLUMN "b" TEXT;',
  'ALTER TABLE "user_group" ADD COLUMN "b" TEXT,\nADD COLUMN "c" TEXT NOT NULL DEFAULT \'\';',
  'ALTER TABLE "user_group" ADD COLUMN "b" TEXT NOT NULL DEFAULT \'\';',
])('accepts %j', (sql) => {
  expect(incompatible({ sql })).toEqual([]);
});
