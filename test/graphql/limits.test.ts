import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlLimits } from '../../src/graphql/limits.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const { maxCost } = graphqlLimits;

let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  admin = (await gateway.issue({ scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());

const repeat = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ');

const send = (query: string, more: object = {}) => gateway.send('POST', '/graphql', { body: { query, ...more }, token: admin });

test.each<[string, string, number]>([
  ['__typename', '{ a: __typename b: __typename }', 2],
  ['a field of the root', '{ caller { name } }', 22],
  ['a list whose size is in the document', '{ nodes(ids: ["a", "b", "c"]) { id } }', 21 + 60 + 3],
  ['a list whose size is in a variable', 'query ($ids: [ID!]! = []) { nodes(ids: $ids) { id } }', 21 + 2_000 + 100],
  ['a page of 20 by default', '{ userGroups { nodes { name token } } }', 21 + 1 + 20 * 2],
  ['the first items', '{ userGroups(first: 3) { nodes { name } edges { cursor node { id } } } }', 21 + 1 + 3 + 1 + 3 * 3],
  ['the last items', '{ userGroups(last: 100) { pageInfo { endCursor } nodes { name } } }', 21 + 2 + 1 + 100],
  ['a filter and the count', '{ userGroups(first: 1, filter: { search: "a" }) { totalCount } }', 21 + 300 + 301],
  [
    'the events of groups',
    '{ userGroups(first: 3) { nodes { events(first: 5) { nodes { id type } } } } }',
    22 + 3 * (21 + 1 + 10),
  ],
  [
    'fragments',
    '{ userGroups(first: 4) { ...P } } fragment P on UserGroupConnection { nodes { ...G } } fragment G on UserGroup { name id }',
    21 + 1 + 8,
  ],
  ['the costliest type of an interface', '{ node(id: "x") { ... on UserGroup { id name } ... on ApiToken { id } } }', 21 + 2],
])('the cost of %s', async (_, query, cost) => {
  expect((await send(query, { extensions: { cost: true } })).json.extensions.cost).toEqual({ cost, limit: maxCost });
});

const whole = { descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true, oneOf: true };

test('introspection as clients send it is executed, without a credential', async () => {
  const { status, json } = await gateway.graphql(getIntrospectionQuery(whole), {}, { token: null });
  expect([status, json.errors, json.data.__schema.types.length > 50]).toEqual([200, undefined, true]);
});

describe('a document over a limit is refused with 400 and one error', () => {
  const rows: Record<string, readonly [query: string, message: string]> = {
    cost: [
      `{ ${repeat(20, (i) => `a${i}: userGroups(first: 100) { nodes { ${'id name token teamId providedId version status '.repeat(3)} } }`)} }`,
      'the limit is 30000',
    ],
    'searches under many aliases': [
      `{ ${repeat(60, (i) => `a${i}: userGroups(filter: { search: "a" }) { totalCount }`)} }`,
      'the limit is 30000',
    ],
    'fragments that double': [
      `{ ...F0 } ${repeat(60, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F60 on Query { caller { name } }`,
      'the limit is 30000',
    ],
    'large values': [
      `{ userGroups(first: 100) { nodes { ${repeat(4, (i) => `a${i}: properties`)} } } }`,
      'up to 400 large values',
    ],
    'large values of events': [
      '{ userGroups { nodes { properties events(first: 10) { nodes { changes } } } } }',
      'up to 420 large values',
    ],
    'large values of many documents': [
      `query ($s: String!) { ${repeat(40, (i) => `a${i}: validateDocsConfig(input: { source: $s }) { config }`)} }`,
      'the limit is 30000',
    ],
    'large values of a bulk result': [
      'mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) { ... on GetOrCreateUserGroupsPayload { results { ... on GetOrCreateUserGroupPayload { userGroup { properties } } } } } }',
      'up to 1000 large values',
    ],
    'an alias in introspection': ['{ __schema { types { a: fields { name } } } }', 'cannot have an alias: "a"'],
    'introspection under many aliases': [
      `{ ${repeat(20, (i) => `a${i}: __type(name: "Query") { name }`)} }`,
      'the limit is 30000',
    ],
    'one field many times': [`{ ${repeat(101, () => 'caller { id }')} }`, '"caller" exceeds the limit of 100'],
    depth: [
      `{ userGroup(by: { teamId: 1 }) { ${'events { nodes { userGroup { '.repeat(10)} id ${'} } }'.repeat(10)} } }`,
      '30 levels of nesting',
    ],
    tokens: [`{ ${repeat(500, (i) => `a${i}: __typename`)} }`, '1500 tokens'],
    characters: [`{ __typename } #${'x'.repeat(65_536)}`, '65536 characters'],
  };
  test.each(Object.entries(rows))('%s', async (_, [query, message]) => {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      for (let time = 0; time < 2; time += 1) {
        const { status, json } = await gateway.send('POST', '/graphql', {
          body: { query, variables: { s: '' } },
          token: admin,
          headers: { accept },
        });
        expect([status, json.data, json.errors.length, json.errors[0].extensions.code]).toEqual([
          400,
          undefined,
          1,
          'QUERY_TOO_COSTLY',
        ]);
        expect(json.errors[0].message).toContain(message);
      }
    }
  });
});

test('introspection cannot recurse, and 499 fields are executed', async () => {
  const recursive = '{ __schema { types { fields { type { fields { type { fields { name } } } } } } }';
  expect((await send(`${recursive} }`)).json.errors[0].message).toBe('Maximum introspection depth exceeded');
  expect((await send(`{ ${repeat(499, (i) => `a${i}: __typename`)} }`)).json.errors).toBeUndefined();
});

test.each([
  ['a member twice', '{ a: 1, a: 2 }', 'more than once'],
  ['a variable', '{ a: $a }', 'Send the whole value as one variable of type JSON'],
  ['a number that is not exact', '{ a: 12345678901234567890 }', 'exactly'],
])('a JSON literal with %s is refused', async (_, literal, message) => {
  const declared = literal.includes('$') ? '($a: JSON)' : '';
  const query = `mutation ${declared} { getOrCreateUserGroup(input: { providedId: "x", properties: ${literal} }) { ... on Error { message } } }`;
  expect((await send(query)).text).toContain(message);
});
