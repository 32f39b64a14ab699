import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EnvironmentTag } from '../../../src/generated/prisma/client.ts';
import { issueToken } from '../../../src/tokens.ts';
import { type Reply, startGateway, type TestGateway } from '../../support/gateway.ts';
import { mutate } from '../../support/user-group-mutations.ts';

type Environment = EnvironmentTag | null;
const all = ['Customer', 'Testing', null] as const;
const pairs = all.flatMap((own) => all.map((other) => [own, other] as const)).filter(([own, other]) => own !== other);
const nameOf = (environment: Environment) => environment && (environment === 'Customer' ? 'CUSTOMER' : 'TESTING');

let gateway: TestGateway;
const callers = new Map<Environment, string>();
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  for (const environment of all) callers.set(environment, (await gateway.issue({ environment })).secret);
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());

const as = (environment: Environment) => ({ token: callers.get(environment) ?? '' });
const rest = (method: string, body: object, token?: string) => gateway.send(method, '/api/user', { body, token });
const create = (environment: Environment, user_group_id: string) => rest('GET', { user_group_id }, as(environment).token);

describe('one id', () => {
  test.each(pairs)('of a group of %s and then of %s: a tagged one shares it with the other tag alone', async (first, second) => {
    const id = `shared ${first} ${second}`;
    const [one, two] = [await create(first, id), await create(second, id)];
    if (first === null || second === null) {
      expect([two.status, two.json.code]).toEqual([409, 'CONFLICT']);
      const stored = await gateway.database.prisma.userGroup.findMany({ where: { providedId: id } });
      expect(stored).toMatchObject([{ environmentTag: first }]);
      return;
    }
    expect([one.json.new_user_group, two.json.new_user_group]).toEqual([true, true]);
    expect(two.json.user_group.token).not.toBe(one.json.user_group.token);
    expect((await create(null, id)).status).toBe(409);
    // An update and a rotation reach the own group only.
    await rest('PUT', { user_group_id: id, name: 'changed' }, as(second).token);
    await rest('POST', { current_token: two.json.user_group.token }, as(second).token);
    expect((await create(first, id)).json.user_group).toEqual(one.json.user_group);
    const changed = (await create(second, id)).json.user_group;
    expect([changed.name, changed.token === two.json.user_group.token]).toEqual(['changed', false]);
  });

  test.each([
    ['Customer', 'Testing'],
    ['Testing', 'Customer'],
  ] as const)('with admin in %s, what is repeated after a deletion does not reach the group of %s', async (own, other) => {
    const id = `repeated ${own}`;
    const by = { providedId: id };
    const kept = (await create(other, id)).json.user_group;
    const { secret: token } = await gateway.issue({ environment: own, scopes: ['admin'] });
    await rest('GET', { user_group_id: id }, token);
    expect((await rest('DELETE', { user_group_id: id }, token)).status).toBe(200);
    const again = await rest('DELETE', { user_group_id: id }, token);
    expect([again.status, again.json.detail]).toEqual([404, expect.stringContaining(`One of ${other} has`)]);
    expect((await rest('PUT', { user_group_id: id, name: 'changed' }, token)).status).toBe(404);
    expect(await mutate(gateway, 'deleteUserGroup', { by }, token)).toMatchObject({ code: 'NOT_FOUND' });
    expect((await create(other, id)).json.user_group).toEqual(kept);
    // GraphQL changes it, and deletes it by its number.
    expect((await mutate(gateway, 'updateUserGroup', { by, name: 'changed' }, token)).userGroup.name).toBe('changed');
    const deletion = await mutate(gateway, 'deleteUserGroup', { by: { teamId: kept.team_id } }, token);
    expect(deletion.__typename).toBe('DeleteUserGroupPayload');
  });

  test.each([
    ['Customer', null],
    [null, 'Testing'],
  ] as const)('with admin in %s, one of %s that no other group can have is changed over REST', async (own, other) => {
    const user_group_id = `single ${own} ${other}`;
    await create(other, user_group_id);
    const { secret: token } = await gateway.issue({ environment: own, scopes: ['admin'] });
    expect((await rest('PUT', { user_group_id, name: 'changed' }, token)).status).toBe(200);
    expect((await rest('DELETE', { user_group_id }, token)).status).toBe(200);
  });

  test('that means two groups to an admin is INVALID_INPUT by every mutation but a deletion by their environment', async () => {
    const providedId = 'twofold';
    for (const environmentTag of ['CUSTOMER', 'TESTING'])
      await mutate(gateway, 'getOrCreateUserGroup', { providedId, environmentTag }, admin);
    for (const [mutation, change] of [
      ['updateUserGroup', { name: 'x' }],
      ['deleteUserGroup', {}],
      ['setUserGroupEnvironment', { environmentTag: 'CUSTOMER' }],
    ] as const) {
      const result = await mutate(gateway, mutation, { by: { providedId }, ...change }, admin);
      expect(result).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['by', 'providedId'] }] });
    }
  });
});

