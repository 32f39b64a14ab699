import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { isTokenOf } from '../../support/tokens.ts';
import { type Mutation, mutate } from '../../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.database.prisma.userGroup.deleteMany();
});
afterAll(() => gateway.close());

const run = (mutation: Mutation, input: object, token?: string) => mutate(gateway, mutation, input, token);

const given = {
  providedId: 'acme',
  name: 'ACME',
  properties: { plan: 'gold' },
  mapping: [
    { schemaId: 'sales', dataSource: 'warehouse' },
    { schemaId: 'hr', dataSource: '17' },
  ],
};
/** The next version, and its time. */
const next = { version: 2, updatedAt: expect.any(String) };
const failed = (code: string, typename: string) => ({ __typename: typename, code, message: expect.stringMatching(/\S/) });

describe('getOrCreateUserGroup', () => {
  test('creates a group once and then returns the stored one', async () => {
    const first = await run('getOrCreateUserGroup', given);
    expect(first).toMatchObject({ __typename: 'GetOrCreateUserGroupPayload', created: true, userGroup: given });
    const second = await run('getOrCreateUserGroup', { providedId: 'acme', name: 'x', mapping: [], properties: null });
    expect(second).toEqual({ ...first, created: false });
  });

  test('of one request, twice for one id, creates once', async () => {
    const document = `mutation { a: getOrCreateUserGroup(input: { providedId: "twice" }) { ... on GetOrCreateUserGroupPayload { created userGroup { token } } }
      b: getOrCreateUserGroup(input: { providedId: "twice" }) { ... on GetOrCreateUserGroupPayload { created userGroup { token } } } }`;
    const { a, b } = (await gateway.graphql(document)).json.data;
    expect([a.created, b.created]).toEqual([true, false]);
    expect(b.userGroup).toEqual(a.userGroup);
  });

  test('InvalidInput has every issue with its path', async () => {
    const mapping = [
      { schemaId: 's', dataSource: 'd' },
      { schemaId: 's', dataSource: 'x'.repeat(256) },
    ];
    const result = await run('getOrCreateUserGroup', { providedId: '', name: '', mapping, properties: { a: [{ b: '\0' }] } });
    expect(result).toMatchObject(failed('INVALID_INPUT', 'InvalidInput'));
    const paths = result.issues.map(({ path }: { path: string[] }) => path.join('.'));
    expect(new Set(paths)).toEqual(
      new Set(['providedId', 'name', 'mapping.1.schemaId', 'mapping.1.dataSource', 'properties.a.0.b']),
    );
  });

  test('Conflict when an untagged group has the id', async () => {
    const { secret: untagged } = await gateway.issue({ environment: null });
    await run('getOrCreateUserGroup', given, untagged);
    expect(await run('getOrCreateUserGroup', given)).toEqual(failed('CONFLICT', 'Conflict'));
  });
});

describe('updateUserGroup', () => {
  test.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['the name', { name: 'after' }, { name: 'after' }],
    ['the mapping, whole', { mapping: [{ schemaId: 'c', dataSource: '3' }] }, { mapping: [{ schemaId: 'c', dataSource: '3' }] }],
    ['the properties, whole', { properties: { other: 1 } }, { properties: { other: 1 } }],
    ['the properties away', { properties: null }, { properties: null }],
  ])('changes %s and nothing else', async (_, change, changed) => {
    const { userGroup } = await run('getOrCreateUserGroup', given);
    const by = { providedId: 'acme' };
    const after = Object.keys(change).length > 0 ? next : {};
    expect((await run('updateUserGroup', { by, ...change })).userGroup).toEqual({ ...userGroup, ...after, ...changed });
  });

  test('does not change the token or any other group', async () => {
    await run('getOrCreateUserGroup', given);
    const other = await run('getOrCreateUserGroup', { ...given, providedId: 'other' });
    await run('updateUserGroup', { by: { providedId: 'acme' }, name: 'after', properties: null, mapping: [] });
    expect((await run('getOrCreateUserGroup', { providedId: 'other' })).userGroup).toEqual(other.userGroup);
  });
});

describe('rotateUserGroupToken', () => {
  test('replaces the current token with a new one', async () => {
    const { userGroup } = await run('getOrCreateUserGroup', given);
    const result = await run('rotateUserGroupToken', { currentToken: userGroup.token });
    expect(result).toEqual({
      __typename: 'RotateUserGroupTokenPayload',
      previousTokenExpiresAt: null,
      userGroup: { ...userGroup, ...next, token: expect.stringMatching(isTokenOf('userGroup')) },
    });
    expect(result.userGroup.token).not.toBe(userGroup.token);
  });
});
