import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { migrate } from '../../src/database/migrate.ts';
import { requirePrivileges } from '../../src/database/privileges.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Ended, endProcesses, run } from '../support/process.ts';

const role = 'limited role';
let database: TestDatabase;
let url: string;

beforeEach(async () => {
  database = await createTestDatabase('template0');
  await database.pool.query(`create role "${role}" login password 'limited'`);
  const limited = new URL(database.url);
  limited.username = encodeURIComponent(role);
  limited.password = 'limited';
  url = limited.href;
});
afterEach(async () => {
  await endProcesses();
  await database.close();
  const client = new pg.Client(`${inject('serverUrl')}/postgres`);
  await client.connect();
  await client.query(`drop role "${role}"`);
  await client.end();
});

/** The SQL that a message says to run. */
const advised = ({ stderr }: Ended): string =>
  stderr
    .split('\n')
    .filter((line) => /^ {2}grant/.test(line))
    .join('\n');

test('a role that may not create tables gets a text that says so, and SQL that grants the right', async () => {
  const refused = await run(['migrate'], { DATABASE_URL: url });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(`The role "${role}" lacks the privilege to create tables and types in the schema public`);
  expect(refused.stderr).not.toMatch(/\n\s+at /);
  await database.pool.query(advised(refused));
  expect(await run(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  await database.pool.query(`drop owned by "${role}"`);
});

test('a role that may create tables and not the extension that searches use gets a text that says so', async () => {
  await database.pool.query(`grant create on schema public to "${role}"`);
  const refused = await run(['migrate'], { DATABASE_URL: url });
  expect(refused.stderr).toContain(`The role "${role}" lacks the privilege to create the extension pg_trgm`);
  expect(refused.stderr).not.toMatch(/\n\s+at /);
  expect(advised(refused)).toMatch(/^ {2}grant create on database test_\w+ to "limited role";$/);
  await database.pool.query(advised(refused));
  expect(await run(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  await database.pool.query(`drop owned by "${role}"`);
});

test('an extension that was created before, in a schema of its own, is used and needs no right', async () => {
  await database.pool.query(`create schema extensions; create extension pg_trgm schema extensions;
    grant create on schema public to "${role}"; grant usage on schema extensions to "${role}"`);
  expect(await run(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  await database.pool.query(`drop owned by "${role}"`);
});

test('so does one that may not even use the schema', async () => {
  await database.pool.query('revoke all on schema public from public');
  const refused = await run(['migrate'], { DATABASE_URL: url });
  expect(refused.stderr).toContain('any schema of its search_path');
  await database.pool.query(advised(refused));
  expect(await run(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  await database.pool.query(`drop owned by "${role}"`);
});

test('a role that may not use what another created gets every missing right by name, and SQL that grants them', async () => {
  await migrate(database);
  await database.pool.query(`grant select on _prisma_migrations, user_group to "${role}"`);
  const refused = await run(['serve'], { DATABASE_URL: url });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).not.toMatch(/\n\s+at /);
  expect(advised(refused)).toBe(
    [
      `  grant insert, update, delete on table user_group to "${role}";`,
      `  grant select, insert, update, delete on table retired_token to "${role}";`,
      `  grant select, insert, update, delete on table revoked_viewer to "${role}";`,
      `  grant select, insert, update on table api_token to "${role}";`,
      `  grant select, insert, update on table retired_secret to "${role}";`,
      `  grant select, insert, update, delete on table event to "${role}";`,
      `  grant select, update on table event_feed to "${role}";`,
      `  grant select, insert, update, delete on table webhook to "${role}";`,
      `  grant select, insert, update, delete on table webhook_delivery to "${role}";`,
      `  grant select, insert, update, delete on table signing_key to "${role}";`,
      `  grant select, insert, update, delete on table idempotency_record to "${role}";`,
      `  grant select, insert, update, delete on table request_count to "${role}";`,
      `  grant usage on sequence user_group_team_id_seq to "${role}";`,
      `  grant usage on sequence api_token_id_seq to "${role}";`,
      `  grant usage on sequence event_id_seq to "${role}";`,
      `  grant usage on sequence webhook_id_seq to "${role}";`,
      `  grant usage on sequence webhook_delivery_id_seq to "${role}";`,
    ].join('\n'),
  );
  await database.pool.query(advised(refused));
  const created = await run(['token', 'create', '--name', 'x', '--environment', 'none', '--scope', 'admin'], {
    DATABASE_URL: url,
  });
  expect(created).toMatchObject({ code: 0 });
  await database.pool.query(`drop owned by "${role}"`);
});

test('policies that come while a gateway runs make requests fail, and hide no rows', async () => {
  await migrate(database);
  await database.pool.query(`grant all on all tables in schema public to "${role}";
    grant all on all sequences in schema public to "${role}"`);
  const limited = connectDatabase({ connectionString: url });
  await database.pool.query('alter table user_group enable row level security');
  await expect(limited.pool.query('select count(*) from user_group')).rejects.toThrow(/row-level security/);
  await limited.close();
  await database.pool.query(`drop owned by "${role}"`);
});

test('every table and sequence that the migrations make is among those that are checked', async () => {
  await migrate(database);
  const { rows } = await database.pool.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'S')",
  );
  const client = connectDatabase({ connectionString: url });
  // Before any right is granted, all of them are missing.
  const refusal = await requirePrivileges(client).catch((error: Error) => error.message);
  for (const { name } of rows) expect(refusal).toMatch(new RegExp(`(table|sequence) ${name} to `));
  await client.close();
});

test('a role that may not connect, and a server that is read-only, are named without a stack trace', async () => {
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`revoke connect on database ${name} from public`);
  const refused = await run(['migrate'], { DATABASE_URL: url });
  expect(refused.stderr).toMatch(/permission denied for database/);
  expect(refused.stderr).not.toMatch(/\n\s+at /);

  await database.pool.query(`alter database ${name} set default_transaction_read_only = on`);
  const readOnly = await run(['migrate'], { DATABASE_URL: database.url });
  expect(readOnly).toMatchObject({ code: 1 });
  expect(readOnly.stderr).toMatch(/the server takes no writes .*\. Set DATABASE_URL to a server that takes writes/);
  expect(readOnly.stderr).not.toMatch(/\n\s+at /);
});
