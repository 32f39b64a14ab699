import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { isMigrated, migrate, requireMigrated } from '../../src/database/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { run } from '../support/process.ts';

const files = readdirSync('prisma/migrations', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ name, sql: readFileSync(`prisma/migrations/${name}/migration.sql`) }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));
const names = files.map(({ name }) => name);

let empty: TestDatabase;
beforeEach(async () => {
  empty = await createTestDatabase('template0');
});
afterEach(() => empty.close());

/** The types of columns that Prisma's types stand for, unless `@db` names another one. */
const columnTypes: Readonly<Record<string, string>> = {
  BigInt: 'bigint',
  Boolean: 'boolean',
  Bytes: 'bytea',
  Int: 'integer',
  String: 'text',
  'db.Json': 'json',
  'db.Timestamptz(3)': 'timestamp(3) with time zone',
  'db.Uuid': 'uuid',
};

/** Columns, values of enumerations, and names of indexes and foreign keys that `prisma/schema.prisma` describes. */
function readSchema() {
  const schema = readFileSync('prisma/schema.prisma', 'utf8');
  const blocks = (kind: string) =>
    [...schema.matchAll(new RegExp(`^${kind} (\\w+) \\{\n(.*?)@@map\\("(\\w+)"\\)`, 'gms'))].map(
      ([, name = '', body = '', mapped = '']) => ({ name, mapped, lines: body.match(/^ {2}\w.*$/gm) ?? [] }),
    );
  const models = blocks('model');
  const types = { ...columnTypes, ...Object.fromEntries(blocks('enum').map(({ name, mapped }) => [name, mapped])) };
  const columns = models.flatMap(({ mapped: table, lines }) =>
    lines.flatMap((line) => {
      const [, name = '', type = '', suffix = '', attributes = ''] = /^ {2}(\w+) +(\w+)(\[\]|\?)?(.*)$/.exec(line) ?? [];
      if (models.some((model) => model.name === type)) return [];
      const [, column = name] = / @map\("(\w+)"\)/.exec(attributes) ?? [];
      const [, native] = / @(db\.\S+)/.exec(attributes) ?? [];
      const sql = native?.replace('db.VarChar', 'character varying') ?? type;
      const isList = suffix === '[]';
      return [`${table}.${column} ${types[sql] ?? sql}${isList ? '[]' : suffix === '?' ? '' : ' not null'}`];
    }),
  );
  return {
    columns,
    values: blocks('enum').flatMap(({ mapped, lines }) => lines.map((line) => `${mapped}.${line.trim()}`)),
    names: [...schema.matchAll(/\bmap: "(\w+)"/g)].map(([, name]) => name),
  };
}

test('the migrations create what prisma/schema.prisma describes', async () => {
  await migrate(empty);
  const read = async (text: string) => (await empty.pool.query<{ item: string }>(text)).rows.map(({ item }) => item);
  const { columns, values, names } = readSchema();
  const ofOurs = `relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> '_prisma_migrations'`;
  const found = await read(
    `select format('%s.%s %s%s', relname, attname, format_type(atttypid, atttypmod),
       case when attnotnull and attndims = 0 then ' not null' end) as item
     from pg_attribute join pg_class on pg_class.oid = attrelid where ${ofOurs} and attnum > 0 and not attisdropped`,
  );
  expect(new Set(found)).toEqual(new Set(columns));
  expect(
    await read(`select format('%s.%s', typname, enumlabel) as item from pg_enum join pg_type on pg_type.oid = enumtypid
     order by pg_type.oid, enumsortorder`),
  ).toEqual(values);
  const named = await read(
    `select indexrelid::regclass::text as item from pg_index join pg_class on pg_class.oid = indrelid where ${ofOurs}
     union all select conname from pg_constraint where contype = 'f'`,
  );
  expect(new Set(named)).toEqual(new Set(names));
});

