import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * SQL, recognized by how statements begin, by what prose never contains, by keywords in capitals, and by the methods of Prisma
 * and the placeholders of the driver.
 */
const sql = new RegExp(
  [
    /[`'"]\s*(?:select|insert|update|delete|truncate|(?:alter|create|drop) (?:table|index|type|function|role|extension))\s/,
    /\b(?:insert into|delete from|update \w+( \w+)? set|select [^;'`"]* from|with \w+ as|lock table|set (?:local|session) \w|order by \w+ (?:asc|desc))/,
    /\b(?:SELECT|INSERT|UPDATE|DELETE|TRUNCATE|ALTER|CREATE|DROP|LOCK|SET|WHERE)\s/,
    /\bpg_\w+\(|\$(?:query|execute)Raw|\bPrisma\.(?:sql|raw)\b|(?:[=<>]|\bany\() ?\$[1-9]/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

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
  "query('SELECT 1')",
  'const text = `\n  UPDATE user_group SET name = $1`;',
  "query('DELETE FROM user_group')",
  "query('truncate user_group')",
  "query('alter table user_group add x text')",
  "query('drop index user_group_name')",
  "query('set local statement_timeout = 0')",
  'Prisma.sql`where id = 1`',
  "const tail = ' order by created_at desc limit 1';",
  "const where = 'provided_id = any($1)';",
])('finds the SQL in %j', (text) => {
  expect(findSql(text)).toBeDefined();
});

test.each([
  "message: 'matches both a Customer and a Testing group; select one by teamId.'",
  "description: 'Selects one user group from the environment.'",
  "description: 'get or create user groups, update them and rotate their tokens'",
  "import { updateUserGroup } from '../user-groups/user-groups.ts';",
  "description: 'Changes the given fields.'",
  "message: 'Update the group, or delete it.'",
  "text.replace(/(a)(b)/, '$1')",
])('finds none in %j', (text) => {
  expect(findSql(text)).toBeUndefined();
});

test('only src/database, the statements of nouns, and housekeeping, which is nothing else, contain SQL', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/^(?:database|generated|housekeeping)\/|\/statements(?:\.ts|\/)/.test(file),
  );
  expect(files.length).toBeGreaterThan(50);
  const found = files.map((file) => ({ file, sql: findSql(readFileSync(join('src', file), 'utf8')) }));
  expect(found.filter((each) => each.sql !== undefined)).toEqual([]);
});
