import { expect, onTestFinished, test } from 'vitest';
import { requireUniqueIndexes } from '../../src/database/unique-indexes.ts';
import { createTestDatabase } from '../support/database.ts';
import { run } from '../support/process.ts';

test('without any of the unique indexes that the migrations make, no command works', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const { rows } = await database.pool.query<{ name: string; definition: string; constraint: string | null; table: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition, conname as constraint, relname as table
     from pg_index join pg_class on pg_class.oid = indrelid left join pg_constraint on conindid = indexrelid and contype = 'p'
     where indisunique and relnamespace = 'public'::regnamespace`,
  );
  expect(rows.length).toBeGreaterThan(15);
  for (const { name, definition, constraint, table } of rows) {
    await database.pool.query(constraint ? `alter table ${table} drop constraint ${constraint} cascade` : `drop index ${name}`);
    await expect(requireUniqueIndexes(database), name).rejects.toThrow(name);
    await database.pool.query(definition);
    if (constraint)
      await database.pool.query(`alter table ${table} add constraint ${constraint} primary key using index ${name}`);
  }
  await requireUniqueIndexes(database);

  await database.pool.query('drop index user_group_token_hash_key');
  const { code, stdout, stderr } = await run(['groups', 'export'], { DATABASE_URL: database.url });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/lacks these keys and unique indexes.*: user_group_token_hash_key\. A restore/);
});
