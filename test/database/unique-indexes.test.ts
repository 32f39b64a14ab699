import { expect, onTestFinished, test } from 'vitest';
import { requireUniqueIndexes } from '../../src/database/unique-indexes.ts';
import { createTestDatabase } from '../support/database.ts';
import { run } from '../support/process.ts';

/** The SQL that a message names. */
const remedyOf = (message: string) => /^ {2}(drop index if exists .*; create .*)$/m.exec(message)?.[1];

test('each unique index that the migrations make is required, and the SQL that creates it is named', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const { rows } = await database.pool.query<{ name: string; constraint: string | null; table: string; key: string }>(
    `select indexrelid::regclass::text as name, conname as constraint, indrelid::regclass::text as table,
       pg_get_constraintdef(pg_constraint.oid) as key
     from pg_index join pg_class on pg_class.oid = indrelid left join pg_constraint on conindid = indexrelid and contype = 'p'
     where indisunique and relnamespace = 'public'::regnamespace`,
  );
  expect(rows.length).toBeGreaterThan(15);
  for (const { name, constraint, table, key } of rows) {
    await database.pool.query(constraint ? `alter table ${table} drop constraint ${constraint} cascade` : `drop index ${name}`);
    const message = await requireUniqueIndexes(database).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message, name).toContain(constraint ? `the primary key of ${table}` : `create unique index ${name} on ${table} (`);
    await database.pool.query(remedyOf(message) ?? `alter table ${table} add ${key}`);
    await requireUniqueIndexes(database);
  }

  await database.pool.query('alter index user_group_token_hash_key set (fillfactor = 80)');
  await database.pool.query('alter index user_group_token_hash_key rename to idx_1');
  await requireUniqueIndexes(database);

  // One that is checked at the end of a transaction tells no write of a conflict.
  await database.pool.query(
    'drop index signing_key_id_key; alter table signing_key add constraint signing_key_id_key unique (id) deferrable',
  );
  await expect(requireUniqueIndexes(database)).rejects.toThrow('create unique index signing_key_id_key on signing_key (id)');
  await database.pool.query(
    'alter table signing_key drop constraint signing_key_id_key; create unique index signing_key_id_key on signing_key (id)',
  );

  // By the names of these, errors say in which environment an id is taken.
  await database.pool.query('alter index user_group_provided_id_testing_key rename to idx_2');
  await expect(requireUniqueIndexes(database)).rejects.toThrow('stored twice: user_group_provided_id_testing_key.');
  await database.pool.query('alter index idx_2 rename to user_group_provided_id_testing_key');

  // An index of the same name on something else is none.
  const own = 'user_group_provided_id_customer_key';
  await database.pool.query(`drop index ${own}; create unique index ${own} on user_group (team_id)`);
  // Which each new connection has.
  await database.pool.query(`alter database "${new URL(database.url).pathname.slice(1)}" set quote_all_identifiers = on`);
  const { code, stdout, stderr } = await run(['groups', 'export'], { DATABASE_URL: database.url });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`lacks unique indexes, so that a user group could be stored twice: ${own}.`);
  await database.pool.query(remedyOf(stderr) ?? '');
  await requireUniqueIndexes(database);
});
