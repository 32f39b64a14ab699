import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type BrowserServer, chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { connectDatabase } from '../../src/database/client.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import { openOnPort } from './bundled-server.ts';
import { copyFolder, makeDatabaseFolder } from './database-folder.ts';
import { findBrowser } from './find-browser.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The run's PostgreSQL server, as a URL without a database. */
    serverUrl: string;
    /** The same server through PgBouncer in transaction mode; empty unless `TEST_PGBOUNCER` is set. */
    poolerUrl: string;
    /** A `DATA_DIR` as the first start leaves it, with no API token; PostgreSQL does not run on it. It is only copied. */
    createdDataDir: string;
    /** Where the browser that all tests share accepts connections; empty if no file of the run needs one. */
    browserEndpoint: string;
  }
}

/** Settings for a server whose databases are thrown away: only what they would lose when the machine crashes is at stake. */
const settings = ['fsync=off', 'full_page_writes=off', 'max_wal_size=256MB', 'max_connections=400', 'autovacuum_naptime=60s'];

/**
 * Fewer server connections than a gateway has, so that its statements move from one to another; more than it uses for slow reads.
 */
const poolSize = 8;

/**
 * Builds what changed, however the tests were started, and starts what the whole run shares: PostgreSQL, the same that users get,
 * and a browser.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  // Tests start processes from the compiled files. Not the packages: this process runs from them.
  const script = fileURLToPath(new URL('../../scripts/setup.js', import.meta.url));
  execFileSync(process.execPath, [script, 'compiled', 'web', 'client'], { stdio: 'inherit' });
  const created = makeDatabaseFolder();
  const [browser] = await Promise.all([launchBrowser(project), createDataDir(created)]);
  const running = makeDatabaseFolder();
  copyFolder(created, running);
  const server = await openOnPort(running, settings);
  const serverUrl = server.url;
  await createTemplate(serverUrl);

  project.provide('browserEndpoint', browser?.wsEndpoint() ?? '');
  project.provide('createdDataDir', created);
  project.provide('serverUrl', serverUrl);
  const pooler = process.env['TEST_PGBOUNCER'] ? await startPooler(serverUrl) : undefined;
  project.provide('poolerUrl', pooler?.url('') ?? '');
  return async () => {
    if (pooler) {
      process.stderr.write(`${await pooler.transactions()} transactions went through PgBouncer.\n`);
      await pooler.close();
    }
    await Promise.all([server.close(), browser?.close()]);
    for (const folder of [created, running]) rmSync(folder, { recursive: true, force: true });
  };
}

/** Makes the database that those of tests are copies of: one that nobody is connected to. */
async function createTemplate(serverUrl: string): Promise<void> {
  const client = new pg.Client(`${serverUrl}/postgres`);
  await client.connect();
  await client.query('create database user_group_gateway');
  await client.end();
  const database = connectDatabase({ connectionString: `${serverUrl}/user_group_gateway` });
  await migrate(database);
  await database.close();
}

/** Puts PgBouncer in front of a server, set up as the documentation says. */
async function startPooler(serverUrl: string): Promise<PgBouncer> {
  const client = new pg.Client(`${serverUrl}/postgres`);
  await client.connect();
  await client.query("alter role current_user set statement_timeout = '10s'");
  await client.query("alter role current_user set lock_timeout = '4s'");
  await client.end();
  return startPgBouncer(poolSize, serverUrl);
}

/** Starts the system's browser if the run has tests that need it. Says so if there is none. */
async function launchBrowser(project: TestProject): Promise<BrowserServer | undefined> {
  const executablePath = findBrowser();
  if (executablePath === undefined) {
    process.stderr.write(
      'No Chromium or Chrome was found: the tests in test/browser, and of pages in test/examples, are NOT run. Install one, or set CHROME_PATH to its program.\n',
    );
    return undefined;
  }
  // Internal to vitest: if it is gone, the browser is started for every run.
  const { filenamePattern } = project.vitest as { filenamePattern?: string[] };
  const { testFiles } = await project.globTestFiles(filenamePattern);
  if (!testFiles.some((file) => /\/test\/(?:browser|examples)\//.test(file))) return undefined;
  // Without a process for graphics, which would only imitate a GPU.
  return chromium.launchServer({ executablePath, args: ['--disable-gpu'] });
}

/** Makes a `DATA_DIR` as the gateway's first start does. */
async function createDataDir(dataDir: string): Promise<void> {
  const database = await openDatabase({ databaseUrl: undefined, dataDir, namedStatements: true, onEvent: () => {} });
  await migrate(database);
  await database.close();
  // What initdb leaves, and nothing of this start.
  for (const file of ['postmaster.opts', 'postgres.log']) rmSync(join(dataDir, 'postgres', file));
}
