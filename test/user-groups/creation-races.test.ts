import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/app.ts';
import type { Sql } from '../../src/database/client.ts';
import { getOrCreateUserGroup, getOrCreateUserGroups } from '../../src/user-groups/create.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken } from '../support/keys.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const caller = callerWith({
  id: 1,
  name: 'test',
  environmentTag: 'Testing',
  scopes: ['groups:write'],
});

/** A database in which another group takes the id just before the first `times` insertions, and is deleted just after them. */
function contended(providedId: string, times: number): Context {
  let left = times;
  const sql: Sql = async <Row extends object>(...statement: Parameters<Sql>) => {
    const [name] = statement;
    if (name !== 'insert-groups' || left === 0) return database.sql<Row>(...statement);
    left -= 1;
    const token = storedToken('a token of the other group');
    const data = { providedId, environmentTag: 'Testing', name: 'other', ...token } as const;
    const { teamId } = await database.prisma.userGroup.create({ data });
    const rows = await database.sql<Row>(...statement);
    await database.prisma.userGroup.delete({ where: { teamId } });
    return rows;
  };
  return contextOn({ ...database, sql }, caller);
}

test('a group that is in the way and then deleted does not keep get-or-create from creating one, and others as well', async () => {
  const inputs = [{ providedId: 'before' }, { providedId: 'bulk' }, { providedId: 'bulk' }, { providedId: 'after' }];
  const results = await getOrCreateUserGroups(contended('bulk', 2), inputs, false);
  expect(results).toMatchObject([{ created: true }, { created: true }, { created: false }, { created: true }]);
});

test.each(['single', 'bulk'])('after five attempts it is UNAVAILABLE, and can be repeated: %s', async (way) => {
  const providedId = `always contended ${way}`;
  const context = contended(providedId, 5);
  const attempt = () =>
    way === 'single' ? getOrCreateUserGroup(context, { providedId }) : getOrCreateUserGroups(context, [{ providedId }], false);
  await expect(attempt()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('safe to try again') });
  expect([await attempt()].flat()).toMatchObject([{ created: true }]);
});