interface Group {
  id: string;
  teamId: number;
  providedId: string;
  token: string;
  formerToken: string;
}
const nobody: Group = {
  id: Buffer.from('UserGroup:2147483647').toString('base64'),
  teamId: 2_147_483_647,
  providedId: 'of nobody',
  token: issueToken('userGroup'),
  formerToken: issueToken('userGroup'),
};

const failure = '__typename ... on Error { code message }';
const lookUp = 'query ($by: UserGroupBy!) { userGroup(by: $by) { id teamId providedId token } }';
const rotate = `mutation ($token: String!, $grace: Int) {
  rotateUserGroupToken(input: { currentToken: $token, graceSeconds: $grace }) { ${failure} } }`;
const byMutation = (name: string, change: string) => {
  const document = `mutation ($by: UserGroupBy!) { ${name}(input: { by: $by${change} }) { ${failure} } }`;
  return (by: object): [string, Record<string, unknown>] => [document, { by }];
};
const update = byMutation('updateUserGroup', ', name: "changed"');

/** Every way to ask for a group, as a document and its variables. */
const ways: Record<string, (group: Group) => [string, Record<string, unknown>]> = {
  'userGroup by id': ({ id }) => [lookUp, { by: { id } }],
  'userGroup by teamId': ({ teamId }) => [lookUp, { by: { teamId } }],
  'userGroup by providedId': ({ providedId }) => [lookUp, { by: { providedId } }],
  'userGroup by token': ({ token }) => [lookUp, { by: { token } }],
  'userGroup by a token in its grace period': ({ formerToken }) => [lookUp, { by: { token: formerToken } }],
  node: ({ id }) => ['query ($id: ID!) { node(id: $id) { __typename id } }', { id }],
  nodes: ({ id }) => ['query ($id: ID!) { nodes(ids: [$id, "x"]) { __typename id } }', { id }],
  'updateUserGroup by id': ({ id }) => update({ id }),
  'updateUserGroup by teamId': ({ teamId }) => update({ teamId }),
  'updateUserGroup by providedId': ({ providedId }) => update({ providedId }),
  'updateUserGroup by token': ({ token }) => update({ token }),
  'a merge patch': ({ teamId }) => byMutation('updateUserGroup', ', mergeProperties: { a: 1 }')({ teamId }),
  suspendUserGroup: ({ teamId }) => byMutation('suspendUserGroup', '')({ teamId }),
  'rotateUserGroupToken by id': ({ id }) => byMutation('rotateUserGroupToken', '')({ id }),
  rotateUserGroupToken: ({ token }) => [rotate, { token, grace: 60 }],
  'rotateUserGroupToken of a token in its grace period': ({ formerToken }) => [rotate, { token: formerToken }],
  'deleteUserGroup by providedId': ({ providedId }) => byMutation('deleteUserGroup', '')({ providedId }),
  'deleteUserGroup by token': ({ token }) => byMutation('deleteUserGroup', '')({ token }),
};
const restWays: Record<string, (group: Group) => object> = {
  PUT: ({ providedId }) => ({ user_group_id: providedId, name: 'changed' }),
  POST: ({ token }) => ({ current_token: token }),
  DELETE: ({ providedId }) => ({ user_group_id: providedId }),
};

/** A group with a token in its grace period. */
async function give(environment: Environment, providedId: string): Promise<Group> {
  const formerToken = (await create(environment, providedId)).json.user_group.token;
  await gateway.graphql(rotate, { token: formerToken, grace: 600 }, as(environment));
  return { ...(await gateway.graphql(lookUp, { by: { providedId } }, as(environment))).json.data.userGroup, formerToken };
}

