import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { retiredHash } from '../../support/keys.ts';
import { isTokenOf } from '../../support/tokens.ts';
import { mutate } from '../../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A new group for each test, and its first token. */
let group: { id: string; teamId: number; providedId: string; token: string };
let first: string;
let count = 0;
const create = async () => {
  count += 1;
  return (await mutate(gateway, 'getOrCreateUserGroup', { providedId: `group ${count}` })).userGroup;
};
beforeEach(async () => {
  group = await create();
  first = group.token;
});

const send = (input: object, token?: string) => mutate(gateway, 'rotateUserGroupToken', input, token);
const rotate = (currentToken: string, graceSeconds?: number | null, endGracePeriods?: boolean) =>
  send({ currentToken, graceSeconds, endGracePeriods });

/** Whether each token identifies the group, as a number. */
const viewers = (...tokens: string[]) =>
  Promise.all(
    tokens.map(async (token) => {
      const { json } = await gateway.graphql('query ($token: String) { userGroup(by: { token: $token }) { teamId } }', { token });
      return json.data.userGroup?.teamId === group.teamId;
    }),
  );

/** Lets the grace period of a token be over. */
const end = (token: string) =>
  gateway.database.prisma.retiredToken.update({
    where: { tokenHash: retiredHash(token) },
    data: { expiresAt: new Date(Date.now() - 1) },
  });

test.each([undefined, null, 0])('with graceSeconds %j the old token stops at once', async (graceSeconds) => {
  const { userGroup, previousTokenExpiresAt } = await rotate(first, graceSeconds);
  expect([previousTokenExpiresAt, userGroup.version]).toEqual([null, 2]);
  expect(userGroup.token).toMatch(isTokenOf('userGroup'));
  expect(await viewers(first, userGroup.token)).toEqual([false, true]);
});

test.each([1, 604_800])('a grace period of %d s ends that long after the rotation', async (graceSeconds) => {
  const { userGroup, previousTokenExpiresAt } = await rotate(first, graceSeconds);
  const expected = Date.parse(userGroup.updatedAt) + graceSeconds * 1_000;
  // The statement reads the clock twice.
  expect(Math.abs(Date.parse(previousTokenExpiresAt) - expected)).toBeLessThan(500);
});

test('in its grace period the old token identifies the group and selects it for an update, but cannot be rotated', async () => {
  const { token } = (await rotate(first, 60)).userGroup;
  expect(await viewers(first, token)).toEqual([true, true]);
  const { userGroup } = await mutate(gateway, 'updateUserGroup', { by: { token: first }, name: 'after' });
  expect(userGroup).toMatchObject({ name: 'after', token });
  expect(await rotate(first, 60)).toMatchObject({ __typename: 'NotFound', code: 'NOT_FOUND' });
  await end(first);
  expect(await viewers(first, token)).toEqual([false, true]);
  await rotate(token, 600);
  expect(await viewers(first)).toEqual([false]);
});

test('a grace period begins by the clock, also of a group that was changed while the clock was ahead', async () => {
  const updatedAt = new Date(Date.now() + 400 * 86_400_000);
  await gateway.database.prisma.userGroup.updateMany({ where: { teamId: group.teamId }, data: { updatedAt } });
  const { previousTokenExpiresAt } = await rotate(first, 60);
  expect(Date.parse(previousTokenExpiresAt) - Date.now()).toBeLessThan(3_600_000);
});

test.each([0, 10, 6_000])('a second rotation with %d s leaves the first grace period’s end as it was', async (graceSeconds) => {
  const { userGroup, previousTokenExpiresAt } = await rotate(first, 600);
  const second = userGroup.token;
  const third = (await rotate(second, graceSeconds)).userGroup.token;
  const stored = await gateway.database.prisma.retiredToken.findUnique({ where: { tokenHash: retiredHash(first) } });
  expect(stored?.expiresAt.toISOString()).toBe(previousTokenExpiresAt);
  expect(await viewers(first, second, third)).toEqual([true, graceSeconds > 0, true]);
});

describe('endGracePeriods', () => {
  let tokens: [former: string, former: string, current: string];
  beforeEach(async () => {
    const second = (await rotate(first, 600)).userGroup.token;
    tokens = [first, second, (await rotate(second, 600)).userGroup.token];
  });

  test.each([
    [false, 0, [true, true, false]],
    [true, 0, [false, false, false]],
    [true, 600, [false, false, true]],
  ])('%s with %d s: which of the earlier tokens identify the group', async (ends, seconds, expected) => {
    const { userGroup } = await rotate(tokens[2], seconds, ends);
    expect(await viewers(...tokens, userGroup.token)).toEqual([...expected, true]);
  });

  test('true of another group, or of a token in its grace period, stops none', async () => {
    await rotate((await create()).token, 0, true);
    expect(await rotate(tokens[1], 0, true)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await viewers(...tokens)).toEqual([true, true, true]);
  });

  test('of concurrent rotations of one token, with and without it, only the winner’s counts', async () => {
    const flags = [true, false, true, false, true, false];
    const results = await Promise.all(flags.map((ends) => rotate(tokens[2], 600, ends)));
    const winners = flags.filter((_, index) => results[index].userGroup);
    expect(winners).toHaveLength(1);
    expect(await viewers(...tokens)).toEqual([!winners[0], !winners[0], true]);
  });
});

describe('by', () => {
  test.each(['id', 'teamId', 'providedId', 'token'] as const)('this %s', async (selector) => {
    const { userGroup, previousTokenExpiresAt } = await send({ by: { [selector]: group[selector] } });
    expect([userGroup.teamId, userGroup.version, previousTokenExpiresAt]).toEqual([group.teamId, 2, null]);
    expect(await viewers(first, userGroup.token)).toEqual([false, true]);
  });

  test('an id: each of several concurrent rotations is made, and the last token identifies the group', async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => send({ by: { id: group.id } })));
    expect(results.map(({ userGroup }) => userGroup.version).sort()).toEqual([2, 3, 4, 5, 6]);
    const { token } = results.find(({ userGroup }) => userGroup.version === 6).userGroup;
    expect(await viewers(token)).toEqual([true]);
  });

  test('a number of no group is NotFound', async () => {
    expect(await send({ by: { teamId: 2_147_483_647 } })).toMatchObject({ __typename: 'NotFound' });
  });
});

test.each<[string, () => object, string]>([
  ['neither currentToken nor by', () => ({}), 'currentToken'],
  ['both', () => ({ currentToken: first, by: { id: group.id } }), 'by'],
  ['a grace period of more than a week', () => ({ currentToken: first, graceSeconds: 604_801 }), 'graceSeconds'],
  ['a negative grace period', () => ({ currentToken: first, graceSeconds: -1 }), 'graceSeconds'],
])('%s is InvalidInput, and leaves the token', async (_, input, path) => {
  expect(await send(input())).toMatchObject({ __typename: 'InvalidInput', issues: [{ path: [path] }] });
  expect(await viewers(first)).toEqual([true]);
});
