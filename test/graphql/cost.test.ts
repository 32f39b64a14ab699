import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlLimits } from '../../src/graphql/limits.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { seedLargeGroups } from '../support/large-groups.ts';

const { maxCost } = graphqlLimits;

let gateway: TestGateway;
let ids: string[];
beforeAll(async () => {
  gateway = await startGateway();
  ids = await seedLargeGroups(gateway, 20);
});
afterAll(() => gateway.close());

const repeat = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ');

/** Sends a document with `extensions: {"cost": true}`. */
async function costOf(query: string, variables: object = {}): Promise<number> {
  const { json } = await gateway.send('POST', '/graphql', { body: { query, variables, extensions: { cost: true } } });
  expect(json.extensions.cost.limit).toBe(maxCost);
  return json.extensions.cost.cost;
}

const wholeGroup = `... on UserGroup { id teamId providedId name token environmentTag mapping { schemaId dataSource } createdAt updatedAt }`;
const wholeIntrospection = getIntrospectionQuery({
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
});

describe('the cost of an operation', () => {
  test('is returned with the limit when the request asks for it', async () => {
    const { json } = await gateway.send('POST', '/graphql', { body: { query: '{ __typename }', extensions: { cost: true } } });
    expect(json).toEqual({ data: { __typename: 'Query' }, extensions: { cost: { cost: 1, limit: maxCost } } });
  });

  test.each<[string, string, object, number]>([
    ['a field of the root', '{ caller { name } }', {}, 22],
    ['aliases', '{ a: caller { name } b: caller { name id } }', {}, 45],
    ['__typename', '{ a: __typename b: __typename }', {}, 2],
    ['a list of unknown size', '{ userGroup(by: { teamId: 1 }) { mapping { schemaId } } }', {}, 21 + 101 + 10],
    ['a field that may be large', '{ userGroup(by: { teamId: 1 }) { properties } }', {}, 21 + 101],
    ['a list whose size is in the document', '{ nodes(ids: ["a", "b", "c"]) { id } }', {}, 21 + 60 + 3],
    ['a list whose size is in a variable', 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: ['a', 'b'] }, 21 + 40 + 2],
    ['a variable that is not a list', 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: 'a' }, 21 + 20 + 1],
    ['a page of 20 by default', '{ userGroups { nodes { name token } } }', {}, 21 + 1 + 20 * 2],
    ['the first items', '{ userGroups(first: 3) { nodes { name } edges { cursor node { id } } } }', {}, 21 + 1 + 3 + 1 + 3 * 3],
    ['the last items', '{ userGroups(last: 100) { pageInfo { endCursor } nodes { name } } }', {}, 21 + 2 + 1 + 100],
    ['a page whose size is in a variable', 'query ($n: Int) { userGroups(first: $n) { nodes { name } } }', { n: 7 }, 21 + 1 + 7],
    ['a page whose size is left out', 'query ($n: Int) { userGroups(first: $n) { nodes { name } } }', {}, 21 + 1 + 20],
    ['a page whose size is null', '{ userGroups(first: null, last: 5) { nodes { name } } }', {}, 21 + 1 + 5],
    ['a filter and the count', '{ userGroups(first: 1, filter: { search: "a" }) { totalCount } }', {}, 21 + 300 + 301],
    [
      'the events of a page of groups',
      '{ userGroups(first: 3) { nodes { events(first: 5) { nodes { id type } } } } }',
      {},
      22 + 3 * (21 + 1 + 10),
    ],
    ['a page of API tokens', '{ apiTokens(last: 30) { totalCount nodes { id name } } }', {}, 21 + 301 + 1 + 30 * 2],
    [
      'a page through fragments',
      '{ userGroups(first: 4) { ...P } } fragment P on UserGroupConnection { nodes { ...G } } fragment G on UserGroup { name id }',
      {},
      21 + 1 + 8,
    ],
    [
      'large fields of a page',
      '{ userGroups(first: 2) { nodes { properties dataSource(schemaId: "a") } } }',
      {},
      21 + 1 + 2 * 202,
    ],
    ['a default', 'query ($ids: [ID!]! = ["a", "b"]) { nodes(ids: $ids) { id } }', {}, 21 + 40 + 2],
    [
      'a long argument',
      'query ($t: String!) { userGroup(by: { providedId: $t }) { id } }',
      { t: 'x'.repeat(64 * 100) },
      21 + 100 + 1,
    ],
    ['fragments', '{ ...A ...A } fragment A on Query { caller { ...B } } fragment B on ApiToken { id name }', {}, 46],
    ['an inline fragment', '{ node(id: "x") { ... on UserGroup { id name } } }', {}, 21 + 2],
  ])('counts %s', async (_, query, variables, expected) => {
    expect(await costOf(query, variables)).toBe(expected);
  });

  test.each([
    ['the whole introspection', wholeIntrospection],
    [
      'names of fields, twice',
      '{ a: __schema { types { name fields { name } } } b: __schema { types { fields { type { name } } } } }',
    ],
    ['one type', '{ __type(name: "UserGroup") { name fields { name args { name } } possibleTypes { name } } }'],
    [
      'fragments',
      '{ __schema { types { ...T ...T } } } fragment T on __Type { name interfaces { ...N } } fragment N on __Type { name }',
    ],
  ])('is at least what introspection resolves: %s', async (_, query) => {
    const { json } = await gateway.graphql(query);
    let resolved = 0;
    JSON.stringify(json.data, (key, value) => {
      if (key !== '' && !/^\d+$/.test(key)) resolved += 1;
      return value;
    });
    expect(resolved).toBeGreaterThan(5);
    const cost = await costOf(query);
    expect(cost).toBeGreaterThanOrEqual(resolved);
    expect(cost).toBeLessThanOrEqual(resolved * 2); // fragments that overlap count twice
  });

  test('of introspection as clients send it is at most half of the limit', async () => {
    expect(await costOf(wholeIntrospection)).toBeLessThanOrEqual(maxCost / 2);
  });

  test('permits 100 nodes with every field', async () => {
    const { status, json } = await gateway.graphql(`query ($ids: [ID!]!) { nodes(ids: $ids) { ${wholeGroup} } }`, { ids });
    expect([status, json.data?.nodes.length, json.errors]).toEqual([200, 100, undefined]);
    const properties = await gateway.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { ... on UserGroup { properties } } }', {
      ids,
    });
    expect([properties.status, properties.json.data?.nodes[99].properties.text.length]).toEqual([200, 60_000]);
  });
});

