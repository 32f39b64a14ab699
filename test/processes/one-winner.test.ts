import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken, revokeApiToken } from '../../src/api-tokens/api-tokens.ts';
import { decryptToken } from '../../src/encryption/keys.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Reply, sendRequest } from '../support/gateway.ts';
import { testKeys, tokenOf } from '../support/keys.ts';
import { endProcesses, type ServeProcess, serve } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
let gateways: ServeProcess[];

beforeAll(async () => {
  database = await createTestDatabase();
  gateways = await Promise.all(Array.from({ length: 4 }, () => serve({ DATABASE_URL: database.url })));
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

test('of four processes that start concurrently on an empty database, one issues the first API token', async () => {
  const printed = gateways.flatMap(({ firstToken }) => firstToken ?? []);
  expect(printed).toHaveLength(1);
  expect(await database.prisma.apiToken.count({ where: { name: 'first token' } })).toBe(1);
});

test('200 concurrent get-or-creates of one new id from four processes: one creates, all get its token, one row', async () => {
  const token = await issue();
  const replies = await atOnce(200, (url, index) =>
    sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: 'new', name: `from call ${index}` } }),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(200).fill(200));
  const winners = replies.filter(({ json }) => json.new_user_group === true);
  expect(winners).toHaveLength(1);
  expect(replies.filter(({ json }) => json.new_user_group === false)).toHaveLength(199);
  for (const { json } of replies) expect(json.user_group).toEqual(winners[0]?.json.user_group);
  const rows = await database.prisma.userGroup.findMany({ where: { providedId: 'new' } });
  expect(rows).toHaveLength(1);
  expect(rows.map(tokenOf)[0]).toBe(winners[0]?.json.user_group.token);
});

test('100 concurrent rotations of one token from four processes: one wins, 99 find nothing, the group has the winner’s token', async () => {
  const token = await issue();
  const [first] = gateways;
  const made = await sendRequest(first?.url ?? '', 'GET', '/api/user', { token, body: { user_group_id: 'rotated' } });
  const { token: current_token, team_id } = made.json.user_group;
  const replies = await atOnce(100, (url) => sendRequest(url, 'POST', '/api/user', { token, body: { current_token } }));
  const winners = replies.filter(({ status }) => status === 200);
  expect(winners).toHaveLength(1);
  const losers = replies.filter(({ status }) => status === 404);
  expect(losers).toHaveLength(99);
  for (const { json } of losers) expect(json).toMatchObject({ success: 0, code: 'NOT_FOUND' });
  expect(winners[0]?.json.user_group.token).not.toBe(current_token);
  const stored = await database.prisma.userGroup.findUniqueOrThrow({ where: { teamId: team_id } });
  expect(tokenOf(stored)).toBe(winners[0]?.json.user_group.token);
});

test('rotations with and without a grace period concurrently: one wins, and a loser leaves no token behind', async () => {
  const token = await issue();
  const [first] = gateways;
  const made = await sendRequest(first?.url ?? '', 'GET', '/api/user', { token, body: { user_group_id: 'graceful' } });
  const { token: currentToken, team_id } = made.json.user_group;
  const query = `mutation ($input: RotateUserGroupTokenInput!) {
    rotateUserGroupToken(input: $input) {
      ... on RotateUserGroupTokenPayload { userGroup { token } previousTokenExpiresAt }
      ... on Error { code }
    }
  }`;
  const replies = await atOnce(40, (url, index) => {
    const variables = { input: { currentToken, graceSeconds: index % 2 ? 600 : 0 } };
    return sendRequest(url, 'POST', '/graphql', { token, body: { query, variables } });
  });
  const results = replies.map(({ json }) => json.data.rotateUserGroupToken);
  const winners = results.filter((result) => result.userGroup);
  expect(winners).toHaveLength(1);
  expect(results.filter((result) => result.code === 'NOT_FOUND')).toHaveLength(39);
  const retired = await database.prisma.retiredToken.findMany({ where: { teamId: team_id } });
  const expected = winners[0].previousTokenExpiresAt ? [currentToken] : [];
  expect(retired.map((row) => decryptToken(testKeys, 'retired_token', row))).toEqual(expected);
});

test('an API token that is revoked is rejected by every process from the next request on', async () => {
  const { secret: token, apiToken } = await createApiToken(contextOn(database), request);
  const ask = () =>
    Promise.all(gateways.map(({ url }) => sendRequest(url, 'GET', '/api/user', { token, body: { user_group_id: 'any' } })));
  expect((await ask()).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await revokeApiToken(contextOn(database), apiToken.id);
  const refused = await ask();
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  expect(refused.map(({ json }) => json.code)).toEqual(Array(4).fill('UNAUTHENTICATED'));
});

const request = {
  name: 'test',
  environmentTag: 'Testing',
  scopes: ['groups:read', 'groups:write'],
  expiresAt: null,
} as const;

async function issue(): Promise<string> {
  return (await createApiToken(contextOn(database), request)).secret;
}

/** Sends all requests concurrently, distributed over the processes. */
function atOnce(count: number, send: (url: string, index: number) => Promise<Reply>): Promise<Reply[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => send(gateways[index % gateways.length]?.url ?? '', index)));
}
