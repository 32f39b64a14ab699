import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/app.ts';
import type { UserGroup } from '../../src/generated/prisma/client.ts';
import { rotateUserGroupToken, setUserGroupEnvironment, updateUserGroup } from '../../src/user-groups/change.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken, tokenOf } from '../support/keys.ts';
import { until } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
let context: Context;
let adminContext: Context;

const caller = callerWith({
  id: 1,
  name: 'test',
  environmentTag: 'Testing',
  scopes: ['groups:write'],
});

beforeAll(async () => {
  database = await createTestDatabase();
  context = contextOn(database, caller);
  adminContext = contextOn(database, admin);
});
afterAll(() => database.close());

let groups = 0;
async function createGroup() {
  groups += 1;
  const data = {
    providedId: `group ${groups}`,
    name: 'first',
    ...storedToken(`an imported token ${groups}`),
    environmentTag: 'Testing' as const,
  };
  return database.prisma.userGroup.create({ data: { ...data, properties: { first: true }, mapping: { first: 'x' } } });
}

const admin = callerWith({
  id: 2,
  name: 'admin',
  environmentTag: null,
  scopes: ['admin'],
});

test.each<[string, (group: UserGroup) => Promise<UserGroup>]>([
  ['an update', ({ teamId }) => updateUserGroup(context, { teamId }, { name: 'waited' })],
  ['a merge patch', ({ teamId }) => updateUserGroup(context, { teamId }, { mergeProperties: { waited: true } })],
  ['a change of environment', ({ teamId }) => setUserGroupEnvironment(adminContext, { teamId }, 'Customer')],
  ['a rotation', async (group) => (await rotateUserGroupToken(context, { currentToken: tokenOf(group) })).userGroup],
])('%s that waited for another one gets a later updatedAt', async (_, write) => {
  const group = await createGroup();
  const holder = await database.pool.connect();
  await holder.query('begin');
  const { rows } = await holder.query('select pg_backend_pid() as pid from user_group where team_id = $1 for update', [
    group.teamId,
  ]);
  const waiting = write(group);
  const waiters = 'select 1 from pg_stat_activity where $1 = any (pg_blocking_pids(pid))';
  await until(async () => (await database.pool.query(waiters, [rows[0].pid])).rowCount, 'the write waits');
  const update = `update user_group set name = 'former' where team_id = $1 returning updated_at`;
  const former: Date = (await holder.query(update, [group.teamId])).rows[0].updated_at;
  await holder.query('commit');
  holder.release();
  expect((await waiting).updatedAt.getTime()).toBeGreaterThan(former.getTime());
});
