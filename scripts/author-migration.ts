// Prints the SQL that migrates a database with every migration applied to prisma/schema.prisma; nothing if they agree.
// Redirect it to create a new migration: node scripts/author-migration.ts > prisma/migrations/<time>_<what>/migration.sql
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDatabase } from '../src/database/client.ts';
import { openEmbedded } from '../src/database/embedded/embedded.ts';
import { migrate } from '../src/database/migrate.ts';
import { schemaDifference } from './schema-difference.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'author-migration-'));
chmodSync(dataDir, 0o755); // so that PostgreSQL's user has access when this runs as root
const server = await openEmbedded(dataDir);
const database = connectDatabase(server.connection('postgres'));
try {
  await migrate(database.pool);
  process.stdout.write(`${await schemaDifference(database.pool)}\n`.trimStart());
} finally {
  await database.close();
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
}
