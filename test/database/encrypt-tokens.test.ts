import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { migrate } from '../../src/database/migrate.ts';
import { createDb } from '../../src/db.ts';
import { decryptToken, encryptToken } from '../../src/encryption/stored-token.ts';
import { issueToken } from '../../src/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testKeys } from '../support/keys.ts';
import { until } from '../support/process.ts';
import { dataFilesWith, dumpOf } from '../support/stored-text.ts';
import { tokensOf } from '../support/tokens.ts';

const names = readdirSync('prisma/migrations')
  .filter((name) => /^\d/.test(name))
  .sort();
const encryption = names.find((name) => name.endsWith('_encrypt_tokens')) ?? '';
const earlier = names
  .slice(0, names.indexOf(encryption))
  .map((name) => ({ name, sql: readFileSync(`prisma/migrations/${name}/migration.sql`, 'utf8') }));
const encrypt = { encryptToken: (table: 'user_group' | 'retired_token', token: string) => encryptToken(testKeys, table, token) };

/** More than two batches. */
const groupCount = 4_100;
const current = Array.from({ length: groupCount }, () => issueToken('userGroup'));
const retired = Array.from({ length: 50 }, (_, index) => (index % 2 ? issueToken('userGroup') : `imported token of Ω ${index}`));

/** Any of them. */
const anyToken = new RegExp(`${tokensOf('userGroup').source}|imported token of`);

let database: TestDatabase;

/**
 * A database as the version before made and used it: with text in rows, in old versions of rows, in indexes and in statistics.
 */
beforeEach(async () => {
  database = await createTestDatabase('template0');
  await database.pool.query(
    `create table _prisma_migrations (id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz,
       migration_name varchar(255) not null, logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(),
       applied_steps_count integer not null default 0)`,
  );
  for (const { name, sql } of earlier) {
    await database.pool.query(sql);
    await database.pool.query(
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
       values (left($1, 36), encode(sha256(convert_to($2, 'UTF8')), 'hex'), $1, now())`,
      [name, sql],
    );
  }
  await database.pool.query(
    `insert into user_group (provided_id, name, token, updated_at)
     select 'group ' || n, 'Group', token, '2020-01-01' from unnest($1::text[]) with ordinality as given (token, n)`,
    [current],
  );
  await database.pool.query(
    `insert into retired_token (token, team_id, expires_at)
     select token, n, now() + interval '1 hour' from unnest($1::text[]) with ordinality as given (token, n)`,
    [retired],
  );
  await database.pool.query("update user_group set name = 'Changed' where team_id % 10 = 0");
  await database.pool.query('analyze');
});
afterEach(() => database.close());

test('a database of the version before is converted: every token finds its group and decrypts, nothing else changes', async () => {
  expect(await migrate(database, encrypt)).toContain(encryption);

  const { userGroup } = createDb(database);
  const found = await Promise.all([...current, ...retired].map((token) => userGroup.findByTokenHash(testKeys.hashes(token))));
  expect(found.map((each) => each?.userGroup.teamId)).toEqual(
    [...current, ...retired].map((_, index) => (index % groupCount) + 1),
  );
  expect(found.every((each, index) => each?.isCurrent === index < groupCount)).toBe(true);

  const groups = await database.prisma.userGroup.findMany({ orderBy: { teamId: 'asc' } });
  expect(groups.map((group) => decryptToken(testKeys, 'user_group', group))).toEqual(current);
  expect(groups[9]).toMatchObject({
    teamId: 10,
    providedId: 'group 10',
    name: 'Changed',
    updatedAt: new Date('2020-01-01T00:00:00Z'),
  });
  const rows = await database.prisma.retiredToken.findMany({ orderBy: { teamId: 'asc' } });
  expect(rows.map((row) => decryptToken(testKeys, 'retired_token', row))).toEqual(retired);
});

test('afterwards neither a dump nor the data files contain a token', async () => {
  expect(await dumpOf(database)).toMatch(anyToken);
  expect((await dataFilesWith(database, anyToken)).length).toBeGreaterThan(3); // tables, indexes, statistics
  await migrate(database, encrypt);
  const dump = await dumpOf(database);
  expect(dump).toContain('group 4100');
  expect(dump).not.toMatch(anyToken);
  expect(await dataFilesWith(database, anyToken)).toEqual([]);
});

test.each([
  ['another transaction', false],
  ['a transaction in another database', true],
])('nor when %s could still see the statistics of before', async (_, isElsewhere) => {
  const elsewhere = isElsewhere ? await createTestDatabase('template0') : undefined;
  const other = await (elsewhere ?? database).pool.connect();
  await other.query('begin isolation level repeatable read');
  await other.query('select pg_current_xact_id()');
  const migrated = migrate(database, encrypt);
  await until(async () => (await waitingQueries()) > 0, 'the migration waits for the transaction');
  await other.query('commit');
  other.release();
  await migrated;
  expect(await dataFilesWith(database, anyToken)).toEqual([]);
  await elsewhere?.close();
});

/** How many connections have just looked for transactions older than their own. */
async function waitingQueries(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and query like '%age(backend_xmin)%' and pid <> pg_backend_pid()",
  );
  return rows[0]?.count ?? 0;
}

test('a role that may not rewrite the statistics gets a message with the statement; the tokens are encrypted all the same', async () => {
  const name = new URL(database.url).pathname.slice(1);
  const role = `owner_of_${name}`;
  await database.pool.query(
    `create role ${role} login password 'limited'; grant usage, create on schema public to ${role};
     grant create on database ${name} to ${role};
     alter table user_group owner to ${role}; alter table retired_token owner to ${role}; alter table _prisma_migrations owner to ${role};
     alter table api_token owner to ${role}`,
  );
  const limited = connectDatabase({
    connectionString: Object.assign(new URL(database.url), { username: role, password: 'limited' }).href,
  });
  const events: string[] = [];
  await migrate(limited, { ...encrypt, onEvent: (message) => void events.push(message) });
  await limited.close();
  expect(events).toEqual([
    expect.stringMatching(/may still contain some user group tokens.*run there: vacuum full pg_statistic;$/),
  ]);
  expect(await dumpOf(database)).not.toMatch(anyToken);
  await database.pool.query(`drop owned by ${role} cascade; drop role ${role}`);
});

test.each([
  ['a tool that has only the SQL', {}, /must be encrypted, which SQL cannot do.*command "migrate"/],
  [
    'a process that ends in the middle',
    {
      encryptToken: (table: 'user_group' | 'retired_token', token: string) => {
        if (token === current[3_000]) throw new Error('killed');
        return encrypt.encryptToken(table, token);
      },
    },
    /failed and was rolled back: killed/,
  ],
])('%s leaves the database as it was, and a later conversion succeeds', async (_, options, message) => {
  const untouched = await dumpOf(database);
  await expect(migrate(database, options)).rejects.toThrow(message);
  expect(await dumpOf(database)).toBe(untouched);
  expect(await migrate(database, encrypt)).toContain(encryption);
});
