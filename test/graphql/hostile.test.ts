import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  admin = (await gateway.issue({ scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());

const repeat = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ');

describe('a document that would take long to validate or to report on is rejected with QUERY_TOO_COSTLY', () => {
  const rows: Record<string, string> = {
    'many empty lines before errors': `${'\n'.repeat(3_000)}{ ${repeat(100, (i) => `x${i}`)} }`,
    'a long comment before errors': `#${'z'.repeat(66_000)}\n{ ${repeat(100, (i) => `x${i}`)} }`,
    'a long alias below lists': `{ __schema { types { fields { ${'A'.repeat(1_000)}: name } } } }`,
    'one field in many inline fragments': `{ ${repeat(210, (i) => `... { x: node(id: "${i}${'a'.repeat(50)}") { id } }`)} }`,
    'one field many times in a fragment that is not used': `{ __typename } fragment F on Query { ${repeat(150, () => '__typename')} }`,
    'fields nested deeply through fragments': `{ __schema { types { ...F0 } } } ${repeat(4, (i) => `fragment F${i} on __Type { ${'ofType { '.repeat(10)} name ${i < 3 ? `...F${i + 1}` : ''} ${'}'.repeat(10)} }`)}`,
    'brackets nested deeply after strings and a comment': `{ a(b: "\\"", c: """\\""" """", d: ""#"\r${'['.repeat(300)}`,
    'one field in many fragments': `{ ${repeat(150, (i) => `...F${i}`)} } ${repeat(150, (i) => `fragment F${i} on Query { __typename }`)}`,
  };

  test.each(Object.entries(rows))('%s', async (_, query) => {
    for (const token of [admin, null]) {
      const { status, json } = await gateway.graphql(query, {}, { token });
      expect([status, json.errors[0].extensions.code]).toEqual([400, 'QUERY_TOO_COSTLY']);
      expect(json.errors[0].message.length).toBeLessThan(200);
    }
  });

  test('a document with a hundred errors reports ten of them', async () => {
    const { json } = await gateway.graphql(`{ ${repeat(100, (i) => `x${i}`)} }`);
    expect(json.errors.length).toBeLessThanOrEqual(11); // and one that says that there are more
  });
});

test.each([
  [
    'fields nested 30 deep',
    (more: number) => `{ __schema { types { ${'ofType { '.repeat(28 + more)} name ${'}'.repeat(28 + more)} } } }`,
  ],
  ['the same field 100 times', (more: number) => `{ ${repeat(100 + more, () => '__typename')} }`],
  ['an alias of 128 characters', (more: number) => `{ ${'a'.repeat(128 + more)}: __typename }`],
  ['200 fragment spreads', (more: number) => `{ ${repeat(200 + more, () => '...F')} } fragment F on Query { __typename }`],
  ['2,000 lines', (more: number) => `{ __typename }${'\n'.repeat(1_999 + more)}`],
  ['65,536 characters', (more: number) => `{ __typename }#${'x'.repeat(65_521 + more)}`],
  ['2,000 tokens', (more: number) => `{ ${repeat(666, (i) => `a${i}: __typename`)} ${repeat(more, () => '__typename')} }`],
])('%s are executed, and no more', async (_, make) => {
  const [{ json: most }, { json: more }] = [await gateway.graphql(make(0)), await gateway.graphql(make(1))];
  expect([most.errors, more.errors?.[0].extensions.code]).toEqual([undefined, 'QUERY_TOO_COSTLY']);
});

test('a variable with far more members than its type has is rejected with one error that prints none of them', async () => {
  const operations = {
    'an input object': 'query ($by: UserGroupBy!) { userGroup(by: $by) { name } }',
    'a list of input objects':
      'mutation ($by: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $by }) { __typename } }',
    'a string': 'query ($by: String!) { userGroup(by: { providedId: $by }) { name } }',
  };
  for (const [what, query] of Object.entries(operations)) {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`member${i}`, 1]));
    const [type] = /(?<=by: )[^)]+/.exec(query) ?? [];
    const message = `The value of variable "$by" has too many members for its type ${type}.`;
    for (const by of what.startsWith('a list') ? [[many], many] : [many]) {
      const { json } = await gateway.graphql(query, { by }, { token: admin });
      const messages = json.errors.map((error: { message: string }) => error.message);
      expect([what, json.data, messages]).toEqual([what, undefined, [message]]);
    }
  }
});

test.each([
  ['a string', `"\\"${'{'.repeat(200)}"`],
  ['a block string', `"""\\"""${'{'.repeat(200)}"""`],
  ['a comment', `"x" # ${'{'.repeat(200)}\r`],
])('brackets in %s are not nesting', async (_, value) => {
  const field = `userGroup(by: { providedId: ${value} }) { name }`;
  const { json } = await gateway.graphql(`{ a: ${field} b: ${field} }`);
  expect(json).toEqual({ data: { a: null, b: null } });
});

describe('a response that would be too large is rejected before it is built', () => {
  test.each([
    ['a JSON value of many parts', { big: Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [i, {}])) }, 100],
    ['a long list of numbers', { big: Array.from({ length: 20_000 }, () => 1) }, 20],
  ])('%s under many aliases', async (_, properties, aliases) => {
    await gateway.send('GET', '/api/user', { body: { user_group_id: `parts ${aliases}`, properties } });
    const query = `{ userGroup(by: { providedId: "parts ${aliases}" }) { ${repeat(aliases, (i) => `a${i}: properties`)} } }`;
    const { status, json } = await gateway.graphql(query);
    expect([status, json.errors?.[0].extensions.code]).toEqual([400, 'QUERY_TOO_COSTLY']);
  });

  test('a list of texts under many aliases', async () => {
    const versions = Array.from({ length: 15_000 }, () => 'v');
    const value = { name: 'n', navigation: [{ group: 'g', pages: ['p'] }], colors: { primary: '#fff' }, versions };
    const query = `query ($v: JSON!) { validateDocsConfig(input: { value: $v }) { ${repeat(100, (i) => `a${i}: config`)} } }`;
    const { status, json } = await gateway.graphql(query, { v: value }, { token: admin });
    expect([status, json.errors?.[0].extensions.code]).toEqual([400, 'QUERY_TOO_COSTLY']);
  });
});
