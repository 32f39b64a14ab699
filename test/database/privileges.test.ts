import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { migrate } from '../../src/database/migrate.ts';
import { requirePrivileges } from '../../src/database/server-state.ts';
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

test.each<[string, prepare: string, grants: RegExp]>([
  [
    'of a role that may create nothing',
    'select',
    /^ {2}grant usage, create on schema public .*\n {2}grant create on database \S+ to "limited role";$/,
  ],
  [
    'of one that may not use the schema',
    'revoke all on schema public from public',
    /^ {2}grant usage, create on schema public to "limited role";/,
  ],
])('migrate %s says which SQL helps, and it does', async (_, prepare, grants) => {
  await database.pool.query(prepare);
  const refused = await run(['migrate'], { DATABASE_URL: url });
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The role of the database may not create/),
  });
  expect(advised(refused)).toMatch(grants);
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

test('serve with a role that may not use what another created says which SQL helps, and it does', async () => {
  await migrate(database);
  await database.pool.query(`grant select on _prisma_migrations, user_group to "${role}"; create table of_others (a int)`);
  const refused = await run(['serve'], { DATABASE_URL: url });
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The role of the database lacks privileges/),
  });
  expect(advised(refused)).toContain(`  grant update, insert, delete on table user_group to "${role}";\n`);
  await database.pool.query(advised(refused));
  const create = ['token', 'create', '--name', 'x', '--environment', 'none', '--scope', 'admin'];
  expect(await run(create, { DATABASE_URL: url })).toMatchObject({ code: 0, stderr: '' });
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
