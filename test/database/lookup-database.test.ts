import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../../src/caller.ts';
import { createDb, createTransactionDb } from '../../src/db.ts';
import { getOrCreateUserGroup } from '../../src/user-groups/create.ts';
import { currentTokenOf, findUserGroup, type Services } from '../../src/user-groups/user-groups.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { bindQueries } from '../support/queries.ts';

/** What is written, and a copy for look-ups that no change reaches. */
let primary: TestDatabase;
let copy: TestDatabase;
let services: Services;

const callerOf = (environmentTag: 'Customer' | null): Caller =>
  callerWith({
    id: 1,
    name: 'test',
    environmentTag,
    scopes: ['groups:read', 'groups:write'],
  });

beforeAll(async () => {
  [primary, copy] = [await createTestDatabase(), await createTestDatabase()];
  services = { ...bindQueries(primary), db: createDb({ ...primary, lookups: copy }) };
});
afterAll(async () => {
  await primary.close();
  await copy.close();
});

test('look-ups use the database that they are bound to, writes the other', async () => {
  const caller = callerOf('Customer');
  const { userGroup, created } = await getOrCreateUserGroup(services, caller, { providedId: 'written' });
  expect(created).toBe(true);
  expect(await findUserGroup(services, caller, { token: currentTokenOf(services, caller, userGroup) })).toBeUndefined();
  expect(await primary.prisma.userGroup.count({ where: { providedId: 'written' } })).toBe(1);
  expect(await copy.prisma.userGroup.count()).toBe(0);
});

test('look-ups in a transaction use its database, and find what it wrote', async () => {
  const caller = callerOf('Customer');
  await primary.interactiveTransaction(async (transaction) => {
    const inside = { ...services, db: createTransactionDb(transaction) };
    const { userGroup } = await getOrCreateUserGroup(inside, caller, { providedId: 'in a transaction' });
    const { teamId } = userGroup;
    expect(await findUserGroup(inside, caller, { teamId })).toMatchObject({ teamId });
  });
});

test('get-or-create returns a group that the copy does not have yet', async () => {
  const caller = callerOf('Customer');
  const first = await getOrCreateUserGroup(services, caller, { providedId: 'recent', name: 'first' });
  const { userGroup, created } = await getOrCreateUserGroup(services, caller, { providedId: 'recent', name: 'second' });
  expect({ created, token: currentTokenOf(services, caller, userGroup), name: userGroup.name }).toEqual({
    created: false,
    token: currentTokenOf(services, caller, first.userGroup),
    name: 'first',
  });
});

test('get-or-create conflicts with a group that the copy does not have yet', async () => {
  await getOrCreateUserGroup(services, callerOf('Customer'), { providedId: 'held' });
  const conflicting = getOrCreateUserGroup(services, callerOf(null), { providedId: 'held' });
  await expect(conflicting).rejects.toMatchObject({ code: 'CONFLICT' });
});
