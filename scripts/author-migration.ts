// Creates the migration from a database with every migration applied to prisma/schema.prisma: npm run migration -- NAME.
// Indexes on existing tables become migrations of their own. Creates nothing if they agree.
import { fileURLToPath } from 'node:url';
import { assertMigrationName, createMigration, separateIndexes } from './migration-file.ts';
import { schemaDifference } from './schema-difference.ts';
import { openTemporaryDatabase } from './temporary-database.ts';

const migrations = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const [name = ''] = process.argv.slice(2);
try {
  assertMigrationName(name);
  const parts = separateIndexes(await findDifference());
  const now = Date.now();
  const files = parts.map((sql, i) =>
    createMigration(migrations, i === 0 ? name : `${name}_${i + 1}`, sql, new Date(now + i * 1_000)),
  );
  process.stdout.write(files.length === 0 ? 'The migrations agree with prisma/schema.prisma.\n' : `${files.join('\n')}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function findDifference(): Promise<string> {
  const { database, close } = await openTemporaryDatabase();
  try {
    return await schemaDifference(database.pool);
  } finally {
    await close();
  }
}
