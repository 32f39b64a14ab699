import { afterAll, beforeAll, expect, test } from 'vitest';
import { getOrCreateUserGroup, getOrCreateUserGroups } from '../../src/user-groups/create.ts';
import type { Services } from '../../src/user-groups/user-groups.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken } from '../support/keys.ts';
import { bindQueries } from '../support/queries.ts';

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
function contended(providedId: string, times: number): Services {
  let left = times;
  const query: TestDatabase['query'] = async (name, ...statement) => {
    if (name !== 'insert-groups' || left === 0) return database.query(name, ...statement);
    left -= 1;
    const token = storedToken('a token of the other group');
    const data = { providedId, environmentTag: 'Testing', name: 'other', ...token } as const;
    const { teamId } = await database.prisma.userGroup.create({ data });
    const rows = await database.query(name, ...statement);
    await database.prisma.userGroup.delete({ where: { teamId } });
    return rows;
  };
  return bindQueries({ ...database, query });
}

test('a group that is in the way and then deleted does not keep get-or-create from creating one', async () => {
  const result = await getOrCreateUserGroup(contended('single', 2), caller, { providedId: 'single' });
  expect(result).toMatchObject({ created: true });
});

test('the same in a bulk call, whose other groups are created as well', async () => {
  const inputs = [{ providedId: 'before' }, { providedId: 'bulk' }, { providedId: 'bulk' }, { providedId: 'after' }];
  const results = await getOrCreateUserGroups(contended('bulk', 2), caller, inputs, { withJson: true });
  expect(results).toMatchObject([{ created: true }, { created: true }, { created: false }, { created: true }]);
});

test.each(['single', 'bulk'])('after five attempts it is UNAVAILABLE, and can be repeated: %s', async (way) => {
  const providedId = `always contended ${way}`;
  const services = contended(providedId, 5);
  const attempt = () =>
    way === 'single'
      ? getOrCreateUserGroup(services, caller, { providedId })
      : getOrCreateUserGroups(services, caller, [{ providedId }], { withJson: false });
  await expect(attempt()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('safe to try again') });
  expect([await attempt()].flat()).toMatchObject([{ created: true }]);
});
