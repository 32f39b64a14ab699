import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { mutate } from '../../support/user-group-mutations.ts';

/** Two gateways on one database. */
let gateways: readonly [TestGateway, TestGateway];
let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  gateways = [gateway, await startGateway(gateway.database)];
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
afterAll(async () => {
  await gateways[1].close();
  await gateway.close();
});

const bulk = (groups: readonly object[], token?: string) => mutate(gateway, 'getOrCreateUserGroups', { groups }, token);
const single = (input: object, token?: string) => mutate(gateway, 'getOrCreateUserGroup', input, token);
const ids = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => ({ providedId: `${prefix} ${index}` }));

test('returns one result for each group, in order, each with an outcome of its own', async () => {
  const { secret: untagged } = await gateway.issue({ environment: null });
  await single({ providedId: 'held' }, untagged);
  const existing = await single({ providedId: 'existing', properties: { a: 1 } });
  const { __typename, results } = await bulk([
    { providedId: 'new', name: 'New', properties: { b: [2] }, mapping: [{ schemaId: 's', dataSource: 'd' }] },
    { providedId: 'existing', properties: { ignored: true } },
    { providedId: '', name: 'x'.repeat(256) },
    { providedId: 'held' },
    { providedId: 'elsewhere', environmentTag: 'CUSTOMER' },
    { providedId: 'new' },
  ]);
  expect(__typename).toBe('GetOrCreateUserGroupsPayload');
  expect(results).toMatchObject([
    { created: true, userGroup: { name: 'New' } },
    { created: false, userGroup: { id: existing.userGroup.id } },
    { __typename: 'InvalidInput', issues: [{ path: ['providedId'] }, { path: ['name'] }] },
    { __typename: 'Conflict', code: 'CONFLICT' },
    { __typename: 'Forbidden', code: 'FORBIDDEN' },
    { created: false, userGroup: results[0].userGroup },
  ]);
  const { userGroup } = await single({ providedId: 'new' });
  expect(userGroup).toMatchObject({
    ...results[0].userGroup,
    properties: { b: [2] },
    mapping: [{ schemaId: 's', dataSource: 'd' }],
  });
});

test('an admin names an environment for each group', async () => {
  const given = [
    ['shared', 'CUSTOMER'],
    ['shared', 'TESTING'],
    ['shared', null],
    ['own', undefined],
    ['own', 'CUSTOMER'],
  ].map(([providedId, environmentTag]) => ({ providedId, environmentTag }));
  const { results } = await bulk(given, admin);
  const tags = results.map(
    (result: { code?: string; userGroup: { environmentTag: string } }) => result.code ?? result.userGroup.environmentTag,
  );
  expect(tags).toEqual(['CUSTOMER', 'TESTING', 'CONFLICT', null, 'CONFLICT']);
});

test('bulk and single creations of the same ids at once, through two gateways: each id has one winner, and all get its token', async () => {
  const groups = ids(12, 'raced');
  const calls = [
    ...gateways.map((each) => mutate(each, 'getOrCreateUserGroups', { groups }, gateway.token)),
    ...gateways.map((each) => mutate(each, 'getOrCreateUserGroups', { groups: [...groups].reverse() }, gateway.token)),
  ];
  const singles = groups.flatMap((input) => gateways.map((each) => mutate(each, 'getOrCreateUserGroup', input, gateway.token)));
  const results = [...(await Promise.all(calls)).flatMap((call) => call.results), ...(await Promise.all(singles))];
  for (const { providedId } of groups) {
    const own = results.filter(({ userGroup }) => userGroup.providedId === providedId);
    expect(own).toHaveLength(6);
    expect(own.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(own.map(({ userGroup }) => userGroup.token)).size).toBe(1);
  }
});

/** The selection of a caller that wants to know what became of each group. */
const ordinary = `mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) {
  ... on GetOrCreateUserGroupsPayload { results { __typename
    ... on GetOrCreateUserGroupPayload { created userGroup { teamId providedId name token environmentTag } }
    ... on Error { code message } ... on InvalidInput { issues { path message } } } }
  ... on Error { code message } } }`;
const count = (providedId: string) => gateway.database.prisma.userGroup.count({ where: { providedId } });

test.each([0, 1_001])('a call with %i groups is INVALID_INPUT', async (length) => {
  const { json } = await gateway.graphql(ordinary, { groups: ids(length, 'too many') });
  expect(json.data.getOrCreateUserGroups).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(/^groups: /) });
  expect(await count('too many 0')).toBe(0);
});

test('1,000 groups in a body of the greatest size are created and then returned, with the ordinary selection', async () => {
  const groups = ids(1_000, 'thousand').map((group) => ({ ...group, properties: { text: 'x'.repeat(950) } }));
  for (const created of [true, false]) {
    const { status, json } = await gateway.graphql(ordinary, { groups });
    expect([status, json.errors]).toEqual([200, undefined]);
    const expected = groups.map(({ providedId }) => ({ created, userGroup: { providedId } }));
    expect(json.data.getOrCreateUserGroups.results).toMatchObject(expected);
  }
});

const repeat = (times: number, make: (index: number) => string) => Array.from({ length: times }, (_, i) => make(i)).join(' ');

test.each([
  ['properties', 'results { ... on GetOrCreateUserGroupPayload { userGroup { properties } } }'],
  ['many fields', `results { ... on GetOrCreateUserGroupPayload { userGroup { ${repeat(40, (i) => `f${i}: name`)} } } }`],
  ['many aliases', repeat(40, (i) => `f${i}: results { ...F }`)],
])('1,000 groups with %s are QUERY_TOO_COSTLY, before anything is created', async (label, selection) => {
  const fragment = selection.includes('...F') ? 'fragment F on GetOrCreateUserGroupPayload { created }' : '';
  const payload = `... on GetOrCreateUserGroupsPayload { ${selection} }`;
  const query = `mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) { ${payload} } } ${fragment}`;
  const { json } = await gateway.graphql(query, { groups: ids(1_000, label) });
  expect(json.errors[0].extensions.code).toBe('QUERY_TOO_COSTLY');
  expect(await count(`${label} 0`)).toBe(0);
});
