import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VersionMismatch } from '../../src/errors.ts';
import type { UserGroup } from '../../src/generated/prisma/client.ts';
import { setUserGroupEnvironment, updateUserGroup } from '../../src/user-groups/change.ts';
import type { Services, UserGroupBy } from '../../src/user-groups/user-groups.ts';
import { rotateUserGroupToken } from '../../src/user-groups/user-groups.ts';
import type { Json } from '../../src/user-groups/values.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken, tokenOf } from '../support/keys.ts';
import { until } from '../support/process.ts';
import { bindQueries } from '../support/queries.ts';

let database: TestDatabase;
let services: Services;
const statements: string[] = [];

const caller = callerWith({
  id: 1,
  name: 'test',
  environmentTag: 'Testing',
  scopes: ['groups:write'],
});

beforeAll(async () => {
  database = await createTestDatabase();
  const query: TestDatabase['query'] = (name, ...statement) => {
    statements.push(name);
    return database.query(name, ...statement);
  };
  services = bindQueries({ ...database, query });
});
afterAll(() => database.close());

let groups = 0;
async function createGroup(environmentTag: 'Testing' | 'Customer' = 'Testing') {
  groups += 1;
  const data = { providedId: `group ${groups}`, name: 'first', ...storedToken(`an imported token ${groups}`), environmentTag };
  return database.prisma.userGroup.create({ data: { ...data, properties: { first: true }, mapping: { first: 'x' } } });
}

const pick = ({ name, properties, mapping, version }: UserGroup) => ({ name, properties, mapping, version });

const change = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c'),
    properties: fc.constantFrom<Json>(null, {}, { list: [[1, [2]], []] }, { text: '{"a",NULL,\\"}' }),
    mapping: fc.constantFrom([], [{ schemaId: 's', dataSource: 'd' }]),
  },
  { requiredKeys: [] },
);
const selectors = ['teamId', 'providedId'] as const;
const steps = fc.array(fc.record({ group: fc.nat({ max: 1 }), selector: fc.constantFrom(...selectors), change }), {
  minLength: 2,
  maxLength: 8,
});

test('updates that are sent concurrently, of one group or several, by any selector, behave as if they were sequential', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const together = [await createGroup(), await createGroup()];
      const runQueued = [await createGroup(), await createGroup()];
      const update = async (group: UserGroup | undefined, { selector, change: fields }: (typeof sequence)[number]) =>
        pick(await updateUserGroup(services, caller, { [selector]: group?.[selector] } as UserGroupBy, fields));
      statements.length = 0;
      const results = await Promise.all(sequence.map((step) => update(together[step.group], step)));
      expect(statements).toEqual(['update-groups']);
      const expected = [];
      for (const step of sequence) expected.push(await update(runQueued[step.group], step));
      expect(results).toEqual(expected);
      const rows = await database.prisma.userGroup.findMany({
        where: { teamId: { in: together.map(({ teamId }) => teamId) } },
        orderBy: { teamId: 'asc' },
      });
      const rowsInTurn = await database.prisma.userGroup.findMany({
        where: { teamId: { in: runQueued.map(({ teamId }) => teamId) } },
        orderBy: { teamId: 'asc' },
      });
      expect(rows.map(pick)).toEqual(rowsInTurn.map(pick));
    }),
    { numRuns: 15 },
  );
});

const expectingChange = fc.oneof(change, fc.record({ mergeProperties: fc.constantFrom<Json>({ first: null }, { a: { b: 1 } }) }));
const expectingStep = fc.record({
  group: fc.nat({ max: 1 }),
  selector: fc.constantFrom(...selectors),
  expectedVersions: fc.constantFrom([1], [2], [3], [1, 2], []),
  change: expectingChange,
});

