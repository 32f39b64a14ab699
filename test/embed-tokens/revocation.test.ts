import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHousekeeping } from '../../src/housekeeping/housekeeping.ts';
import { createToken, introspectToken, partsOf } from '../support/embed-tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
/** A second one on the same database. */
let other: TestGateway;
let signer: string;
let resolver: string;
beforeAll(async () => {
  gateway = await startGateway();
  other = await startGateway(gateway.database, { introspection: true, publicUrl: gateway.url });
  signer = (await gateway.issue({ scopes: ['embed:sign'] })).secret;
  resolver = (await gateway.issue({ scopes: ['groups:resolve'] })).secret;
});
afterAll(async () => {
  await other.close();
  await gateway.close();
});

const mutation = `mutation ($input: RevokeEmbedTokensInput!) { result: revokeEmbedTokens(input: $input) { __typename
  ... on RevokeEmbedTokensPayload { userGroup { teamId } } ... on Error { code message } ... on InvalidInput { issues { path } } } }`;

async function revoke(input: object) {
  const { json } = await gateway.graphql(mutation, { input }, { token: signer });
  return json.errors ? json.errors[0].extensions : json.data.result;
}

let created = 0;
async function createGroup() {
  created += 1;
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: `group ${created}` } });
  const by = { teamId: json.user_group.team_id as number };
  const issue = async (viewerId?: string): Promise<string> =>
    (await createToken(gateway, signer, { by, ...(viewerId && { viewer: { id: viewerId } }) })).token;
  return { by, issue };
}

/** Which of the tokens are active, by both gateways. */
async function active(...tokens: string[]): Promise<boolean[]> {
  const ask = (of: TestGateway) =>
    Promise.all(tokens.map(async (token) => (await introspectToken(of, resolver, token)).json.active as boolean));
  const [here, there] = await Promise.all([ask(gateway), ask(other)]);
  expect(there).toEqual(here);
  return here;
}

test('all embed tokens of a group, with a viewer and without, are inactive at once; those created later and of others are not', async () => {
  const [group, neighbor] = [await createGroup(), await createGroup()];
  const tokens = [await group.issue(), await group.issue('ada'), await neighbor.issue()];
  expect(await active(...tokens)).toEqual([true, true, true]);
  expect(await revoke({ by: group.by })).toMatchObject({ userGroup: group.by });
  expect(await active(...tokens)).toEqual([false, false, true]);
  const later = [await group.issue(), await group.issue('ada')];
  expect(await active(...later)).toEqual([true, true]);
  await revoke({ by: group.by });
  expect(await active(...later)).toEqual([false, false]);
});

test('the embed tokens of a viewer are inactive at once; those created later, and of other viewers, are not', async () => {
  const group = await createGroup();
  const tokens = [await group.issue('ada'), await group.issue('grace'), await group.issue()];
  await revoke({ by: group.by, viewerId: 'ada' });
  expect(await active(...tokens)).toEqual([false, true, true]);
  const later = await group.issue('ada');
  expect(await active(later)).toEqual([true]);
  await revoke({ by: group.by, viewerId: 'ada' });
  expect(await active(later)).toEqual([false]);
});

test('a viewer may be revoked again after the generation of the earlier revocation is gone', async () => {
  const group = await createGroup();
  await revoke({ by: group.by, viewerId: 'ada' });
  const token = await group.issue('ada');
  expect(partsOf(token).claims['viewer_generation']).toBeGreaterThan(0);
  await gateway.database.pool.query('update revoked_viewer set expires_at = now() where team_id = $1', [group.by.teamId]);
  const removed = await runHousekeeping(gateway.database, { retentionDays: 365 });
  expect(removed.revokedViewers).toBe(1);
  const without = await group.issue('ada');
  expect(await active(token, without)).toEqual([true, true]);
  await revoke({ by: group.by, viewerId: 'ada' });
  expect(await active(token, without)).toEqual([false, false]);
});

test('after an older backup was restored, tokens of the time between are revoked by another revocation', async () => {
  const group = await createGroup();
  await revoke({ by: group.by, viewerId: 'ada' });
  await revoke({ by: group.by });
  const between = [await group.issue()];
  await revoke({ by: group.by, viewerId: 'ada' });
  between.push(await group.issue('ada'));
  const { pool } = gateway.database;
  await pool.query('update user_group set embed_generation = 0 where team_id = $1', [group.by.teamId]);
  await pool.query('delete from revoked_viewer where team_id = $1', [group.by.teamId]);
  await revoke({ by: group.by });
  expect(await active(...between)).toEqual([false, false]);
});

test.each([
  ['an empty viewer', { viewerId: '' }, { code: 'INVALID_INPUT', issues: [{ path: ['viewerId'] }] }],
  ['a long viewer', { viewerId: 'x'.repeat(256) }, { code: 'INVALID_INPUT', issues: [{ path: ['viewerId'] }] }],
  ['an unknown group', { by: { teamId: 2_000_000_000 } }, { code: 'NOT_FOUND' }],
])('%s is refused', async (_, input, expected) => {
  const { by } = await createGroup();
  expect(await revoke({ by, ...input })).toMatchObject(expected);
});
