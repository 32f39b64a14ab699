import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** SQL, recognized by how statements begin and by what prose never contains, and Prisma's methods that take SQL. */
const sql =
  /[`'"]\s*(?:select|insert|update|delete)\s|\b(?:insert into|delete from|update \w+( \w+)? set|select [^;'`"]* from|with \w+ as|lock table)\s|\bpg_\w+\(|\$(?:query|execute)Raw/;

const findSql = (text: string): string | undefined => sql.exec(text)?.[0].trim();

test.each([
  "query('any', 'select from api_token limit 1', [])",
  'const text = `\n  select 1 as x\n  from y`;',
  'const text = `(a) union all select a from b `;',
  'const text = `\n  with locked as (`;',
  "client.query('update user_group set name = $1')",
  'const tail = `; delete from retired_token r`;',
  '`lock table x; insert into x (y)`',
  "query(name, 'delete from x', [])",
  '`perform pg_advisory_xact_lock(5)`',
  'transaction.$executeRaw`…`',
  'prisma.$queryRawUnsafe(text)',
])('finds the SQL in %j', (text) => {
  expect(findSql(text)).toBeDefined();
});

test.each([
  "message: 'matches both a Customer and a Testing group; select one by teamId.'",
  "description: 'Selects one user group from the environment.'",
  "description: 'get or create user groups, update them and rotate their tokens'",
  "import { updateUserGroup } from '../../domain/user-groups.ts';",
  "description: 'Changes the given fields.'",
])('finds none in %j', (text) => {
  expect(findSql(text)).toBeUndefined();
});

test('only src/database contains SQL', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/^(database|generated)\//.test(file),
  );
  expect(files.length).toBeGreaterThan(50);
  const found = files.map((file) => ({ file, sql: findSql(readFileSync(join('src', file), 'utf8')) }));
  expect(found.filter((each) => each.sql !== undefined)).toEqual([]);
});
