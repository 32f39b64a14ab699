import { defineConfig } from 'prisma/config';

// `prisma generate` fetches a schema engine that it never runs, and fails where only the package registry can be
// reached. Any existing file satisfies it. Other commands do run the engine, so they keep the real one.
if (process.argv.includes('generate')) {
  process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath;
}

export default defineConfig({
  schema: '../prisma/schema.prisma',
  migrations: { path: '../prisma/migrations' },
  // `generate` needs no database; `prisma migrate deploy` and `prisma studio` do.
  ...(process.env['DATABASE_URL'] ? { datasource: { url: process.env['DATABASE_URL'] } } : {}),
});
