import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
/** A second one on the same database. */
let other: TestGateway;
let token: string;

beforeAll(async () => {
  gateway = await startGateway();
  other = await startGateway(gateway.database);
  token = (await gateway.issue({ scopes: ['groups:read', 'groups:write', 'embed:sign'] })).secret;
});
afterAll(async () => {
  await other.close();
  await gateway.close();
});

const failure = '__typename ... on Error { code message } ... on InvalidInput { issues { path } }';
const fields = 'teamId providedId name token version status suspendedReason';

/** The result of a mutation whose payload is a group. */
async function mutate(name: string, input: object, of = gateway) {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const query = `mutation ($input: ${type}Input!) { result: ${name}(input: $input) {
    ... on ${type}Payload { userGroup { ${fields} } } ${failure} } }`;
  const { json } = await of.graphql(query, { input }, { token });
  expect(json.errors).toBeUndefined();
  return json.data.result;
}

async function groupBy(by: object, of = other) {
  const query = `query ($by: UserGroupBy!) { userGroup(by: $by) { ${fields} } }`;
  const { json } = await of.graphql(query, { by }, { token });
  expect(json.errors).toBeUndefined();
  return json.data.userGroup;
}

let created = 0;
async function createGroup() {
  created += 1;
  const { userGroup } = await mutate('getOrCreateUserGroup', { providedId: `group ${created}` });
  const retired: string = userGroup.token;
  const rotated = await mutate('rotateUserGroupToken', { currentToken: retired, graceSeconds: 600 });
  return { ...rotated.userGroup, retired };
}

test('while a group is suspended its tokens identify nothing, on every instance; it shows its status, and resuming undoes it', async () => {
  const { retired, ...group } = await createGroup();
  expect(group).toMatchObject({ status: 'ACTIVE', suspendedReason: null, version: 2 });
  const byTokens = () => Promise.all([group.token, retired].map((each) => groupBy({ token: each })));
  expect(await byTokens()).toEqual([group, group]);

  const by = { teamId: group.teamId };
  const suspended = { ...group, status: 'SUSPENDED', suspendedReason: 'unpaid', version: 3 };
  expect((await mutate('suspendUserGroup', { by, reason: 'unpaid' })).userGroup).toEqual(suspended);
  expect(await byTokens()).toEqual([null, null]);
  expect(await groupBy({ providedId: group.providedId })).toEqual(suspended);
  expect(await mutate('updateUserGroup', { by: { token: group.token }, name: 'x' })).toMatchObject({ code: 'NOT_FOUND' });

  const again = { ...suspended, suspendedReason: null, version: 4 };
  expect((await mutate('suspendUserGroup', { by })).userGroup).toEqual(again);
  expect((await mutate('suspendUserGroup', { by, reason: null })).userGroup).toEqual(again);
  for (const _ of ['resumed', 'already active'])
    expect((await mutate('resumeUserGroup', { by })).userGroup).toEqual({ ...group, version: 5 });
  expect(await byTokens()).toEqual([
    { ...group, version: 5 },
    { ...group, version: 5 },
  ]);
});

test.each([
  ['suspendUserGroup', 'ACTIVE'],
  ['resumeUserGroup', 'SUSPENDED'],
])('%s with an expected version changes no other one, and returns the group as it is', async (mutation, status) => {
  const { teamId } = await createGroup();
  const by = { teamId };
  if (status === 'SUSPENDED') await mutate('suspendUserGroup', { by });
  const { userGroup: current } = await mutate('updateUserGroup', { by, name: 'changed meanwhile' });
  const input = { by, expectedVersion: current.version - 1 };
  const query = `mutation ($by: UserGroupBy!, $expectedVersion: Int) {
    result: ${mutation}(input: { by: $by, expectedVersion: $expectedVersion }) {
      ${failure} ... on VersionMismatch { userGroup { ${fields} } } } }`;
  const { json } = await gateway.graphql(query, input, { token });
  expect(json.data.result).toMatchObject({ __typename: 'VersionMismatch', code: 'VERSION_MISMATCH', userGroup: current });
  expect(await groupBy(by)).toEqual(current);
  const changed = (await mutate(mutation, { by, expectedVersion: current.version })).userGroup;
  expect(changed).toMatchObject({ status: status === 'ACTIVE' ? 'SUSPENDED' : 'ACTIVE', version: current.version + 1 });
});

test('createEmbedToken of a suspended group is SUSPENDED', async () => {
  const { teamId } = await createGroup();
  const create = async () => {
    const query = `mutation { result: createEmbedToken(input: { by: { teamId: ${teamId} } }) { ${failure} } }`;
    return (await other.graphql(query, {}, { token })).json.data.result;
  };
  await mutate('suspendUserGroup', { by: { teamId } });
  expect(await create()).toEqual({
    __typename: 'Suspended',
    code: 'SUSPENDED',
    message: expect.stringContaining('resumeUserGroup'),
  });
  await mutate('resumeUserGroup', { by: { teamId } });
  expect(await create()).toEqual({ __typename: 'CreateEmbedTokenPayload' });
});

test.each<[string, (group: { token: string; providedId: string }) => Promise<{ userGroup: object }>]>([
  ['get-or-create', ({ providedId }) => mutate('getOrCreateUserGroup', { providedId })],
  ['an update', ({ providedId }) => mutate('updateUserGroup', { by: { providedId }, name: 'changed' })],
  ['a patch', ({ providedId }) => mutate('updateUserGroup', { by: { providedId }, mergeProperties: { a: 1 } })],
  ['a rotation', ({ token: currentToken }) => mutate('rotateUserGroupToken', { currentToken, graceSeconds: 600 })],
  ['a rotation by its id', ({ providedId }) => mutate('rotateUserGroupToken', { by: { providedId } })],
])('%s of a suspended group works, and shows the status; a deletion works, too', async (_, change) => {
  const group = await createGroup();
  const by = { teamId: group.teamId };
  await mutate('suspendUserGroup', { by, reason: 'unpaid' });
  expect((await change(group)).userGroup).toMatchObject({ ...by, status: 'SUSPENDED', suspendedReason: 'unpaid' });
  const renewed = await groupBy(by);
  expect(renewed.status).toBe('SUSPENDED');
  expect(await Promise.all([group.token, renewed.token].map((each) => groupBy({ token: each })))).toEqual([null, null]);
  const query = `mutation { result: deleteUserGroup(input: { by: { teamId: ${group.teamId} } }) { ${failure} } }`;
  expect((await gateway.graphql(query, {}, { token })).json.data.result.__typename).toBe('DeleteUserGroupPayload');
});

test.each([
  ['an empty reason', ''],
  ['a long reason', 'x'.repeat(256)],
  ['a reason with a line break', 'a\nb'],
])('%s is INVALID_INPUT, and nothing is changed', async (_, reason) => {
  const { teamId } = await createGroup();
  const result = await mutate('suspendUserGroup', { by: { teamId }, reason });
  expect(result).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['reason'] }] });
  expect(await groupBy({ teamId })).toMatchObject({ status: 'ACTIVE', version: 2 });
});
