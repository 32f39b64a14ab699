import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeSilently } from '../../support/database.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { importText } from '../../support/group-files.ts';
import { groupFields, type Mutation, mutate } from '../../support/user-group-mutations.ts';

/** Two gateways on one database. */
let gateways: readonly [TestGateway, TestGateway];
let admin: string;
beforeAll(async () => {
  const first = await startGateway();
  gateways = [first, await startGateway(first.database)];
  admin = (await first.issue({ scopes: ['admin'] })).secret;
});
afterAll(async () => {
  await gateways[1].close();
  await gateways[0].close();
});

interface Group {
  readonly id: string;
  readonly teamId: number;
  readonly providedId: string;
  readonly token: string;
  readonly version: number;
}
let last = 0;
let group: Group;
async function newGroup(): Promise<Group> {
  last += 1;
  group = (await send('getOrCreateUserGroup', { providedId: `group ${last}` })).userGroup;
  return group;
}
beforeEach(newGroup);

const send = (mutation: Mutation, input: object, gateway = gateways[0]) => mutate(gateway, mutation, input, admin);
const eventCount = () => gateways[0].database.prisma.event.count();
const current = async (): Promise<Group | null> => {
  const query = `query ($id: ID!) { node(id: $id) { ... on UserGroup { ${groupFields} } } }`;
  return (await gateways[0].graphql(query, { id: group.id }, { token: admin })).json.data.node;
};

type Change = (own: Group) => [Mutation, object];

/** What changes a group, by each selector that differs in how the group is found. */
const changes: Readonly<Record<string, Change>> = {
  update: ({ teamId }) => ['updateUserGroup', { by: { teamId }, name: 'updated' }],
  'merge patch': ({ teamId }) => ['updateUserGroup', { by: { teamId }, mergeProperties: { merged: true } }],
  'update by its token': ({ token }) => ['updateUserGroup', { by: { token }, properties: { a: 1 } }],
  move: ({ teamId }) => ['setUserGroupEnvironment', { by: { teamId }, environmentTag: 'CUSTOMER' }],
  'rotation by its id': ({ id }) => ['rotateUserGroupToken', { by: { id } }],
  rotation: ({ token }) => ['rotateUserGroupToken', { currentToken: token }],
  'rotation with a grace period': ({ token }) => ['rotateUserGroupToken', { currentToken: token, graceSeconds: 60 }],
};
const deletion = ({ providedId }: Group): [Mutation, object] => ['deleteUserGroup', { by: { providedId } }];

test('the version after the greatest one is 1', async () => {
  const greatest = 2_147_483_647;
  await changeSilently(gateways[0].database, `update user_group set version = ${greatest} where team_id = ${group.teamId}`);
  const input = { by: { teamId: group.teamId }, name: 'updated', expectedVersion: greatest };
  expect((await send('updateUserGroup', input)).userGroup.version).toBe(1);
});

test('If-Match is rejected over GraphQL, instead of ignored', async () => {
  const reply = await gateways[0].send('POST', '/graphql', {
    headers: { 'if-match': '"77"' },
    body: { query: `mutation { updateUserGroup(input: { by: { teamId: ${group.teamId} } }) { __typename } }` },
  });
  expect([reply.status, reply.json.errors[0].message]).toEqual([400, expect.stringContaining('expectedVersion')]);
  expect((await current())?.version).toBe(1);
});

describe.each(Object.entries({ ...changes, deletion }))('%s', (name, change) => {
  test('is made when the group has the expected version, and leaves the next one', async () => {
    const [mutation, input] = change(group);
    const result = await send(mutation, { ...input, expectedVersion: 1 });
    expect(result.code).toBeUndefined();
    const after = await current();
    expect([result.userGroup ?? null, after?.version ?? null]).toEqual([after, name === 'deletion' ? null : 2]);
  });

  test('is VersionMismatch with the group as it is, and changes nothing, when it has another one', async () => {
    const own = (await send('updateUserGroup', { by: { teamId: group.teamId }, properties: { seen: true } })).userGroup;
    const events = await eventCount();
    const [mutation, input] = change(own);
    for (const expectedVersion of [1, 3, 2_147_483_647]) {
      expect(await send(mutation, { ...input, expectedVersion })).toEqual({
        __typename: 'VersionMismatch',
        code: 'VERSION_MISMATCH',
        userGroup: own,
        message: expect.stringContaining('Nothing was changed. Read the group again'),
      });
    }
    expect([await current(), await eventCount()]).toEqual([own, events]);
  });
});