describe('an operation over a limit is refused before it is executed', () => {
  const rows: Record<string, () => [query: string, variables?: object]> = {
    'introspection with many aliases': () => [
      `{ __schema { types { ${repeat(90, (i) => `a${i}: fields { name args { name } }`)} } } }`,
    ],
    'introspection through fragments': () => [
      `{ __schema { types { ${repeat(25, (i) => `a${i}: fields { ...F }`)} } } } fragment F on __Field { ${repeat(25, (i) => `b${i}: type { ...T }`)} }
       fragment T on __Type { ${repeat(50, (i) => `c${i}: name`)} }`,
    ],
    'one type, many times': () => [
      `{ ${repeat(150, (i) => `a${i}: __type(name: "Query") { fields { args { name type { name } } } }`)} }`,
    ],
    'pages under many aliases': () => [
      `{ ${repeat(45, (i) => `a${i}: userGroups(first: 100) { nodes { id name token teamId providedId createdAt updatedAt } }`)} }`,
    ],
    'searches under many aliases': () => [
      `{ ${repeat(95, (i) => `a${i}: userGroups(filter: { search: "a" }) { totalCount }`)} }`,
    ],
    'nodes under many aliases': () => [
      `query ($ids: [ID!]!) { ${repeat(300, (i) => `a${i}: nodes(ids: $ids) { id }`)} }`,
      { ids },
    ],
    'properties under many aliases': () => [
      `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on UserGroup { ${repeat(600, (i) => `a${i}: properties`)} } } }`,
      { ids },
    ],
    'a long argument, many times': () => [
      `query ($s: String!) { ${repeat(100, (i) => `a${i}: userGroup(by: { providedId: $s }) { id }`)} }`,
      { s: 'x'.repeat(100_000) },
    ],
    'a long document to validate, many times': () => [
      `query ($s: String!) { ${repeat(20, (i) => `a${i}: validateDocsConfig(input: { source: $s }) { valid }`)} }`,
      { s: 'x'.repeat(100_000) },
    ],
    'introspection of the same fragment in many fields': () => [
      `{ ${repeat(180, (i) => `a${i}: __schema { ...F }`)} } fragment F on __Schema { types { name fields { name args { name } } } }`,
    ],
    'the same field many times': () => [`{ ${repeat(400, () => 'caller { id }')} }`],
    'deep nesting': () => [`{ __schema { types { ${'ofType { '.repeat(40)} name ${'}'.repeat(40)} } } }`],
    'many fragment spreads': () => [`{ ${repeat(201, () => '...F')} } fragment F on Query { __typename }`],
    'fragments that double': () => [
      `{ ${repeat(20, () => '...F0')} } ${repeat(25, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F25 on Query { caller { name } }`,
    ],
    'many tokens': () => [`{ ${repeat(1_000, (i) => `a${i}: __typename`)} }`],
  };

  test.each(Object.entries(rows))('%s', async (_, make) => {
    const [query, variables] = make();
    const { secret: token } = await gateway.issue({ scopes: ['admin'] });
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const { status, json } = await gateway.send('POST', '/graphql', { body: { query, variables }, token, headers: { accept } });
      expect([status, json.data, json.errors.length, json.errors[0].extensions.code]).toEqual([
        400,
        undefined,
        1,
        'QUERY_TOO_COSTLY',
      ]);
      expect(json.errors[0].message).toMatch(/limit/);
    }
  });

  test('tells the cost and the limit', async () => {
    const { json } = await gateway.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: Array(10_000).fill('x') });
    expect(json.errors[0].message).toContain(`the limit is ${maxCost}`);
    expect(json.errors[0].extensions).toMatchObject({ cost: expect.any(Number), limit: maxCost });
    expect(json.errors[0].extensions.cost).toBeGreaterThan(maxCost);
  });

  test('also when the document was executed before with smaller variables', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    for (let use = 0; use < 6; use += 1) expect((await gateway.graphql(query, { ids: ['x'] })).status).toBe(200);
    expect((await gateway.graphql(query, { ids: Array(10_000).fill('x') })).status).toBe(400);
  });
});

