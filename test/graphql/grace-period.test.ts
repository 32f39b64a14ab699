import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

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

async function rotate(currentToken: string, graceSeconds?: number | null) {
  const document = `mutation ($input: RotateUserGroupTokenInput!) { rotateUserGroupToken(input: $input) { __typename
    ... on RotateUserGroupTokenPayload { previousTokenExpiresAt userGroup { token updatedAt } } ... on Error { code } } }`;
  return (await gateway.graphql(document, { input: { currentToken, graceSeconds } })).json.data.rotateUserGroupToken;
}

/** Who views with a token: a provided id, or nobody. */
async function viewer(token: string): Promise<string | undefined> {
  const document = 'query ($token: String) { userGroup(by: { token: $token }) { providedId token } }';
  return (await gateway.graphql(document, { token })).json.data.userGroup?.providedId;
}

/** Lets the grace period of a token be over. */
const end = (token: string) =>
  gateway.database.prisma.retiredToken.update({ where: { token }, data: { expiresAt: new Date(Date.now() - 1) } });

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
  expect(Date.parse(previousTokenExpiresAt) - Date.parse(userGroup.updatedAt)).toBe(graceSeconds * 1_000);
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

const endOf = async (token: string) => (await gateway.database.prisma.retiredToken.findUnique({ where: { token } }))?.expiresAt;

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
