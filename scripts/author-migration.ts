// Creates the migration from a database with every migration applied to prisma/schema.prisma: npm run migration -- NAME.
// Creates nothing if they agree.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { schemaDifference } from './schema-difference.ts';
import { openTemporaryDatabase } from './temporary-database.ts';

const [name = ''] = process.argv.slice(2);
if (/^[a-z0-9_]{1,100}$/.test(name)) {
  const { database, close } = await openTemporaryDatabase();
  const sql = await schemaDifference(database.pool).finally(close);
  process.stdout.write(sql === '' ? 'The migrations agree with prisma/schema.prisma.\n' : `${create(sql)}\n`);
} else {
  process.stderr.write('Name the migration in lowercase letters, digits and underscores: npm run migration -- add_color\n');
  process.exitCode = 1;
}

function create(sql: string): string {
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = fileURLToPath(new URL(`../prisma/migrations/${time}_${name}`, import.meta.url));
  mkdirSync(folder);
  writeFileSync(`${folder}/migration.sql`, `${sql}\n`);
  return `${folder}/migration.sql`;
}