/** All of an answer that a caller can look at, but for what differs between any two requests. */
const visible = ({ status, headers, json }: Reply) => ({
  status,
  headers: [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id'),
  json: { ...json, request_id: undefined },
});

test.each(pairs)('to a caller of %s, a group of %s is like none, by every way', async (own, other) => {
  const group = await give(other, `of ${other}, hidden from ${own}`);
  const stored = () => gateway.database.prisma.userGroup.findUnique({ where: { teamId: group.teamId } });
  const before = await stored();
  for (const [way, ask] of Object.entries(ways)) {
    const [reply, none] = [await gateway.graphql(...ask(group), as(own)), await gateway.graphql(...ask(nobody), as(own))];
    expect(visible(reply), way).toEqual(visible(none));
  }
  for (const [method, body] of Object.entries(restWays)) {
    const [reply, none] = [await rest(method, body(group), as(own).token), await rest(method, body(nobody), as(own).token)];
    expect(reply.status, method).toBe(404);
    expect(visible(reply), method).toEqual(visible(none));
  }
  expect(await stored()).toEqual(before);
});

test.each(all)('to an admin, a group of %s is there by every way that leaves its token', async (environment) => {
  const group = await give(environment, `of ${environment}`);
  for (const [way, ask] of Object.entries(ways)) {
    if (/rotate|suspend|delete/.test(way)) continue;
    const { json } = await gateway.graphql(...ask(group), { token: admin });
    expect(JSON.stringify(json), way).not.toMatch(/"userGroup":null|"node":null|\[null|"errors"|NotFound/);
  }
  expect((await rest('POST', { current_token: group.token }, admin)).json.user_group.team_id).toBe(group.teamId);
});

describe('getOrCreateUserGroup that names the environment', () => {
  const run = (input: object, token: string) => mutate(gateway, 'getOrCreateUserGroup', input, token);
  const countOf = (providedId: string) => gateway.database.prisma.userGroup.count({ where: { providedId } });

  test.each(all)('an admin gets or creates a group of %s, which callers of it find', async (environment) => {
    const input = { providedId: `named ${environment} by admin`, environmentTag: nameOf(environment) };
    const created = await run(input, admin);
    expect(created).toMatchObject({ created: true, userGroup: { environmentTag: nameOf(environment) } });
    expect(await run(input, admin)).toEqual({ ...created, created: false });
    expect(await run({ providedId: input.providedId }, as(environment).token)).toEqual({ ...created, created: false });
  });

  test('for an admin, null is untagged, and none is its own one', async () => {
    const { secret } = await gateway.issue({ environment: 'Customer', scopes: ['admin'] });
    const tagOf = async (input: object) => (await run(input, secret)).userGroup.environmentTag;
    expect(await tagOf({ providedId: 'named null', environmentTag: null })).toBeNull();
    expect(await tagOf({ providedId: 'left out' })).toBe('CUSTOMER');
  });

  test.each(all.flatMap((own) => all.map((named) => [own, named] as const)))(
    'a caller of %s that names %s: its own works, another is FORBIDDEN',
    async (own, named) => {
      const providedId = `caller of ${own} names ${named}`;
      const result = await run({ providedId, environmentTag: nameOf(named) }, as(own).token);
      if (own === named) return expect(result).toMatchObject({ created: true, userGroup: { environmentTag: nameOf(own) } });
      expect(result).toMatchObject({ __typename: 'Forbidden', code: 'FORBIDDEN', message: expect.stringContaining('admin') });
      expect(await countOf(providedId)).toBe(0);
    },
  );

  test('FORBIDDEN goes before what is wrong with the input, and before whether the id is held', async () => {
    await run({ providedId: 'held elsewhere', environmentTag: null }, admin);
    for (const providedId of ['', 'held elsewhere'])
      expect((await run({ providedId, environmentTag: 'CUSTOMER' }, as('Testing').token)).code).toBe('FORBIDDEN');
  });

  test.each([
    ['Testing', null, /another id.*label the untagged group.*setUserGroupEnvironment.*admin/],
    [null, 'Customer', /another id.*API token of that environment/],
  ] as const)('the CONFLICT of a caller of %s with a group of %s says what it can do', async (own, holder, remedy) => {
    const providedId = `remedy for ${own}`;
    await run({ providedId, environmentTag: nameOf(holder) }, admin);
    const { code, message } = await run({ providedId }, as(own).token);
    expect([code, message]).toEqual(['CONFLICT', expect.stringMatching(remedy)]);
  });
});