test('are applied in order, once, and recorded as Prisma records them', async () => {
  expect(await isMigrated(empty)).toBe(false);
  expect(await migrate(empty)).toEqual(names);
  expect(await isMigrated(empty)).toBe(true);
  expect(await migrate(empty)).toEqual([]);

  const { rows } = await empty.pool.query('select * from _prisma_migrations order by started_at, migration_name');
  expect(rows).toEqual(
    files.map(({ name, sql }) => ({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      checksum: createHash('sha256').update(sql).digest('hex'),
      finished_at: expect.any(Date),
      migration_name: name,
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      applied_steps_count: 1,
    })),
  );
  for (const { started_at, finished_at } of rows) expect(finished_at.getTime()).toBeGreaterThanOrEqual(started_at.getTime());

  const { rows: columns } = await empty.pool.query(
    `select column_name || ' ' || udt_name || coalesce('(' || character_maximum_length || ')', '') || ' ' || is_nullable || coalesce(' ' || column_default, '') as column
     from information_schema.columns where table_name = '_prisma_migrations' order by ordinal_position`,
  );
  expect(columns.map(({ column }) => column)).toEqual([
    'id varchar(36) NO',
    'checksum varchar(64) NO',
    'finished_at timestamptz YES',
    'migration_name varchar(255) NO',
    'logs text YES',
    'rolled_back_at timestamptz YES',
    'started_at timestamptz NO now()',
    'applied_steps_count int4 NO 0',
  ]);
});

test('are applied once by several concurrent pools', async () => {
  const others = Array.from({ length: 4 }, () => connectDatabase({ connectionString: empty.url }));
  const applied = await Promise.all(others.map((each) => migrate(each)));
  expect(applied.flat().toSorted((a, b) => a.localeCompare(b))).toEqual(names);
  const { rows } = await empty.pool.query('select migration_name from _prisma_migrations');
  expect(rows).toHaveLength(names.length);
  await Promise.all(others.map((other) => other.close()));
});

test('rejects a migration that was modified after it was applied, by name, and changes nothing', async () => {
  await migrate(empty);
  await empty.pool.query("update _prisma_migrations set checksum = repeat('0', 64)");
  await expect(migrate(empty)).rejects.toThrow(new RegExp(`${names[0]} was modified after it was applied to this database`));
});

test('refuses the database of an older build, and changes nothing', async () => {
  await migrate(empty);
  await empty.pool.query("update _prisma_migrations set migration_name = '20261121030000_init'");
  await expect(migrate(empty)).rejects.toThrow(/^An older build .* made this database.*import them into a new database\.$/);
  const command = await run(['token', 'list'], { DATABASE_URL: empty.url });
  expect(command).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('An older build') });
  expect((await empty.pool.query('select migration_name from _prisma_migrations')).rowCount).toBe(1);
});

test('a migration that fails changes nothing', async () => {
  await empty.pool.query('create table webhook_delivery ()');
  await expect(migrate(empty)).rejects.toThrow(new RegExp(`${names[0]} failed and was rolled back: .*already exists`));
  await expect(empty.pool.query('select from user_group')).rejects.toThrow('does not exist');
});

test('continues with a database that a newer version has migrated, with a warning that names its migrations', async () => {
  await migrate(empty);
  await empty.pool.query(
    "insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'y', '29990101000000_newer', now())",
  );
  const events: string[] = [];
  expect(await migrate(empty, { onEvent: (message) => void events.push(message) })).toEqual([]);
  expect(events).toEqual([expect.stringMatching(/^a newer version .*\(29990101000000_newer\): update this one/)]);
  expect(await isMigrated(empty)).toBe(true);
  // Rows that were copied into a database that had them are no further migrations.
  await empty.pool.query(
    'insert into _prisma_migrations (id, checksum, migration_name, finished_at) select gen_random_uuid(), checksum, migration_name, finished_at from _prisma_migrations',
  );
  expect(await isMigrated(empty)).toBe(true);
  events.length = 0;
  await requireMigrated(empty, { onEvent: (message) => void events.push(message) });
  expect(events).toEqual([expect.stringMatching(/^a newer version/)]);
});

test('the command applies pending migrations and logs them; the second time there are none', async () => {
  const first = await run(['migrate'], { DATABASE_URL: empty.url });
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('up to date'),
    stderr: expect.stringContaining(names[0] ?? ''),
  });
  const second = await run(['migrate'], { DATABASE_URL: empty.url });
  expect(second).toMatchObject({ code: 0, stdout: first.stdout, stderr: '' });
  expect(await isMigrated(empty)).toBe(true);
});
