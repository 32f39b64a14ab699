import { afterAll, beforeAll, expect, test } from 'vitest';
import { setUserGroupEnvironment, updateUserGroup } from '../../../src/user-groups/change.ts';
import { draftOf, getOrCreateUserGroup, getOrCreateUserGroups } from '../../../src/user-groups/create.ts';
import { insertImported, updateImported } from '../../../src/user-groups/statements/import.ts';
import { currentTokenOf, rotateUserGroupToken, type Services } from '../../../src/user-groups/user-groups.ts';
import { callerWith } from '../../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testKeys } from '../../support/keys.ts';
import { bindQueries } from '../../support/queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const caller = callerWith({
  id: 1,
  name: 'test',
  environmentTag: null,
  scopes: ['admin'],
});

/** Sends a statement in the transaction of a change. */
type Send = (text: string) => Promise<unknown>;

/** Makes a change, and calls `begin` before it in its transaction. */
type Change = (providedId: string, begin: (send: Send) => Promise<unknown>) => Promise<unknown>;

const inUnit =
  (change: (services: Services, providedId: string) => Promise<unknown>): Change =>
  (providedId, begin) =>
    database.interactiveTransaction(async (transaction) => {
      await begin((text) => transaction.query(text, text, []));
      await change(bindQueries(transaction), providedId);
    });

const active = { suspended: false, suspendedReason: null };

const creations: Readonly<Record<string, Change>> = {
  'get-or-create': inUnit((services, providedId) => getOrCreateUserGroup(services, caller, { providedId })),
  'get-or-create of many': inUnit((services, providedId) =>
    getOrCreateUserGroups(services, caller, [{ providedId }, { providedId: `${providedId} too` }], { withJson: true }),
  ),
  'an import': (providedId, begin) =>
    database.transaction(async (query) => {
      await begin((text) => query(text, text, []));
      await insertImported(query, [{ ...draftOf(testKeys, { providedId }, null, caller.author).draft, ...active }]);
    }),
};

const changes: Readonly<Record<string, Change>> = {
  'an update': inUnit((services, providedId) => updateUserGroup(services, caller, { providedId }, { name: 'changed' })),
  'a patch': inUnit((services, providedId) => updateUserGroup(services, caller, { providedId }, { mergeProperties: { a: 1 } })),
  'a move': inUnit((services, providedId) => setUserGroupEnvironment(services, caller, { providedId }, 'Customer')),
  'a rotation': inUnit(async (services, providedId) => {
    const { userGroup } = await getOrCreateUserGroup(services, caller, { providedId });
    await rotateUserGroupToken(services, caller, { currentToken: currentTokenOf(services, caller, userGroup) });
  }),
  'an import': (providedId, begin) =>
    database.transaction(async (query) => {
      await begin((text) => query(text, text, []));
      const unchanged = { mapping: undefined, properties: undefined, tokenHash: undefined, tokenEncrypted: undefined };
      const target = { teamId: await teamIdOf(providedId), environmentTag: caller.environmentTag };
      await updateImported(query, [{ ...target, name: 'changed', ...unchanged, ...active }]);
    }),
};

const teamIdOf = async (providedId: string): Promise<number> =>
  (await database.prisma.userGroup.findFirstOrThrow({ where: { providedId } })).teamId;

/** The times of a group after a change, in milliseconds since its transaction began, which was 200 ms before the change. */
async function timesAfter(change: Change, providedId: string) {
  await change(providedId, async (send) => {
    await send('create table if not exists transaction_start (at timestamptz)');
    await send('insert into transaction_start values (now())');
    await send('select pg_sleep(0.2)');
  });
  const { rows } = await database.pool.query<{ created: number; updated: number; isNew: boolean }>(
    `with start as (delete from transaction_start returning at)
     select extract(epoch from created_at - at)::float * 1000 as created, extract(epoch from updated_at - at)::float * 1000 as updated,
       created_at = updated_at as "isNew" from user_group, start where provided_id = $1`,
    [providedId],
  );
  return rows[0] as (typeof rows)[number];
}

test.each(Object.entries(creations))(
  '%s has the time of the statement, not that at which its transaction began',
  async (name, create) => {
    const { created, isNew } = await timesAfter(create, `created by ${name}`);
    expect(created).toBeGreaterThanOrEqual(199);
    expect(isNew).toBe(true);
  },
);

test.each(Object.entries(changes))(
  '%s has the time of the statement, not that at which its transaction began',
  async (name, change) => {
    const providedId = `changed by ${name}`;
    await getOrCreateUserGroup(bindQueries(database), caller, { providedId });
    const { created, updated } = await timesAfter(change, providedId);
    // Stored times are rounded to milliseconds.
    expect(created).toBeLessThan(1);
    expect(updated).toBeGreaterThanOrEqual(199);
  },
);

test.each(Object.entries(changes))('%s does not set an earlier time than there is', async (name, change) => {
  const providedId = `changed before by ${name}`;
  const updatedAt = new Date(Date.now() + 3_600_000);
  await getOrCreateUserGroup(bindQueries(database), caller, { providedId });
  await database.prisma.userGroup.updateMany({ where: { providedId }, data: { updatedAt } });
  await change(providedId, async () => {});
  expect(await database.prisma.userGroup.findFirstOrThrow({ where: { providedId } })).toMatchObject({ updatedAt, version: 2 });
});
