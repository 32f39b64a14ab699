import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { updateGrownStatistics } from '../../src/database/table-statistics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  // Otherwise PostgreSQL might update the statistics itself.
  await database.pool.query('alter table retired_secret set (autovacuum_enabled = off)');
  await database.pool.query("insert into api_token (name, secret_hash, scopes) values ('test', '', '{}')");
});
afterEach(() => database.close());

/** Changes rows, and has PostgreSQL count them at once, not only when the connection is idle. */
const change = (name: string, text: string, ...values: unknown[]) =>
  database.transaction(async (query) => {
    await query(name, text, values);
    await query('flush', 'select pg_stat_force_next_flush()', []);
  });

/** Some 100 rows make a page. */
const add = (rows: number) =>
  change(
    'add',
    `insert into retired_secret (secret_hash, api_token_id, expires_at)
     select sha256(gen_random_uuid()::text::bytea), 1, now() from generate_series(1, $1::int)`,
    rows,
  );

/** How many rows the statistics know of; -1 if there are none. */
async function knownRows(): Promise<number> {
  const { rows } = await database.pool.query("select reltuples::int as known from pg_class where relname = 'retired_secret'");
  return rows[0].known;
}

async function knownAfter(
  rows: number,
  updating: Pick<Database, 'query' | 'interactiveTransaction'> = database,
): Promise<number> {
  await add(rows);
  await updateGrownStatistics(updating);
  return knownRows();
}

test('statistics are updated when a table has doubled, from 16 pages on', async () => {
  expect([await knownAfter(800), await knownAfter(1_200), await knownAfter(1_000), await knownAfter(1_200)]).toEqual([
    -1, 2_000, 2_000, 4_200,
  ]);
});

test('statistics are updated when the rows have doubled in pages that deleted ones have left', async () => {
  await knownAfter(5_000);
  await change('remove', 'delete from retired_secret');
  await database.pool.query('vacuum (truncate off, analyze) retired_secret');
  expect(await knownRows()).toBe(0);
  expect(await knownAfter(3_000)).toBe(3_000);
});

test('of several processes one updates them', async () => {
  await add(2_000);
  await Promise.all(Array.from({ length: 5 }, () => updateGrownStatistics(database)));
  const { rows } = await database.pool.query(
    "select analyze_count::int from pg_stat_user_tables where relname = 'retired_secret'",
  );
  expect(rows).toEqual([{ analyze_count: 1 }]);
});

/** Has two tables grow. */
async function growTwo(): Promise<void> {
  await database.pool.query('alter table event set (autovacuum_enabled = off)');
  await add(2_000);
  await database.pool.query(
    "insert into event (type, environment, actor_kind, actor_name) select 'test', 'None', 'SYSTEM', 'test' from generate_series(1, 2000)",
  );
}

/** The database, with something that is called before each update of the statistics of a table. */
const withCall = (onAnalyze: (name: string) => void): Pick<Database, 'query' | 'interactiveTransaction'> => ({
  query: database.query,
  interactiveTransaction: (work) =>
    database.interactiveTransaction((transaction) =>
      work({
        ...transaction,
        queryLast(name, ...rest) {
          onAnalyze(name);
          transaction.queryLast(name, ...rest);
        },
      }),
    ),
});

test.each(['first', 'second'])(
  'a failure at the %s of two tables leaves the other one updated, and that one to be tried again',
  async (which) => {
    await growTwo();
    let analyzed = 0;
    const failing = withCall(() => {
      analyzed += 1;
      if (analyzed === ['first', 'second'].indexOf(which) + 1)
        throw Object.assign(new Error(`of the ${which} table`), { code: '57014' }); // of a statement that took too long
    });
    const known = async () => {
      const { rows } = await database.pool.query("select distinct tablename from pg_stats where schemaname = 'public'");
      return rows.length;
    };
    await expect(updateGrownStatistics(failing)).rejects.toThrow(`of the ${which} table`);
    expect(await known()).toBe(1);
    await updateGrownStatistics(database);
    expect(await known()).toBe(2);
  },
);

test('it stops between two tables', async () => {
  await growTwo();
  const controller = new AbortController();
  const analyzed: string[] = [];
  const updating = withCall((name) => {
    analyzed.push(name);
    controller.abort();
  });
  await updateGrownStatistics(updating, controller.signal);
  expect(analyzed).toHaveLength(1);
  await updateGrownStatistics(updating);
  expect(analyzed).toHaveLength(2);
});

test.each(['share update exclusive', 'access exclusive'])(
  'a table that another process has locked in %s mode is left to it, without waiting',
  async (mode) => {
    const other = new pg.Client(database.url);
    await other.connect();
    await add(2_000);
    await other.query(`begin; lock table retired_secret in ${mode} mode`);
    await updateGrownStatistics(database);
    expect(await knownRows()).toBe(-1);
    await other.end();
    expect(await knownAfter(0)).toBe(2_000);
  },
);

test('a role that may not update them leaves them, without a warning', async () => {
  const role = `role_${new URL(database.url).pathname.slice(1)}`;
  await database.pool.query(`create role ${role} login password 'limited'`);
  const url = new URL(database.url);
  Object.assign(url, { username: role, password: 'limited' });
  const limited = connectDatabase({ connectionString: url.href }, { namedStatements: true, poolSize: 1 });
  const notices: unknown[] = [];
  limited.pool.on('connect', (client) => client.on('notice', (notice) => notices.push(notice.message)));
  expect(await knownAfter(2_000, limited)).toBe(-1);
  await database.pool.query(`grant maintain on retired_secret to ${role}`);
  expect(await knownAfter(0, limited)).toBe(2_000);
  expect(notices).toEqual([]);
  await limited.close();
  await database.pool.query(`drop owned by ${role}; drop role ${role}`);
});