describe('a response that grows larger than its cost suggests', () => {
  test.each([
    ['__typename of the items of a long list', `mapping { ${repeat(600, (i) => `a${i}: __typename`)} }`],
    ['the same through fragments', 'mapping { ...F ...G }'],
  ])('is refused before the items of its lists are resolved: %s', async (_, selection) => {
    const { secret: token } = await gateway.issue({ scopes: ['groups:read', 'groups:write'] });
    const mapping = Object.fromEntries(Array.from({ length: 1_000 }, (_unused, entry) => [`s${entry}`, 'd']));
    await gateway.send('GET', '/api/user', { token, body: { user_group_id: 'many schemas', mapping } });
    const fragments = selection.includes('...')
      ? `fragment F on DataSourceMapping { ${repeat(150, (i) => `f${i}: schemaId`)} } fragment G on DataSourceMapping { ${repeat(150, (i) => `g${i}: __typename`)} }`
      : '';
    const query = `{ userGroup(by: { providedId: "many schemas" }) { ${selection} } } ${fragments}`;
    const { status, json } = await gateway.graphql(query, {}, { token });
    expect([status, json.errors?.[0].extensions.code]).toEqual([400, 'QUERY_TOO_COSTLY']);
  });

  test('is refused as a whole when it exceeds 16 MiB', async () => {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on UserGroup { ${repeat(20, (i) => `a${i}: properties`)} } } }`;
    for (let use = 0; use < 2; use += 1) {
      const { status, json } = await gateway.graphql(query, { ids });
      expect([status, json.errors?.length, json.errors?.[0].extensions.code]).toEqual([400, 1, 'QUERY_TOO_COSTLY']);
      expect(json.data).toBeUndefined();
    }
  });

  test('is refused as a whole when its lists have more items than can be resolved in time', async () => {
    const { secret: token } = await gateway.issue({ scopes: ['groups:read'] });
    const source = `{${Array.from({ length: 1_000 }, (_, index) => `"k${index}":1`).join()}}`;
    const query = `query ($s: String!) { validateDocsConfig(input: { source: $s }) { ${repeat(150, (i) => `a${i}: diagnostics { code }`)} } }`;
    const { status, json } = await gateway.graphql(query, { s: source }, { token });
    expect([status, json.errors?.[0].extensions.code]).toEqual([400, 'QUERY_TOO_COSTLY']);
  });
});
