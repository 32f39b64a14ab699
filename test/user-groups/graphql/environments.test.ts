import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EnvironmentTag } from '../../../src/generated/prisma/client.ts';
import { issueToken } from '../../../src/tokens.ts';
import { type Reply, startGateway, type TestGateway } from '../../support/gateway.ts';

type Environment = EnvironmentTag | null;

let gateway: TestGateway;
const callers = new Map<Environment, string>();
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  for (const environment of ['Customer', 'Testing', null] as const) {
    callers.set(environment, (await gateway.issue({ environment })).secret);
  }
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());

const as = (environment: Environment) => ({ token: callers.get(environment) ?? '' });
const create = (environment: Environment, user_group_id: string) =>
  gateway.send('GET', '/api/user', { body: { user_group_id }, ...as(environment) });

describe('one id in two environments', () => {
  test.each([
    ['Customer', 'Testing'],
    ['Testing', 'Customer'],
  ] as const)('%s and then %s share it, each with a group of its own', async (first, second) => {
    const id = `shared ${first} ${second}`;
    const [one, two] = [await create(first, id), await create(second, id)];
    expect([one.json.new_user_group, two.json.new_user_group]).toEqual([true, true]);
    expect(two.json.user_group.token).not.toBe(one.json.user_group.token);
    expect((await create(first, id)).json.user_group).toEqual(one.json.user_group);
    expect((await create(second, id)).json.user_group).toEqual(two.json.user_group);
  });

  test.each<[Environment, Environment]>([
    [null, 'Customer'],
    [null, 'Testing'],
    ['Customer', null],
    ['Testing', null],
  ])('%s and then %s conflict', async (first, second) => {
    const id = `conflict ${first} ${second}`;
    await create(first, id);
    const reply = await create(second, id);
    expect([reply.status, reply.json.code]).toEqual([409, 'CONFLICT']);
    expect(await gateway.database.prisma.userGroup.findMany({ where: { providedId: id } })).toMatchObject([
      { environmentTag: first },
    ]);
  });

  test('an untagged group conflicts with both halves of an id that is shared already', async () => {
    await create('Customer', 'both');
    await create('Testing', 'both');
    expect((await create(null, 'both')).status).toBe(409);
  });

  test('an update and a rotation reach the own group only', async () => {
    const customer = (await create('Customer', 'own')).json.user_group;
    const testing = (await create('Testing', 'own')).json.user_group;
    await gateway.send('PUT', '/api/user', { body: { user_group_id: 'own', name: 'changed' }, ...as('Testing') });
    await gateway.send('POST', '/api/user', { body: { current_token: testing.token }, ...as('Testing') });
    expect((await create('Customer', 'own')).json.user_group).toEqual(customer);
    const changed = (await create('Testing', 'own')).json.user_group;
    expect([changed.name, changed.token === testing.token]).toEqual(['changed', false]);
  });

  test.each([
    ['Customer', 'Testing'],
    ['Testing', 'Customer'],
  ] as const)(
    'with admin in %s, a change that is repeated after a deletion does not reach the group of %s',
    async (own, other) => {
      const id = `repeated ${own}`;
      const kept = (await create(other, id)).json.user_group;
      const { secret: token } = await gateway.issue({ environment: own, scopes: ['admin'] });
      await gateway.send('GET', '/api/user', { body: { user_group_id: id }, token });
      const change = (method: string) =>
        gateway.send(method, '/api/user', { body: { user_group_id: id, ...(method === 'PUT' && { name: 'changed' }) }, token });
      expect([(await change('DELETE')).status, (await change('DELETE')).status, (await change('PUT')).status]).toEqual([
        200, 404, 404,
      ]);
      expect((await change('DELETE')).json.detail).toContain(`One of ${other} has`);
      const keyed = { body: { user_group_id: id }, token, headers: { 'idempotency-key': `key-${own}` } };
      expect((await gateway.send('DELETE', '/api/user', keyed)).status).toBe(404);
      expect((await create(other, id)).json.user_group).toEqual(kept);
      // GraphQL reaches it.
      const input = { by: { providedId: id }, name: 'changed' };
      const document = 'mutation ($input: UpdateUserGroupInput!) { updateUserGroup(input: $input) { __typename } }';
      expect((await gateway.graphql(document, { input }, { token })).json.data.updateUserGroup.__typename).toMatch(/Payload$/);
    },
  );

  test.each<[Environment, Environment]>([
    ['Customer', null],
    [null, 'Customer'],
    [null, 'Testing'],
  ])('with admin in %s, an id of %s that no other group can have is changed', async (own, other) => {
    const id = `single ${own} ${other}`;
    await create(other, id);
    const { secret: token } = await gateway.issue({ environment: own, scopes: ['admin'] });
    expect((await gateway.send('PUT', '/api/user', { body: { user_group_id: id, name: 'changed' }, token })).status).toBe(200);
    expect((await gateway.send('DELETE', '/api/user', { body: { user_group_id: id }, token })).status).toBe(200);
  });
});

