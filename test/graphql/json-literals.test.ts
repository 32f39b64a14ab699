import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
let number = 0;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const stored = { plan: 'gold', region: 'eu' };

/** Creates a group, updates it with a literal, and returns the response and the properties that are stored then. */
async function update(declared: string, field: string, variables: Record<string, unknown>) {
  number += 1;
  const providedId = `group-${number}`;
  await mutate(gateway, 'getOrCreateUserGroup', { providedId, properties: stored });
  const document = `mutation ${declared} { updateUserGroup(input: { by: { providedId: "${providedId}" }, ${field} }) { __typename } }`;
  const { json } = await gateway.graphql(document, variables);
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId });
  return { json, properties: userGroup.properties };
}

test.each<[string, string, string, Record<string, unknown>, object]>([
  [
    'leaves a member out of a patch',
    '($plan: String, $region: String)',
    'mergeProperties: { plan: $plan, region: $region }',
    { region: 'us' },
    { plan: 'gold', region: 'us' },
  ],
  ['leaves a nested member out', '($x: Int)', 'properties: { a: { b: $x, c: 1 }, d: [{ e: $x }] }', {}, { a: { c: 1 }, d: [{}] }],
  ['is null in a list', '($x: Int)', 'properties: { a: [1, $x] }', {}, { a: [1, null] }],
  ['is its default', '($x: Int = 5)', 'properties: { a: $x }', {}, { a: 5 }],
])('a variable that is absent %s', async (_, declared, field, variables, properties) => {
  const result = await update(declared, field, variables);
  expect(result).toEqual({ json: { data: { updateUserGroup: { __typename: 'UpdateUserGroupPayload' } } }, properties });
});

test('a variable that is null removes a member', async () => {
  const { properties } = await update('($plan: String)', 'mergeProperties: { plan: $plan }', { plan: null });
  expect(properties).toEqual({ region: 'eu' });
});

test.each<[string, unknown]>([
  ['String!', 'x'],
  ['Int', 5],
  ['Float', 0.5],
  ['Boolean', true],
  ['ID', 'x'],
  ['JSON', { a: [null, { b: 1 }] }],
  ['[String!]!', ['x']],
  ['[[JSON]]', [[1, null], null]],
])('a variable of the type %s is stored as it was sent', async (type, value) => {
  const { properties } = await update(`($value: ${type})`, 'properties: { a: $value, b: [$value] }', { value });
  expect(properties).toEqual({ a: value, b: [value] });
});

test.each([
  ['Float', '9007199254740993'],
  ['Float', '0.10000000000000000555'],
  ['[Float]', '[12345678901234567890]'],
])('a default value of type %s that GraphQL would round is refused: %s', async (type, value) => {
  const { json, properties } = await update(`($value: ${type} = ${value})`, 'mergeProperties: { a: $value }', {});
  expect(json).toMatchObject({
    errors: [{ message: expect.stringContaining('exactly'), extensions: { code: 'INVALID_INPUT' } }],
  });
  expect(properties).toEqual(stored);
});

describe('a variable whose value GraphQL changes is refused, and nothing is changed', () => {
  test.each<[string, unknown]>([
    ['DateTime!', '2027-01-31T12:00:00+02:00'],
    ['[DateTime!]', ['2027-01-31T12:00:00+02:00']],
    ['EnvironmentTag!', 'TESTING'],
    ['UserGroupBy!', { teamId: 5 }],
    ['[DataSourceMappingInput!]', [{ schemaId: 'a', dataSource: 'b' }]],
  ])('%s', async (type, value) => {
    for (const field of ['properties: { a: $value }', 'mergeProperties: { a: [{ b: $value }] }', 'properties: [{ a: $value }]']) {
      const { json, properties } = await update(`($value: ${type})`, field, { value });
      const message = `Variable "$value" of type "${type}" cannot be a part of a JSON value. Send the whole value as one variable of type JSON.`;
      expect(json).toMatchObject({ errors: [{ message, extensions: { code: 'INVALID_INPUT' } }] });
      expect(json.data).toBeUndefined();
      expect(properties).toEqual(stored);
    }
  });

  test('in a fragment, by the type that each operation declares', async () => {
    const document = (types: readonly string[]) => `
      ${types.map((type, index) => `query q${index}($value: ${type}) { ...groups }`).join('\n')}
      fragment groups on Query { userGroups(filter: { properties: [{ path: ["a"], equals: { b: $value } }] }) { nodes { id } } }`;
    const send = async (types: readonly string[]) =>
      (await gateway.send('POST', '/graphql', { body: { query: document(types), operationName: 'q0', variables: {} } })).json;
    expect(await send(['String', 'Int'])).toEqual({ data: { userGroups: { nodes: [] } } });
    expect((await send(['String', 'DateTime'])).errors).toMatchObject([
      { message: expect.stringContaining('of type "DateTime"') },
    ]);
  });
});

test('the fast path reads variables alike', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'fast', properties: { a: {} } });
  const document = `query ($b: String) {
    userGroups(filter: { properties: [{ path: ["a"], equals: { b: $b } }] }) { nodes { id } } }`;
  for (let time = 0; time < 5; time += 1) {
    expect((await gateway.graphql(document, {})).json).toEqual({ data: { userGroups: { nodes: [{ id: userGroup.id }] } } });
    expect((await gateway.graphql(document, { b: 'x' })).json).toEqual({ data: { userGroups: { nodes: [] } } });
  }
});
