import { afterAll, beforeAll, expect, test } from 'vitest';
import { extendPrisma, extendPrismaInUnit, type StatementOptions } from '../../src/database/queries/extended-prisma.ts';
import { Caller } from '../../src/domain/caller.ts';
import { getOrCreateUserGroup } from '../../src/domain/user-group-creation.ts';
import { currentTokenOf, type Db, findUserGroup } from '../../src/domain/user-groups.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { bindQueries } from '../support/queries.ts';

/** What is written, and a copy for look-ups that no change reaches. */
let primary: TestDatabase;
let copy: TestDatabase;
let db: Db;

const callerOf = (environmentTag: 'Customer' | null): Caller =>
  new Caller({
    id: 1,
    name: 'test',
    environmentTag,
    scopes: ['groups:read', 'groups:write'],
    createdAt: new Date(0),
    expiresAt: null,
    lastUsedAt: null,
  });

beforeAll(async () => {
  [primary, copy] = [await createTestDatabase(), await createTestDatabase()];
  db = { ...bindQueries(primary), prisma: extendPrisma(primary, { lookups: copy }) };
});
afterAll(async () => {
  await primary.close();
  await copy.close();
});

test('look-ups use the database that they are bound to, writes the other', async () => {
  const caller = callerOf('Customer');
  const { userGroup, created } = await getOrCreateUserGroup(db, caller, { providedId: 'written' });
  expect(created).toBe(true);
  expect(await findUserGroup(db, caller, { token: currentTokenOf(db, caller, userGroup) })).toBeUndefined();
  expect(await primary.prisma.userGroup.count({ where: { providedId: 'written' } })).toBe(1);
  expect(await copy.prisma.userGroup.count()).toBe(0);
});

test('look-ups in a transaction use its database, and find what it wrote', async () => {
  const caller = callerOf('Customer');
  const options: StatementOptions = { lookups: copy };
  await primary.workUnit(async (unit) => {
    const inside = { ...db, prisma: extendPrismaInUnit(unit, options) };
    const { userGroup } = await getOrCreateUserGroup(inside, caller, { providedId: 'in a transaction' });
    const { teamId } = userGroup;
    expect(await findUserGroup(inside, caller, { teamId })).toMatchObject({ teamId });
  });
});

test('get-or-create returns a group that the copy does not have yet', async () => {
  const caller = callerOf('Customer');
  const first = await getOrCreateUserGroup(db, caller, { providedId: 'recent', name: 'first' });
  const { userGroup, created } = await getOrCreateUserGroup(db, caller, { providedId: 'recent', name: 'second' });
  expect({ created, token: currentTokenOf(db, caller, userGroup), name: userGroup.name }).toEqual({
    created: false,
    token: currentTokenOf(db, caller, first.userGroup),
    name: 'first',
  });
});

test('get-or-create conflicts with a group that the copy does not have yet', async () => {
  await getOrCreateUserGroup(db, callerOf('Customer'), { providedId: 'held' });
  const conflicting = getOrCreateUserGroup(db, callerOf(null), { providedId: 'held' });
  await expect(conflicting).rejects.toMatchObject({ code: 'CONFLICT' });
});
