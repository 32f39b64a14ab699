import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Mutation, mutate } from '../../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.database.prisma.userGroup.deleteMany();
});
afterAll(() => gateway.close());

const run = (mutation: Mutation, input: object) => mutate(gateway, mutation, input);
const given = {
  providedId: 'acme',
  name: 'ACME',
  properties: { plan: 'gold' },
  mapping: [
    { schemaId: 'sales', dataSource: 'warehouse' },
    { schemaId: 'hr', dataSource: '17' },
  ],
};

test('getOrCreateUserGroup creates a group once, then returns the stored one, also within one request', async () => {
  const first = await run('getOrCreateUserGroup', given);
  expect(first).toMatchObject({ __typename: 'GetOrCreateUserGroupPayload', created: true, userGroup: given });
  const second = await run('getOrCreateUserGroup', { providedId: 'acme', name: 'x', mapping: [], properties: null });
  expect(second).toEqual({ ...first, created: false });
  const field = 'getOrCreateUserGroup(input: { providedId: "twice" }) { ... on GetOrCreateUserGroupPayload { created } }';
  const { json } = await gateway.graphql(`mutation { a: ${field} b: ${field} }`);
  expect(json.data).toEqual({ a: { created: true }, b: { created: false } });
});

test('InvalidInput has every issue with its path, of the selector too', async () => {
  const mapping = [
    { schemaId: 's', dataSource: 'd' },
    { schemaId: 's', dataSource: 'x'.repeat(256) },
  ];
  const wrong = { name: '', mapping, properties: { a: [{ b: '\0' }] } };
  const paths = ['name', 'mapping.1.schemaId', 'mapping.1.dataSource', 'properties.a.0.b'];
  for (const [mutation, input, path] of [
    ['getOrCreateUserGroup', { providedId: '', ...wrong }, 'providedId'],
    ['updateUserGroup', { by: { token: '' }, ...wrong }, 'by.token'],
  ] as const) {
    const result = await run(mutation, input);
    expect(result).toMatchObject({ __typename: 'InvalidInput', code: 'INVALID_INPUT', message: expect.stringMatching(/\S/) });
    const found = result.issues.map((issue: { path: string[] }) => issue.path.join('.'));
    expect(new Set(found)).toEqual(new Set([path, ...paths]));
  }
});

test.each<object>([
  {},
  { name: 'after' },
  { mapping: [{ schemaId: 'c', dataSource: '3' }] },
  { properties: { other: 1 } },
  { properties: null },
])('updateUserGroup changes %j and nothing else, nor any other group', async (change) => {
  const { userGroup } = await run('getOrCreateUserGroup', given);
  const other = await run('getOrCreateUserGroup', { ...given, providedId: 'other' });
  const next = Object.keys(change).length > 0 ? { version: 2, updatedAt: expect.any(String) } : {};
  const result = await run('updateUserGroup', { by: { providedId: 'acme' }, ...change });
  expect(result.userGroup).toEqual({ ...userGroup, ...next, ...change });
  expect((await run('getOrCreateUserGroup', { providedId: 'other' })).userGroup).toEqual(other.userGroup);
});
