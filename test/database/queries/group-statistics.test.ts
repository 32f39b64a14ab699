import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../src/database/client.ts';
import { trackNewGroups } from '../../../src/database/queries/group-statistics.ts';
import { bindLookups } from '../../../src/database/queries/lookups.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { importText } from '../../support/group-files.ts';
import { testKeys } from '../../support/keys.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  // Otherwise PostgreSQL might update the statistics itself.
  await database.pool.query('alter table user_group set (autovacuum_enabled = off)');
});
beforeEach(() => database.pool.query('truncate user_group cascade'));
afterAll(() => database.close());

const tokenOf = (index: number) => `token of imported group ${index}`;
const importGroups = (from: number, to: number, options: object = {}) => {
  const line = (index: number) =>
    JSON.stringify({ user_group_id: `group ${index}`, token: tokenOf(index), environment: 'Testing' });
  const lines = Array.from({ length: to - from }, (_, index) => line(from + index));
  return importText(database, `${lines.join('\n')}\n`, { format: 'ndjson', ...options });
};

const countedGroups = async (): Promise<number> =>
  (await database.pool.query(`select reltuples::int from pg_class where relname = 'user_group'`)).rows[0].reltuples;

test('after an import, the look-ups of a gateway that had few groups use indexes instead of reading the whole table', async () => {
  const running = connectDatabase({ connectionString: database.url }, { namedStatements: true, poolSize: 1 });
  onTestFinished(() => running.close());
  await importGroups(0, 20);
  const hashes = Array.from({ length: 20 }, (_, index) => testKeys.hashes(tokenOf(index)));
  // PostgreSQL keeps a plan from the sixth time on.
  for (let time = 0; time < 8; time += 1) {
    const { groupByTokenHash } = bindLookups(running);
    const lookUp = () => Promise.all(hashes.map((each) => groupByTokenHash(each)));
    await lookUp(); // by token
    await lookUp(); // by location
  }
  const plansNow = async () => {
    const explain = async (name: string, type: string) =>
      (await running.pool.query(`explain execute "${name}" ('{}'::${type}[])`)).rows.map((row) => row['QUERY PLAN']).join('\n');
    return [await explain('groups-at-locations', 'tid'), await explain('groups-by-current-token', 'bytea')];
  };
  expect(await plansNow()).toEqual([expect.stringContaining('Seq Scan'), expect.stringContaining('Seq Scan')]);
  await importGroups(20, 3_000);
  expect(await plansNow()).toEqual([expect.stringContaining('Tid Scan'), expect.stringContaining('Index')]);
});

test('statistics are updated when the groups have doubled, by a thousand at least', async () => {
  const addGroups = async (count: number) => {
    await database.pool.query(
      `insert into user_group (provided_id, name, token_hash, token_encrypted)
       select gen_random_uuid(), 'Group', decode(md5(gen_random_uuid()::text), 'hex'), '' from generate_series(1, $1)`,
      [count],
    );
    await addNewGroups(count);
    return countedGroups();
  };
  await database.pool.query('analyze user_group');
  let addNewGroups = trackNewGroups(database);
  expect([await addGroups(999), await addGroups(1), await addGroups(999), await addGroups(500), await addGroups(1_500)]).toEqual([
    0, 1_000, 1_000, 2_499, 2_499,
  ]);
  addNewGroups = trackNewGroups(database); // another import
  expect([await addGroups(2_000), await addGroups(499)]).toEqual([2_499, 6_498]);
});

test.each([
  ['a dry run', 0, { dryRun: true }],
  ['an import', 1_000, {}],
])('after %s of 1,000 groups, %d are in the statistics', async (_, expected, options) => {
  await database.pool.query('analyze user_group');
  await importGroups(0, 1_000, options);
  expect(await countedGroups()).toBe(expected);
});
