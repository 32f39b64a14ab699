import { afterAll, beforeAll, expect, test } from 'vitest';
import { advanceStatement } from '../../src/database/backup/restored-database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { snippetsOf } from '../support/snippets.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const maxInteger = 2_147_483_647;

test.each<[sequence: string, last: number | undefined, least: number, most: number]>([
  ['user_group_team_id_seq', undefined, 1_000_001, 2_000_001],
  ['user_group_team_id_seq', 7, 1_000_008, 2_000_008],
  ['event_id_seq', 7, 1_000_000_008, 2_000_000_008],
  ['user_group_team_id_seq', maxInteger - 1_000, maxInteger - 499, maxInteger - 499],
  ['user_group_team_id_seq', maxInteger - 1, maxInteger, maxInteger],
])(
  'after the statement in docs/operations.md, the sequence %s whose last number was %s continues behind it',
  async (sequence, last, least, most) => {
    const [statement] = snippetsOf('docs/operations.md').filter(({ language }) => language === 'sql');
    expect(statement?.text.trim()).toBe(`${advanceStatement};`);
    await database.pool.query('select setval($1::regclass, coalesce($2, 1), $2::bigint is not null)', [sequence, last]);
    await database.pool.query(statement?.text ?? '');
    const { rows } = await database.pool.query<{ next: string }>('select nextval($1::regclass) as next', [sequence]);
    expect(Number(rows[0]?.next)).toBeGreaterThanOrEqual(least);
    expect(Number(rows[0]?.next)).toBeLessThanOrEqual(most);
  },
);
