import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Context, contextOf, createApp } from '../../src/app.ts';
import { type Recorder, startRecorder } from '../../src/concurrency.ts';
import type { Sql } from '../../src/database/client.ts';
import { introspect } from '../../src/embed-tokens/embed-tokens.ts';
import { stampResolvedGroups } from '../../src/user-groups/sql.ts';
import { findUserGroup } from '../../src/user-groups/user-groups.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken, testKeys } from '../support/keys.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const recordLastResolved = (sql: Sql, onWritten?: (error?: unknown) => void) =>
  startRecorder((secondsAgo) => stampResolvedGroups(sql, secondsAgo), onWritten);

const caller = callerWith({ environmentTag: 'Testing', scopes: ['groups:read'] });
let created = 0;

/** Stores a group. @param minutesAgo when it was last resolved. */
async function store(minutesAgo?: number) {
  created += 1;
  const token = `an imported token ${created}`;
  const data = { providedId: `group ${created}`, environmentTag: 'Testing', name: 'Group', ...storedToken(token) } as const;
  const { teamId } = await database.prisma.userGroup.create({ data });
  if (minutesAgo !== undefined) await setResolved(teamId, minutesAgo);
  return { teamId, token };
}

const setResolved = (teamId: number, minutesAgo: number) =>
  database.pool.query("update user_group set last_resolved_at = now() - $2 * interval '1 minute' where team_id = $1", [
    teamId,
    minutesAgo,
  ]);

/** What of a group changes with it: how many whole minutes ago it was resolved, and what must stay. */
async function read(teamId: number) {
  const { rows } = await database.pool.query(
    'select floor(extract(epoch from now() - last_resolved_at) / 60)::int as age, version, updated_at from user_group where team_id = $1',
    [teamId],
  );
  return rows[0] as { age: number | null; version: number; updated_at: Date };
}

function start(): { context: Context; flush: () => Promise<void> } {
  const lastResolved = recordLastResolved(database.sql);
  onTestFinished(() => lastResolved.stop());
  return { context: contextWith(lastResolved), flush: lastResolved.flush };
}

const contextWith = ({ note }: Recorder): Context => contextOf(createApp(database, testKeys, { noteResolved: note }), caller);

type Resolve = (context: Context, token: string) => Promise<unknown>;
const lookUp: Resolve = (context, token) => findUserGroup(context, { token });

test.each<[string, number | undefined, Resolve, number]>([
  ['a look-up for the first time', undefined, lookUp, 0],
  ['a look-up within the hour', 58, lookUp, 58],
  ['a look-up after an hour', 60, lookUp, 0],
  ['an introspection', 120, introspect, 0],
])('%s: when it was last resolved, and nothing else changes', async (_, minutesAgo, resolve, expected) => {
  const { context, flush } = start();
  const { teamId, token } = await store(minutesAgo);
  const before = await read(teamId);
  expect(await resolve(context, token)).toBeTruthy();
  await flush();
  const { age, ...others } = await read(teamId);
  expect([expected, expected && expected + 1]).toContain(age);
  expect(others).toEqual({ version: before.version, updated_at: before.updated_at });
});

test.each<[string, (context: Context, group: { teamId: number; token: string }) => Promise<unknown>]>([
  ['a look-up by number', (context, { teamId }) => findUserGroup(context, { teamId })],
  [
    'a look-up by a caller of another environment',
    (context, { token }) =>
      findUserGroup({ ...context, caller: callerWith({ environmentTag: 'Customer', scopes: ['groups:read'] }) }, { token }),
  ],
  [
    'a look-up while it is suspended',
    async (context, { teamId, token }) => {
      await database.prisma.userGroup.update({ where: { teamId }, data: { suspended: true } });
      expect(await findUserGroup(context, { token })).toBeUndefined();
    },
  ],
])('%s is not recorded', async (_, resolve) => {
  const { context, flush } = start();
  const group = await store();
  await resolve(context, group);
  await flush();
  expect((await read(group.teamId)).age).toBeNull();
});

test('what is locked is recorded later', async () => {
  const { context, flush } = start();
  const { teamId, token } = await store();
  await findUserGroup(context, { token });
  const holder = await database.pool.connect();
  await holder.query('begin');
  await holder.query('select from user_group where team_id = $1 for update', [teamId]);
  await flush();
  await holder.query('rollback');
  holder.release();
  expect((await read(teamId)).age).toBeNull();
  await flush();
  expect((await read(teamId)).age).not.toBeNull();
});

test('what is recorded late keeps its time, and does not replace a later one', async () => {
  const { context, flush } = start();
  const [late, replaced] = [await store(), await store()];
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  for (const { token } of [late, replaced]) await findUserGroup(context, { token });
  vi.advanceTimersByTime(2 * 3_600_000);
  await setResolved(replaced.teamId, 10);
  await flush();
  expect([(await read(late.teamId)).age, (await read(replaced.teamId)).age]).toEqual([120, 10]);
});