test('updates and merge patches that expect versions, sent concurrently, behave as if they were sequential', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(expectingStep, { minLength: 2, maxLength: 8 }), async (sequence) => {
      const together = [await createGroup(), await createGroup()];
      const runQueued = [await createGroup(), await createGroup()];
      const update = async (
        group: UserGroup | undefined,
        { selector, expectedVersions, change: fields }: (typeof sequence)[number],
      ) => {
        const by = { [selector]: group?.[selector] } as UserGroupBy;
        return updateUserGroup(services, caller, by, { ...fields, expectedVersions }).then(
          (updated) => pick(updated),
          (error: VersionMismatch) => ({ code: error.code, current: pick(error.userGroup) }),
        );
      };
      const results = await Promise.all(sequence.map((step) => update(together[step.group], step)));
      const expected = [];
      for (const step of sequence) expected.push(await update(runQueued[step.group], step));
      expect(results).toEqual(expected);
      for (const [index, { teamId }] of together.entries()) {
        const stored = await database.prisma.userGroup.findUniqueOrThrow({ where: { teamId } });
        const inTurnStored = await database.prisma.userGroup.findUniqueOrThrow({
          where: { teamId: runQueued[index]?.teamId as number },
        });
        expect(pick(stored)).toEqual(pick(inTurnStored));
      }
    }),
    { numRuns: 20 },
  );
});

test('an update that finds no group does not affect those that are sent with it', async () => {
  const [own, foreign] = [await createGroup(), await createGroup('Customer')];
  const results = await Promise.allSettled([
    updateUserGroup(services, caller, { providedId: own.providedId }, { name: 'own' }),
    updateUserGroup(services, caller, { providedId: foreign.providedId }, { name: 'foreign' }),
    updateUserGroup(services, caller, { teamId: foreign.teamId }, { name: 'foreign' }),
    updateUserGroup(services, caller, { teamId: 2_147_483_647 }, { name: 'none' }),
  ]);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value.name : result.reason.code))).toEqual([
    'own',
    'NOT_FOUND',
    'NOT_FOUND',
    'NOT_FOUND',
  ]);
});

test('updatedAt is the time of the database, for each group of a batch', async () => {
  const [first, second] = [await createGroup(), await createGroup()];
  const updated = await Promise.all(
    [first, second, first].map(({ teamId }) => updateUserGroup(services, caller, { teamId }, { name: 'timed' })),
  );
  const { rows } = await database.pool.query(
    `select updated_at, clock_timestamp() - updated_at < interval '1 minute' as is_recent from user_group where team_id = any ($1) order by team_id`,
    [[first.teamId, second.teamId]],
  );
  const storedTimes = rows.map(({ updated_at: updatedAt }) => updatedAt.getTime());
  expect(updated.map(({ updatedAt }) => updatedAt.getTime())).toEqual([...storedTimes, storedTimes[0]]);
  expect(rows.every(({ is_recent: isRecent }) => isRecent)).toBe(true);
});

const admin = callerWith({
  id: 2,
  name: 'admin',
  environmentTag: null,
  scopes: ['admin'],
});

test.each<[string, (group: UserGroup) => Promise<UserGroup>]>([
  ['an update', ({ teamId }) => updateUserGroup(services, caller, { teamId }, { name: 'waited' })],
  ['a merge patch', ({ teamId }) => updateUserGroup(services, caller, { teamId }, { mergeProperties: { waited: true } })],
  ['a change of environment', ({ teamId }) => setUserGroupEnvironment(services, admin, { teamId }, 'Customer')],
  ['a rotation', async (group) => (await rotateUserGroupToken(services, caller, { currentToken: tokenOf(group) })).userGroup],
])('%s that waited for another one does not move updatedAt backwards', async (_, write) => {
  const group = await createGroup();
  const holder = await database.pool.connect();
  await holder.query('begin');
  const { rows } = await holder.query('select pg_backend_pid() as pid from user_group where team_id = $1 for update', [
    group.teamId,
  ]);
  const waiting = write(group);
  const waiters = 'select 1 from pg_stat_activity where $1 = any (pg_blocking_pids(pid))';
  await until(async () => (await database.pool.query(waiters, [rows[0].pid])).rowCount, 'the write waits');
  const update = 'update user_group set updated_at = clock_timestamp() where team_id = $1 returning updated_at';
  const former: Date = (await holder.query(update, [group.teamId])).rows[0].updated_at;
  await holder.query('commit');
  holder.release();
  expect((await waiting).updatedAt.getTime()).toBeGreaterThanOrEqual(former.getTime());
});
