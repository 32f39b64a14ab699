import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken, revokeApiToken } from '../../src/api-tokens/api-tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { tokenOf } from '../support/keys.ts';
import { endProcesses, type ServeProcess, serve } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';
import { type Reply, sendRequest } from '../support/request.ts';

let database: TestDatabase;
let gateways: ServeProcess[];
let token: string;
let id: number;

beforeAll(async () => {
  database = await createTestDatabase();
  gateways = await Promise.all(Array.from({ length: 4 }, () => serve({ DATABASE_URL: database.url })));
  const request = { name: 'test', environmentTag: 'Testing', scopes: ['groups:write'], expiresAt: null } as const;
  const created = await createApiToken(contextOn(database), request);
  token = created.secret;
  id = created.apiToken.id;
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

/** Sends requests concurrently, distributed over the processes. */
const atOnce = (count: number, method: string, bodyOf: (index: number) => object): Promise<Reply[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      sendRequest(gateways[index % 4]?.url ?? '', method, '/api/user', { token, body: bodyOf(index) }),
    ),
  );

test('of four processes that start concurrently on an empty database, one issues the first API token', async () => {
  expect(gateways.flatMap(({ firstToken }) => firstToken ?? [])).toHaveLength(1);
  expect(await database.prisma.apiToken.count({ where: { name: 'first token' } })).toBe(1);
});

test('200 concurrent get-or-creates of one new id from four processes: one creates, all get its token, one row', async () => {
  const replies = await atOnce(200, 'GET', (index) => ({ user_group_id: 'new', name: `from call ${index}` }));
  expect(replies.map(({ status }) => status)).toEqual(Array(200).fill(200));
  const winners = replies.filter(({ json }) => json.new_user_group === true);
  expect(winners).toHaveLength(1);
  for (const { json } of replies) expect(json.user_group).toEqual(winners[0]?.json.user_group);
  const rows = await database.prisma.userGroup.findMany({ where: { providedId: 'new' } });
  expect(rows.map(tokenOf)).toEqual([winners[0]?.json.user_group.token]);
});

test('100 concurrent rotations of one token from four processes, half of them with a grace period: one wins, 99 leave nothing', async () => {
  const [made] = await atOnce(1, 'GET', () => ({ user_group_id: 'rotated' }));
  const { token: current_token, team_id: teamId } = made?.json.user_group ?? {};
  const replies = await atOnce(100, 'POST', (index) => ({ current_token, grace_seconds: index % 2 ? 600 : 0 }));
  const winner = replies.findIndex(({ status }) => status === 200);
  const losers = replies.filter((_, index) => index !== winner);
  expect(losers.map(({ status, json }) => [status, json.code])).toEqual(Array(99).fill([404, 'NOT_FOUND']));
  const stored = await database.prisma.userGroup.findUniqueOrThrow({ where: { teamId } });
  expect(tokenOf(stored)).toBe(replies[winner]?.json.user_group.token);
  expect(tokenOf(stored)).not.toBe(current_token);
  expect(await database.prisma.retiredToken.count({ where: { teamId } })).toBe(winner % 2);
});

test('an API token that is revoked is rejected by every process from the next request on', async () => {
  const statuses = async () => (await atOnce(4, 'GET', () => ({ user_group_id: 'any' }))).map(({ status }) => status);
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  await revokeApiToken(contextOn(database), id);
  expect(await statuses()).toEqual([401, 401, 401, 401]);
});
