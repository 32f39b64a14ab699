import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const repeat = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ');
const ids = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => ({ providedId: `${prefix} ${index}` }));

/** The selection of a caller that wants to know what became of each group. */
const ordinary = `mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) {
  __typename
  ... on GetOrCreateUserGroupsPayload { results { __typename
    ... on GetOrCreateUserGroupPayload { created userGroup { teamId providedId name token environmentTag } }
    ... on Error { code message } ... on InvalidInput { issues { path message } } } }
  ... on Error { code message } } }`;

test.each([
  ['no groups', 0],
  ['1,001 groups', 1_001],
])('a call with %s is INVALID_INPUT', async (_, count) => {
  const { json } = await gateway.graphql(ordinary, { groups: ids(count, 'too many') });
  expect(json.data.getOrCreateUserGroups).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(/^groups: /) });
  expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'too many 0' } })).toBe(0);
});

describe('1,000 groups', () => {
  test('are created and then returned in one call each, with the ordinary selection', async () => {
    const groups = ids(1_000, 'thousand');
    for (const created of [true, false]) {
      const { status, json } = await gateway.graphql(ordinary, { groups });
      expect([status, json.errors]).toEqual([200, undefined]);
      const { results } = json.data.getOrCreateUserGroups;
      expect(results.map((result: { userGroup: object }) => result.userGroup)).toMatchObject(groups);
      expect(results.every((result: { created: boolean }) => result.created === created)).toBe(true);
    }
  });

  test('pass the cost limit with the ordinary selection in a body of the greatest size', async () => {
    const groups = Array.from({ length: 1_000 }, (_, index) => ({
      providedId: `big ${index}`,
      properties: { text: 'x'.repeat(950) },
    }));
    const { status, json } = await gateway.graphql(ordinary, { groups });
    expect([status, json.errors, json.data?.getOrCreateUserGroups.results.length]).toEqual([200, undefined, 1_000]);
  });

  test.each([
    ['properties', 'results { ... on GetOrCreateUserGroupPayload { userGroup { properties } } }'],
    ['many fields', `results { ... on GetOrCreateUserGroupPayload { userGroup { ${repeat(40, (i) => `f${i}: name`)} } } }`],
    ['the list under many aliases', repeat(12, (i) => `r${i}: results { __typename ... on Error { code message } }`)],
    ['fragments', repeat(40, (i) => `f${i}: results { ...F }`)],
  ])('are refused with QUERY_TOO_COSTLY, before anything is created, with %s', async (label, selection) => {
    const fragment = selection.includes('...F') ? 'fragment F on GetOrCreateUserGroupPayload { created }' : '';
    const query = `mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) { ... on GetOrCreateUserGroupsPayload { ${selection} } } } ${fragment}`;
    const { json } = await gateway.graphql(query, { groups: ids(1_000, label) });
    expect(json.errors[0].extensions.code).toBe('QUERY_TOO_COSTLY');
    expect(await gateway.database.prisma.userGroup.count({ where: { providedId: `${label} 0` } })).toBe(0);
  });
});

test('the cost counts groups that are given in the document, else 1,000', async () => {
  const costOf = async (query: string) =>
    (
      await gateway.send('POST', '/graphql', {
        body: { query, variables: { g: [{ providedId: 'x' }] }, extensions: { cost: true } },
      })
    ).json.extensions.cost.cost;
  const call = (groups: string) => `getOrCreateUserGroups(input: { groups: ${groups} }) { __typename }`;
  expect(await costOf(`mutation { ${call('[{ providedId: "x" }, { providedId: "y" }]')} }`)).toBe(21 + 2 * 3);
  expect(await costOf(`mutation ($g: [GetOrCreateUserGroupInput!]!) { ${call('$g')} }`)).toBe(21 + 1_000 * 3);
});
