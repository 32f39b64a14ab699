import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { mutate } from '../../support/user-group-mutations.ts';

let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());

const tags = ['CUSTOMER', 'TESTING', null] as const;
const create = async (providedId: string, environmentTag: string | null) =>
  (await mutate(gateway, 'getOrCreateUserGroup', { providedId, environmentTag }, admin)).userGroup;
const move = (teamId: number, environmentTag: string | null) =>
  mutate(gateway, 'setUserGroupEnvironment', { by: { teamId }, environmentTag }, admin);

test.each(tags.flatMap((from) => tags.map((to) => [from, to] as const)))('moves a group from %s to %s', async (from, to) => {
  const group = await create(`from ${from} to ${to}`, from);
  const { userGroup } = await move(group.teamId, to);
  const { updatedAt: before, ...others } = group;
  const { updatedAt, ...moved } = userGroup;
  expect(moved).toEqual({ ...others, environmentTag: to, version: from === to ? 1 : 2 });
  expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(before));
});

test('from then on callers of the new environment have access, and those of the old one do not', async () => {
  const { secret: customer } = await gateway.issue({ environment: 'Customer' });
  const { teamId, providedId } = await create('moved', 'TESTING');
  await move(teamId, 'CUSTOMER');
  const rename = (token: string) => mutate(gateway, 'updateUserGroup', { by: { teamId }, name: 'renamed' }, token);
  expect((await rename(customer)).userGroup.name).toBe('renamed');
  expect((await rename(gateway.token)).code).toBe('NOT_FOUND');
  expect((await mutate(gateway, 'getOrCreateUserGroup', { providedId })).created).toBe(true); // Testing is free again
});

test.each([
  ['CUSTOMER', 'TESTING', 'TESTING', /environment Testing\. Delete/],
  ['TESTING', 'CUSTOMER', 'CUSTOMER', /environment Customer\. Delete/],
  ['CUSTOMER', null, 'TESTING', /environment Testing, and an untagged group cannot share/],
  ['TESTING', null, 'CUSTOMER', /environment Customer, and an untagged group cannot share/],
] as const)('is CONFLICT from %s to %s when a group of %s has the id, and changes nothing', async (from, to, holder, reason) => {
  const providedId = `conflict from ${from} to ${to}`;
  const group = await create(providedId, from);
  await create(providedId, holder);
  const result = await move(group.teamId, to);
  expect(result).toMatchObject({ __typename: 'Conflict', code: 'CONFLICT', message: expect.stringMatching(reason) });
  const { json } = await gateway.graphql(
    'query ($id: ID!) { node(id: $id) { ... on UserGroup { environmentTag updatedAt } } }',
    { id: group.id },
    { token: admin },
  );
  expect(json.data.node).toEqual({ environmentTag: from, updatedAt: group.updatedAt });
});

test('labeling the untagged group that held an id resolves the CONFLICT of its creation', async () => {
  const group = await create('labeled', null);
  expect((await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'labeled' })).code).toBe('CONFLICT');
  await move(group.teamId, 'CUSTOMER');
  expect((await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'labeled' })).created).toBe(true);
});

test('an environment that is left out is INVALID_INPUT, so that no group is untagged by mistake', async () => {
  const { teamId } = await create('kept', 'TESTING');
  const result = await mutate(gateway, 'setUserGroupEnvironment', { by: { teamId } }, admin);
  expect(result).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['environmentTag'] }] });
});
