import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { migrate } from '../../src/database/migrate.ts';
import { type Migration, readMigrations } from '../../src/database/migrations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const name = '29990101000000_name_index';
const build = 'CREATE INDEX CONCURRENTLY "user_group_name_idx" ON "user_group"("name");';
const published = readMigrations(fileURLToPath(new URL('../../prisma/migrations', import.meta.url)));

let database: TestDatabase;
let migrations: readonly Migration[];
let clients: pg.Client[];
beforeEach(async () => {
  database = await createTestDatabase();
  migrations = [...published, ...withFile(`-- For a test.\n${build}\n`, (folder) => readMigrations(folder))];
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end().catch(() => {})));
  await database.close();
});

function withFile<Result>(sql: string, use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-test-'));
  try {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'migration.sql'), sql);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  clients.push(client);
  await client.connect();
  return client;
}

/** A transaction that has written to the table: an index is not complete before it ends. */
async function openWrite(): Promise<pg.Client> {
  const writer = await connect();
  await writer.query('begin');
  await insert(writer, 'first');
  return writer;
}

const insert = (client: pg.Client, providedId: string) =>
  client.query(
    `insert into user_group (provided_id, name, token_hash, token_encrypted, updated_at)
     values ($1::varchar, $1::varchar, sha256($1::varchar::text::bytea), 'x', now())`,
    [providedId],
  );

/** Resolves with the process of the build once it waits for another transaction. */
async function waitingBuild(): Promise<number> {
  for (;;) {
    const { rows } = await database.pool.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and query like '%CONCURRENTLY%' and wait_event_type = 'Lock' and pid <> pg_backend_pid()",
    );
    if (rows[0]) return rows[0].pid;
    await pause(10);
  }
}

async function indexes(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    "select i.indisvalid as complete, c.oid::int as oid from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname = 'user_group_name_idx'",
  );
  return rows;
}

test('is built by one of several concurrent processes, while others write to the table', async () => {
  const writer = await openWrite();
  const others = Array.from({ length: 3 }, () => connectDatabase({ connectionString: database.url }));
  const applied = Promise.all(others.map((each) => migrate(each, { migrations })));
  await waitingBuild();
  const other = await connect();
  await other.query("set lock_timeout = '2s'");
  await insert(other, 'second'); // an index that is not built concurrently would block it
  await writer.query('commit');
  expect((await applied).flat()).toEqual([name]);
  expect(await indexes()).toEqual([{ complete: true, oid: expect.any(Number) }]);
  await Promise.all(others.map((each) => each.close()));
});

test('is built again after an interrupted build', async () => {
  const writer = await openWrite();
  const failed = expect(migrate(database, { migrations })).rejects.toThrow(/terminating connection.*The next start tries again/s);
  await database.pool.query('select pg_terminate_backend($1)', [await waitingBuild()]);
  await failed;
  expect(await indexes()).toEqual([{ complete: false, oid: expect.any(Number) }]);
  await writer.query('commit');
  expect(await migrate(database, { migrations })).toEqual([name]);
  expect(await indexes()).toEqual([{ complete: true, oid: expect.any(Number) }]);
});

test('is recorded, and not built again, when it exists', async () => {
  await database.pool.query(build);
  const before = await indexes();
  expect(await migrate(database, { migrations })).toEqual([name]);
  expect(await indexes()).toEqual(before);
  expect(await migrate(database, { migrations })).toEqual([]);
});

test.each([
  ['a second statement', `${build}\nDROP INDEX "a";`],
  ['a transaction', `BEGIN;\n${build}\nCOMMIT;`],
  ['no name', 'CREATE INDEX CONCURRENTLY ON "user_group"("name");'],
])('a file with %s is rejected', (_, sql) => {
  expect(() => withFile(sql, readMigrations)).toThrow(`The migration ${name} must contain a single statement`);
});
