import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { retiredHash } from '../../support/keys.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A new group for each test, and its first token. */
let providedId: string;
let first: string;
let count = 0;
beforeEach(async () => {
  count += 1;
  providedId = `group ${count}`;
  const document = `mutation ($id: String!) { getOrCreateUserGroup(input: { providedId: $id }) {
    ... on GetOrCreateUserGroupPayload { userGroup { token } } } }`;
  first = (await gateway.graphql(document, { id: providedId })).json.data.getOrCreateUserGroup.userGroup.token;
});

async function rotate(currentToken: string, graceSeconds?: number | null, endGracePeriods?: boolean | null) {
  const document = `mutation ($input: RotateUserGroupTokenInput!) { rotateUserGroupToken(input: $input) { __typename
    ... on RotateUserGroupTokenPayload { previousTokenExpiresAt userGroup { token updatedAt } } ... on Error { code } } }`;
  return (await gateway.graphql(document, { input: { currentToken, graceSeconds, endGracePeriods } })).json.data
    .rotateUserGroupToken;
}

/** Who views with a token: a provided id; undefined if none does. */
async function viewer(token: string): Promise<string | undefined> {
  const document = 'query ($token: String) { userGroup(by: { token: $token }) { providedId token } }';
  return (await gateway.graphql(document, { token })).json.data.userGroup?.providedId;
}

/** Lets the grace period of a token be over. */
const end = (token: string) =>
  gateway.database.prisma.retiredToken.update({
    where: { tokenHash: retiredHash(token) },
    data: { expiresAt: new Date(Date.now() - 1) },
  });

test.each([
  ['left out', undefined],
  ['null', null],
  ['0', 0],
])('with graceSeconds %s the old token stops at once', async (_, graceSeconds) => {
  const { userGroup, previousTokenExpiresAt } = await rotate(first, graceSeconds);
  expect(previousTokenExpiresAt).toBeNull();
  expect(await viewer(first)).toBeUndefined();
  expect(await viewer(userGroup.token)).toBe(providedId);
});

test('the old token identifies the group during the grace period, and the new one too', async () => {
  const { userGroup } = await rotate(first, 60);
  expect(await viewer(first)).toBe(providedId);
  expect(await viewer(userGroup.token)).toBe(providedId);
});

test('the old token shows the new one, as the group is stored', async () => {
  const { userGroup } = await rotate(first, 60);
  const document = 'query ($token: String) { userGroup(by: { token: $token }) { token } }';
  expect((await gateway.graphql(document, { token: first })).json.data.userGroup.token).toBe(userGroup.token);
});

test.each([1, 604_800])('a grace period of %d s ends that long after the rotation', async (graceSeconds) => {
  const { userGroup, previousTokenExpiresAt } = await rotate(first, graceSeconds);
  const end = Date.parse(userGroup.updatedAt) + graceSeconds * 1_000;
  // The statement reads the clock twice.
  expect(Math.abs(Date.parse(previousTokenExpiresAt) - end)).toBeLessThan(500);
});

test('a grace period begins by the clock, also of a group that was changed while the clock was ahead', async () => {
  const updatedAt = new Date(Date.now() + 400 * 86_400_000);
  await gateway.database.prisma.userGroup.updateMany({ where: { providedId }, data: { updatedAt } });
  const { previousTokenExpiresAt } = await rotate(first, 60);
  expect(Date.parse(previousTokenExpiresAt) - Date.now()).toBeLessThan(3_600_000);
});

test('the old token stops when the grace period ends', async () => {
  await rotate(first, 60);
  await end(first);
  expect(await viewer(first)).toBeUndefined();
});

test('a token in its grace period cannot be rotated', async () => {
  const { userGroup } = await rotate(first, 60);
  expect(await rotate(first, 60)).toEqual({ __typename: 'NotFound', code: 'NOT_FOUND' });
  expect(await viewer(userGroup.token)).toBe(providedId);
});

test('a token in its grace period selects the group for an update', async () => {
  await rotate(first, 60);
  const document = `mutation ($token: String) { updateUserGroup(input: { by: { token: $token }, name: "after" }) {
    ... on UpdateUserGroupPayload { userGroup { name } } } }`;
  const { json } = await gateway.graphql(document, { token: first });
  expect(json.data.updateUserGroup).toEqual({ userGroup: { name: 'after' } });
});

const endOf = async (token: string) =>
  (await gateway.database.prisma.retiredToken.findUnique({ where: { tokenHash: retiredHash(token) } }))?.expiresAt;

test.each([
  ['without one', 0],
  ['with a shorter one', 10],
  ['with a longer one', 6_000],
])('a second rotation %s leaves the first grace period’s end as it was', async (_, graceSeconds) => {
  const { userGroup, previousTokenExpiresAt } = await rotate(first, 600);
  const second = userGroup.token;
  const third = (await rotate(second, graceSeconds)).userGroup.token;
  expect((await endOf(first))?.toISOString()).toBe(previousTokenExpiresAt);
  expect(await viewer(first)).toBe(providedId);
  expect(await viewer(second)).toBe(graceSeconds > 0 ? providedId : undefined);
  expect(await viewer(third)).toBe(providedId);
});

