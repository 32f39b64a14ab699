import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { storedToken } from '../../support/keys.ts';

interface Group {
  id: string;
  teamId: number;
  providedId: string;
  token: string;
}

let gateway: TestGateway;
/** Two groups that there are. */
let acme: Group;
let umbrella: Group;
beforeAll(async () => {
  gateway = await startGateway();
  acme = await create('acme');
  umbrella = await create('umbrella');
});
afterAll(() => gateway.close());

async function create(id: string): Promise<Group> {
  const document = `mutation ($id: String!) { getOrCreateUserGroup(input: { providedId: $id }) {
    ... on GetOrCreateUserGroupPayload { userGroup { id teamId providedId token } } } }`;
  return (await gateway.graphql(document, { id })).json.data.getOrCreateUserGroup.userGroup;
}

const nodeId = (text: string) => Buffer.from(text).toString('base64');

/** Ids of no object. */
const unknownIds: [string, string][] = [
  ['empty', ''],
  ['no node id', 'acme'],
  ['not of base64', '😀 not base64'],
  ['of a type that is not there', nodeId('Nothing:1')],
  ['beyond 32 bits', nodeId('UserGroup:2147483648')],
  ['beyond all numbers', nodeId(`UserGroup:${'9'.repeat(400)}`)],
  ['with SQL', nodeId('UserGroup:1 or 1=1')],
  ['with NUL', nodeId('UserGroup:1\0')],
  ['of no group', nodeId('UserGroup:2147483647')],
];

describe('node', () => {
  const query = 'query ($id: ID!) { node(id: $id) { __typename id ... on UserGroup { providedId } } }';

  test('is the group with the id', async () => {
    const { json } = await gateway.graphql(query, { id: acme.id });
    expect(json).toEqual({ data: { node: { __typename: 'UserGroup', id: acme.id, providedId: 'acme' } } });
  });
});

describe('nodes', () => {
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  const ask = async (ids: string[]) => (await gateway.graphql(query, { ids })).json;

  test('come in the order of the ids, null for each that is not there, twice when asked twice', async () => {
    const nobody = nodeId('UserGroup:2147483647');
    expect(await ask([umbrella.id, 'garbage', acme.id, nobody, umbrella.id])).toEqual({
      data: { nodes: [{ id: umbrella.id }, null, { id: acme.id }, null, { id: umbrella.id }] },
    });
  });

  test('are null for every id of no object', async () => {
    expect(await ask(unknownIds.map(([, id]) => id))).toEqual({ data: { nodes: unknownIds.map(() => null) } });
  });

  test('are 100 at most', async () => {
    expect((await ask(Array(100).fill(acme.id))).data.nodes).toHaveLength(100);
    const { errors } = await ask(Array(101).fill(acme.id));
    expect(errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['ids'] }] });
  });
});

describe('userGroup', () => {
  const query = 'query ($by: UserGroupBy!) { userGroup(by: $by) { providedId } }';
  const ask = async (by: unknown) => (await gateway.graphql(query, { by })).json;

  test.each(['id', 'teamId', 'providedId', 'token'] as const)('is the group by its %s', async (selector) => {
    expect(await ask({ [selector]: acme[selector] })).toEqual({ data: { userGroup: { providedId: 'acme' } } });
  });

  test.each<[string, unknown]>([
    ...unknownIds.map(([name, id]): [string, unknown] => [`an id ${name}`, { id }]),
    ['a team id of no group', { teamId: 2_147_483_647 }],
    ['a team id of 0', { teamId: 0 }],
    ['a provided id of no group', { providedId: 'nobody' }],
    ['a provided id in other case', { providedId: 'ACME' }],
    ['a token of no group', { token: 'nobody-has-this-token' }],
  ])('is null by %s', async (_, by) => {
    expect(await ask(by)).toEqual({ data: { userGroup: null } });
  });

  test.each([
    ['16 characters', 'imported-token-1'],
    ['255 characters', 'y'.repeat(255)],
    ['any printable form', 'Ein “Token” mit Ümläuten'],
  ])('is an imported group by its token of %s', async (_, token) => {
    const data = { providedId: token, environmentTag: 'Testing', name: 'n', ...storedToken(token) } as const;
    await gateway.database.prisma.userGroup.create({ data });
    expect(await ask({ token })).toEqual({ data: { userGroup: { providedId: token } } });
  });

  test.each<[string, unknown]>([
    ['none', {}],
    ['two', { providedId: 'acme', teamId: 1 }],
    ['one and a null', { providedId: 'acme', token: null }],
    ['a provided id that is a number', { providedId: 5 }],
    ['a team id that is a text', { teamId: '1' }],
    ['a team id beyond 32 bits', { teamId: 2_147_483_648 }],
    ['a provided id too long', { providedId: 'x'.repeat(256) }],
    ['a provided id with NUL', { providedId: 'acme\0' }],
    ['a token too long', { token: 'x'.repeat(256) }],
    ['a token with a lone surrogate', { token: `${'x'.repeat(20)}\ud800` }],
  ])('is refused by %s', async (_, by) => {
    const { data, errors } = await ask(by);
    expect(data?.userGroup ?? null).toBeNull();
    expect(errors[0].extensions.code).toBe('INVALID_INPUT');
  });
});
