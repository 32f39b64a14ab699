import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Context, contextOf, inTransaction } from '../../src/app.ts';
import { getOrCreateUserGroup } from '../../src/user-groups/create.ts';
import { currentTokenOf, findUserGroup } from '../../src/user-groups/user-groups.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { appOn } from '../support/queries.ts';

/** What is written, and a copy for look-ups that no change reaches. */
let primary: TestDatabase;
let copy: TestDatabase;

const contextIn = (environmentTag: 'Customer' | null): Context =>
  contextOf(appOn({ ...primary, lookups: copy }), callerWith({ environmentTag, scopes: ['groups:read', 'groups:write'] }));

beforeAll(async () => {
  [primary, copy] = [await createTestDatabase(), await createTestDatabase()];
});
afterAll(async () => {
  await primary.close();
  await copy.close();
});

test('look-ups use the database for look-ups, writes the other', async () => {
  const context = contextIn('Customer');
  const { userGroup, created } = await getOrCreateUserGroup(context, { providedId: 'written' });
  expect(created).toBe(true);
  expect(await findUserGroup(context, { token: currentTokenOf(context, userGroup) })).toBeUndefined();
  expect(await primary.prisma.userGroup.count({ where: { providedId: 'written' } })).toBe(1);
  expect(await copy.prisma.userGroup.count()).toBe(0);
});

test('look-ups in a transaction use its database, and find what it wrote', async () => {
  await inTransaction(contextIn('Customer'), async (context) => {
    const { userGroup } = await getOrCreateUserGroup(context, { providedId: 'in a transaction' });
    const { teamId } = userGroup;
    expect(await findUserGroup(context, { teamId })).toMatchObject({ teamId });
  });
});

test('get-or-create returns a group that the copy does not have yet', async () => {
  const context = contextIn('Customer');
  const first = await getOrCreateUserGroup(context, { providedId: 'recent', name: 'first' });
  const { userGroup, created } = await getOrCreateUserGroup(context, { providedId: 'recent', name: 'second' });
  expect({ created, token: currentTokenOf(context, userGroup), name: userGroup.name }).toEqual({
    created: false,
    token: currentTokenOf(context, first.userGroup),
    name: 'first',
  });
});

test('get-or-create conflicts with a group that the copy does not have yet', async () => {
  await getOrCreateUserGroup(contextIn('Customer'), { providedId: 'held' });
  const conflicting = getOrCreateUserGroup(contextIn(null), { providedId: 'held' });
  await expect(conflicting).rejects.toMatchObject({ code: 'CONFLICT' });
});