test('an import increments the version of the groups that it changes', async () => {
  const { userGroup: same } = await send('getOrCreateUserGroup', { providedId: `other ${last}` });
  const lines = [
    { user_group_id: group.providedId, environment: 'Testing', name: 'imported' },
    { user_group_id: same.providedId, environment: 'Testing', name: same.name },
  ].map((line) => JSON.stringify(line));
  expect(await importText(gateways[0].database, lines.join('\n'), { onExisting: 'update' })).toMatchObject({ updated: 1 });
  const versionOf = async (providedId: string) => (await send('getOrCreateUserGroup', { providedId })).userGroup.version;
  expect([await versionOf(group.providedId), await versionOf(same.providedId)]).toEqual([2, 1]);
});

test.each<[string, Change]>([
  ['an update with equal values', ({ providedId }) => ['updateUserGroup', { by: { providedId }, name: providedId }]],
  ['an update without values', ({ id }) => ['updateUserGroup', { by: { id } }]],
  ['a move to its own environment', ({ id }) => ['setUserGroupEnvironment', { by: { id }, environmentTag: 'TESTING' }]],
])('%s returns the group with the version and time that it has', async (_, change) => {
  const [mutation, input] = change(group);
  const events = await eventCount();
  for (const expectedVersion of [null, 1]) expect((await send(mutation, { ...input, expectedVersion })).userGroup).toEqual(group);
  expect([await current(), await eventCount()]).toEqual([group, events]);
  expect(await send(mutation, { ...input, expectedVersion: 2 })).toMatchObject({ __typename: 'VersionMismatch' });
});

test('a group of another environment, and a token that is not current, are NotFound, whatever is expected', async () => {
  const { secret } = await gateways[0].issue({ environment: 'Customer' });
  const { token } = group;
  await send('rotateUserGroupToken', { currentToken: token, graceSeconds: 60 });
  const before = await current();
  for (const expectedVersion of [1, 2, 3]) {
    expect((await send('rotateUserGroupToken', { currentToken: token, expectedVersion })).code).toBe('NOT_FOUND');
    for (const [name, change] of Object.entries({ ...changes, deletion })) {
      if (name === 'move') continue; // requires admin, whose environments are all
      const [mutation, input] = change(group);
      expect((await mutate(gateways[0], mutation, { ...input, expectedVersion }, secret)).code, name).toBe('NOT_FOUND');
    }
  }
  expect(await current()).toEqual(before);
});

test('a conflict with another group is only found with the expected version', async () => {
  const by = { teamId: group.teamId };
  const { secret } = await gateways[0].issue({ environment: 'Customer' });
  await mutate(gateways[0], 'getOrCreateUserGroup', { providedId: group.providedId }, secret);
  const move = { by, environmentTag: 'CUSTOMER' };
  const codes = [];
  for (const expectedVersion of [1, 2]) codes.push((await send('setUserGroupEnvironment', { ...move, expectedVersion })).code);
  expect(codes).toEqual(['CONFLICT', 'VERSION_MISMATCH']);
});

test.each([
  ['by one selector', ['update', 'update']],
  ['of different kinds', [...Object.keys(changes), 'deletion']],
])('of concurrent changes %s that expect one version, one is made, on one gateway and on two', async (_, names) => {
  const all: typeof changes = { ...changes, deletion };
  for (const hosts of [[gateways[0]], gateways] as const) {
    for (let round = 0; round < 2; round += 1) {
      const before = await newGroup();
      const results = await Promise.all(
        names.map((name, index) => {
          const [mutation, input] = (all[name] as (own: Group) => [Mutation, object])(before);
          return send(mutation, { ...input, expectedVersion: before.version }, hosts[index % hosts.length]);
        }),
      );
      const codes = results.map(({ code }) => code ?? 'made');
      expect(codes.filter((code) => code === 'made')).toHaveLength(1);
      // After a rotation, the token of the others is not found; after a deletion, the group is not.
      expect(['VERSION_MISMATCH', 'NOT_FOUND', 'made']).toEqual(expect.arrayContaining(codes));
      const made = results.find(({ code }) => code === undefined);
      const after = await current();
      expect(after).toEqual(made?.userGroup ?? null);
      const seen = results.filter(({ code }) => code === 'VERSION_MISMATCH').map(({ userGroup }) => userGroup);
      expect(seen).toEqual(seen.map(() => after));
    }
  }
});
