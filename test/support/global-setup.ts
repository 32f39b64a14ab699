import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { connectDatabase } from '../../src/database/client.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The run's PostgreSQL server, as a URL without a database. */
    serverUrl: string;
  }
}

/** The database that every test database is a copy of: migrated, with no rows. */
export const templateDatabase = 'template_migrated';

/** Compiles what changed, however the tests were started, and starts one PostgreSQL for the whole run, the same that users get. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  // Tests start processes from the compiled files. Not the packages: this process runs from them.
  const script = fileURLToPath(new URL('../../scripts/setup.js', import.meta.url));
  execFileSync(process.execPath, [script, 'compiled'], { stdio: 'inherit' });

  const dataDir = mkdtempSync(join(tmpdir(), 'user-group-gateway-test-'));
  chmodSync(dataDir, 0o755); // so that, run as root, PostgreSQL's user may enter it
  const server = await openEmbedded(dataDir, { settings: ['fsync=off', 'max_connections=400'] });
  const { user, password, host, port } = server.connection('postgres');

  const client = new pg.Client(server.connection('postgres'));
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const database = connectDatabase(server.connection(templateDatabase));
  await migrate(database.pool);
  await database.close();

  project.provide('serverUrl', `postgresql://${user}:${password}@${host}:${port}`);
  return async () => {
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