describe('a group of another environment', () => {
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

  const select = 'id teamId providedId name token environmentTag properties mapping { schemaId dataSource } createdAt updatedAt';
  const failure = '__typename ... on Error { code message }';
  const lookUp = `query ($by: UserGroupBy!) { userGroup(by: $by) { ${select} } }`;
  const update = `mutation ($by: UserGroupBy!) { updateUserGroup(input: { by: $by, name: "changed" }) { ${failure} } }`;
  const rotate = `mutation ($token: String!, $grace: Int) {
    rotateUserGroupToken(input: { currentToken: $token, graceSeconds: $grace }) { ${failure} } }`;
  const node = 'query ($id: ID!) { node(id: $id) { __typename id } }';
  const nodes = 'query ($id: ID!) { nodes(ids: [$id, "x"]) { __typename id } }';

  /** Every way to ask for a group, as a document and its variables. */
  const graphqlWays: [string, (group: Group) => [string, Record<string, unknown>]][] = [
    ['userGroup by id', ({ id }) => [lookUp, { by: { id } }]],
    ['userGroup by teamId', ({ teamId }) => [lookUp, { by: { teamId } }]],
    ['userGroup by providedId', ({ providedId }) => [lookUp, { by: { providedId } }]],
    ['userGroup by token', ({ token }) => [lookUp, { by: { token } }]],
    ['userGroup by a token in its grace period', ({ formerToken }) => [lookUp, { by: { token: formerToken } }]],
    ['node', ({ id }) => [node, { id }]],
    ['nodes', ({ id }) => [nodes, { id }]],
    ['updateUserGroup by id', ({ id }) => [update, { by: { id } }]],
    ['updateUserGroup by teamId', ({ teamId }) => [update, { by: { teamId } }]],
    ['updateUserGroup by providedId', ({ providedId }) => [update, { by: { providedId } }]],
    ['updateUserGroup by token', ({ token }) => [update, { by: { token } }]],
    ['rotateUserGroupToken', ({ token }) => [rotate, { token }]],
    ['rotateUserGroupToken with a grace period', ({ token }) => [rotate, { token, grace: 60 }]],
    ['rotateUserGroupToken of a token in its grace period', ({ formerToken }) => [rotate, { token: formerToken }]],
  ];
  const restWays: [string, string, (group: Group) => object][] = [
    ['PUT', 'PUT', ({ providedId }) => ({ user_group_id: providedId, name: 'changed' })],
    ['POST', 'POST', ({ token }) => ({ current_token: token })],
    ['POST of a token in its grace period', 'POST', ({ formerToken }) => ({ current_token: formerToken })],
  ];

  /** A group with a token in its grace period. */
  async function give(environment: Environment, providedId: string): Promise<Group> {
    const { json } = await create(environment, providedId);
    const formerToken = json.user_group.token;
    await gateway.graphql(rotate, { token: formerToken, grace: 600 }, as(environment));
    const group = (await gateway.graphql(lookUp, { by: { providedId } }, as(environment))).json.data.userGroup;
    return { ...group, formerToken };
  }

  /** All of an answer that a caller can look at, but for what differs between any two requests. */
  const visible = ({ status, headers, json }: Reply) => ({
    status,
    headers: [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id'),
    json: { ...json, request_id: undefined },
  });

  const pairs: [Environment, Environment][] = [
    ['Testing', 'Customer'],
    ['Customer', 'Testing'],
    ['Testing', null],
    ['Customer', null],
    [null, 'Customer'],
    [null, 'Testing'],
  ];

  describe.each(pairs)('to a caller of %s, one of %s', (own, other) => {
    let group: Group;
    let before: unknown;
    const stored = () => gateway.database.prisma.userGroup.findUnique({ where: { teamId: group.teamId } });
    beforeAll(async () => {
      group = await give(other, `of ${other}, hidden from ${own}`);
      before = await stored();
    });

    test.each(graphqlWays)('is like none by %s', async (_, ask) => {
      const [reply, none] = [await gateway.graphql(...ask(group), as(own)), await gateway.graphql(...ask(nobody), as(own))];
      expect(visible(reply)).toEqual(visible(none));
      expect(await stored()).toEqual(before);
    });

    test.each(restWays)('is like none by %s', async (_, method, body) => {
      const reply = await gateway.send(method, '/api/user', { body: body(group), ...as(own) });
      const none = await gateway.send(method, '/api/user', { body: body(nobody), ...as(own) });
      expect(reply.status).toBe(404);
      expect(visible(reply)).toEqual(visible(none));
      expect(await stored()).toEqual(before);
    });
  });

  describe.each(['Customer', 'Testing', null] as const)('of %s, to an admin', (environment) => {
    let group: Group;
    beforeAll(async () => {
      group = await give(environment, `of ${environment}`);
    });

    test.each(graphqlWays.filter(([name]) => !name.includes('rotate')))('is there by %s', async (_, ask) => {
      const { json } = await gateway.graphql(...ask(group), { token: admin });
      expect(JSON.stringify(json)).not.toMatch(/"userGroup":null|"node":null|\[null|"errors"|NotFound/);
    });

    test('can have its token rotated', async () => {
      const { token, teamId } = await give(environment, `of ${environment}, to rotate`);
      const reply = await gateway.send('POST', '/api/user', { body: { current_token: token }, token: admin });
      expect([reply.status, reply.json.user_group.team_id]).toEqual([200, teamId]);
    });
  });
});

describe('getOrCreateUserGroup that names the environment', () => {
  const document = `mutation ($input: GetOrCreateUserGroupInput!) { result: getOrCreateUserGroup(input: $input) { __typename
    ... on GetOrCreateUserGroupPayload { created userGroup { teamId environmentTag } } ... on Error { code message } } }`;
  const run = async (input: object, token: string) => (await gateway.graphql(document, { input }, { token })).json.data.result;
  const names = { Customer: 'CUSTOMER', Testing: 'TESTING' } as const;
  const nameOf = (environment: Environment) => environment && names[environment];
  const all = ['Customer', 'Testing', null] as const;
  const countOf = (providedId: string) => gateway.database.prisma.userGroup.count({ where: { providedId } });

  test.each(all)('an admin gets or creates a group of %s', async (environment) => {
    const input = { providedId: `named ${environment} by admin`, environmentTag: nameOf(environment) };
    const created = await run(input, admin);
    expect(created).toMatchObject({ created: true, userGroup: { environmentTag: nameOf(environment) } });
    expect(await run(input, admin)).toEqual({ ...created, created: false });
    // The callers of that environment find the same group.
    expect(await run({ providedId: input.providedId }, as(environment).token)).toEqual({ ...created, created: false });
  });

  test('an admin that names none works in its own environment', async () => {
    const { secret } = await gateway.issue({ environment: 'Customer', scopes: ['admin'] });
    expect(await run({ providedId: 'named by none' }, secret)).toMatchObject({ userGroup: { environmentTag: 'CUSTOMER' } });
  });

  test('an explicit null is untagged, also to an admin of an environment, and a variable that is left out names none', async () => {
    const { secret } = await gateway.issue({ environment: 'Customer', scopes: ['admin'] });
    const given = `mutation ($id: String!, $tag: EnvironmentTag) { result: getOrCreateUserGroup(input: { providedId: $id, environmentTag: $tag }) {
      ... on GetOrCreateUserGroupPayload { userGroup { environmentTag } } } }`;
    const ask = async (variables: Record<string, unknown>) =>
      (await gateway.graphql(given, variables, { token: secret })).json.data.result;
    expect(await ask({ id: 'named null', tag: null })).toEqual({ userGroup: { environmentTag: null } });
    expect(await ask({ id: 'left out' })).toEqual({ userGroup: { environmentTag: 'CUSTOMER' } });
  });

  test.each(all.flatMap((own) => all.map((named) => [own, named] as const)))(
    'a caller of %s that names %s: its own works, another is FORBIDDEN',
    async (own, named) => {
      const providedId = `caller of ${own} names ${named}`;
      const result = await run({ providedId, environmentTag: nameOf(named) }, as(own).token);
      if (own === named) {
        expect(result).toMatchObject({ created: true, userGroup: { environmentTag: nameOf(own) } });
      } else {
        expect(result).toMatchObject({ __typename: 'Forbidden', code: 'FORBIDDEN', message: expect.stringContaining('admin') });
        expect(await countOf(providedId)).toBe(0);
      }
    },
  );

  test('FORBIDDEN goes before what is wrong with the input, and before whether the id is held', async () => {
    await run({ providedId: 'held elsewhere', environmentTag: null }, admin);
    for (const providedId of ['', 'held elsewhere']) {
      const result = await run({ providedId, environmentTag: 'CUSTOMER' }, as('Testing').token);
      expect(result.code).toBe('FORBIDDEN');
    }
  });

  test.each([
    ['Customer', 'Testing', undefined],
    ['Customer', null, 'CONFLICT'],
    [null, 'Customer', 'CONFLICT'],
    [null, 'Testing', 'CONFLICT'],
    ['Testing', null, 'CONFLICT'],
  ] as const)('an admin that creates one id in %s and then in %s: %s', async (first, second, code) => {
    const providedId = `conflict of ${first} and ${second}`;
    await run({ providedId, environmentTag: nameOf(first) }, admin);
    expect((await run({ providedId, environmentTag: nameOf(second) }, admin)).code).toBe(code);
    expect(await countOf(providedId)).toBe(code ? 1 : 2);
  });

  test.each([
    ['a tagged caller', 'Testing', null, /another id.*label the untagged group.*setUserGroupEnvironment.*admin/],
    ['an untagged caller', null, 'Customer', /another id.*API token of that environment/],
  ] as const)('the CONFLICT of %s says what that caller can do', async (_, own, holder, remedy) => {
    const providedId = `remedy for ${own}`;
    await run({ providedId, environmentTag: nameOf(holder) }, admin);
    const { code, message } = await run({ providedId }, as(own).token);
    expect([code, message]).toEqual(['CONFLICT', expect.stringMatching(remedy)]);
  });
});
