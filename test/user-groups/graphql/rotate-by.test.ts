import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { mutate } from '../../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

let last = 0;
let group: { id: string; teamId: number; providedId: string; token: string };
beforeEach(async () => {
  last += 1;
  group = (await mutate(gateway, 'getOrCreateUserGroup', { providedId: `group ${last}` })).userGroup;
});

const rotate = (input: object, token?: string) => mutate(gateway, 'rotateUserGroupToken', input, token);

/** The number of the group that a token identifies. */
async function identifiedBy(token: string): Promise<number | undefined> {
  const { json } = await gateway.graphql('query ($token: String!) { userGroup(by: { token: $token }) { teamId } }', { token });
  return json.data.userGroup?.teamId;
}

test.each(['id', 'teamId', 'providedId', 'token'] as const)('replaces the token of the group with this %s', async (selector) => {
  const { userGroup, previousTokenExpiresAt } = await rotate({ by: { [selector]: group[selector] } });
  expect(userGroup).toMatchObject({ teamId: group.teamId, version: 2 });
  expect(previousTokenExpiresAt).toBeNull();
  expect([await identifiedBy(group.token), await identifiedBy(userGroup.token)]).toEqual([undefined, group.teamId]);
});

test('the replaced token has a grace period, which the next rotation can end', async () => {
  const by = { id: group.id };
  const { previousTokenExpiresAt } = await rotate({ by, graceSeconds: 60 });
  expect(Date.parse(previousTokenExpiresAt)).toBeGreaterThan(Date.now() + 30_000);
  expect(await identifiedBy(group.token)).toBe(group.teamId);
  await rotate({ by, endGracePeriods: true });
  expect(await identifiedBy(group.token)).toBeUndefined();
});

test('each of several concurrent ones is made, and the last token identifies the group', async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => rotate({ by: { id: group.id } })));
  expect(results.map(({ userGroup }) => userGroup.version).sort()).toEqual([2, 3, 4, 5, 6]);
  const { token } = results.find(({ userGroup }) => userGroup.version === 6).userGroup;
  expect(await identifiedBy(token)).toBe(group.teamId);
});

test('a suspended group has its token replaced, too', async () => {
  await mutate(gateway, 'suspendUserGroup', { by: { id: group.id } });
  expect((await rotate({ by: { id: group.id } })).userGroup.version).toBe(3);
});

test('a group that does not exist, or is in another environment, is NotFound', async () => {
  const { secret } = await gateway.issue({ environment: 'Customer' });
  expect(await rotate({ by: { teamId: 2_147_483_647 } })).toMatchObject({ __typename: 'NotFound' });
  expect(await rotate({ by: { id: group.id } }, secret)).toMatchObject({ __typename: 'NotFound' });
  expect(await identifiedBy(group.token)).toBe(group.teamId);
});

test.each([
  ['neither currentToken nor by', () => ({}), 'currentToken'],
  ['both', () => ({ currentToken: group.token, by: { id: group.id } }), 'by'],
])('%s is InvalidInput', async (_, input, path) => {
  expect(await rotate(input())).toMatchObject({ __typename: 'InvalidInput', issues: [{ path: [path] }] });
});