test('a second rotation does not bring back a token whose grace period is over', async () => {
  const { userGroup } = await rotate(first, 60);
  await end(first);
  await rotate(userGroup.token, 600);
  expect(await viewer(first)).toBeUndefined();
});

test('a rotation over REST ends no grace period', async () => {
  const { userGroup } = await rotate(first, 600);
  await gateway.send('POST', '/api/user', { body: { current_token: userGroup.token } });
  expect(await viewer(first)).toBe(providedId);
  expect(await viewer(userGroup.token)).toBeUndefined();
});

test('a grace period that was refused leaves the token as it was', async () => {
  expect(await rotate(first, 604_801)).toEqual({ __typename: 'InvalidInput', code: 'INVALID_INPUT' });
  expect(await viewer(first)).toBe(providedId);
  expect(await rotate(first)).toMatchObject({ __typename: 'RotateUserGroupTokenPayload' });
});

describe('endGracePeriods', () => {
  /** Rotates twice with grace periods, so that two former tokens and the current one identify the group. */
  async function withTwoFormer(): Promise<[former: string, former: string, current: string]> {
    const second = (await rotate(first, 600)).userGroup.token;
    const third = (await rotate(second, 600)).userGroup.token;
    return [first, second, third];
  }

  test.each([
    ['left out', undefined],
    ['null', null],
    ['false', false],
  ])('%s: earlier tokens keep their grace periods', async (_, endGracePeriods) => {
    const [one, two, current] = await withTwoFormer();
    await rotate(current, 0, endGracePeriods);
    expect([await viewer(one), await viewer(two), await viewer(current)]).toEqual([providedId, providedId, undefined]);
  });

  test.each([
    ['no grace period', 0, undefined],
    ['a grace period', 600, 'still'],
  ])('true with %s: every earlier token stops at once, the replaced one has its own grace period', async (_, seconds, still) => {
    const [one, two, current] = await withTwoFormer();
    const { userGroup, previousTokenExpiresAt } = await rotate(current, seconds, true);
    expect([await viewer(one), await viewer(two)]).toEqual([undefined, undefined]);
    expect(await viewer(current)).toBe(still && providedId);
    expect(previousTokenExpiresAt === null).toBe(still === undefined);
    expect(await viewer(userGroup.token)).toBe(providedId);
    expect(await gateway.database.prisma.retiredToken.count({ where: { tokenHash: { in: [one, two].map(retiredHash) } } })).toBe(
      0,
    );
  });

  test('true leaves the grace periods of other groups', async () => {
    const [one, two] = await withTwoFormer();
    const document = `mutation { getOrCreateUserGroup(input: { providedId: "other than ${providedId}" }) {
      ... on GetOrCreateUserGroupPayload { userGroup { token } } } }`;
    const other = (await gateway.graphql(document)).json.data.getOrCreateUserGroup.userGroup.token;
    await rotate(other, 0, true);
    expect([await viewer(one), await viewer(two)]).toEqual([providedId, providedId]);
  });

  test('true of a token in its grace period is NOT_FOUND and stops none', async () => {
    const [one, two, current] = await withTwoFormer();
    expect(await rotate(two, 0, true)).toEqual({ __typename: 'NotFound', code: 'NOT_FOUND' });
    expect([await viewer(one), await viewer(two), await viewer(current)]).toEqual([providedId, providedId, providedId]);
  });

  test('of concurrent rotations of one token, with and without it, only the winner’s counts', async () => {
    const [one, , current] = await withTwoFormer();
    const flags = [true, false, true, false, true, false];
    const results = await Promise.all(flags.map((endGracePeriods) => rotate(current, 600, endGracePeriods)));
    const winners = flags.filter((_, index) => results[index].userGroup);
    expect(winners).toHaveLength(1);
    expect(await viewer(one)).toBe(winners[0] ? undefined : providedId);
    expect(await viewer(current)).toBe(providedId);
  });

  test('a rotation in one batch with others ends the grace periods of its own group alone', async () => {
    const groups = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const document = `mutation { getOrCreateUserGroup(input: { providedId: "${providedId} of batch ${index}" }) {
          ... on GetOrCreateUserGroupPayload { userGroup { token } } } }`;
        const former = (await gateway.graphql(document)).json.data.getOrCreateUserGroup.userGroup.token as string;
        return { former, current: (await rotate(former, 600)).userGroup.token as string, ends: index % 2 === 0 };
      }),
    );
    await Promise.all(groups.map(({ current, ends }) => rotate(current, 0, ends)));
    const found = await Promise.all(groups.map(async ({ former }) => (await viewer(former)) !== undefined));
    expect(found).toEqual(groups.map(({ ends }) => !ends));
  });
});
