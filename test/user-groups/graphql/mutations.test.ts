import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { forgedToken, isTokenOf } from '../../support/tokens.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.database.prisma.userGroup.deleteMany();
});
afterAll(() => gateway.close());

const failure = '... on Error { code message } ... on InvalidInput { issues { path message } }';
const group = 'userGroup { id teamId token name properties mapping { schemaId dataSource } }';
const getOrCreate = `mutation ($input: GetOrCreateUserGroupInput!) { result: getOrCreateUserGroup(input: $input) {
  __typename ... on GetOrCreateUserGroupPayload { created ${group} } ${failure} } }`;
const update = `mutation ($input: UpdateUserGroupInput!) { result: updateUserGroup(input: $input) {
  __typename ... on UpdateUserGroupPayload { ${group} } ${failure} } }`;
const rotate = `mutation ($input: RotateUserGroupTokenInput!) { result: rotateUserGroupToken(input: $input) {
  __typename ... on RotateUserGroupTokenPayload { previousTokenExpiresAt ${group} } ${failure} } }`;

/** The result of a mutation that got as far as to have one. */
async function run(document: string, input: object, token = gateway.token) {
  const reply = await gateway.graphql(document, { input }, { token });
  expect([reply.status, reply.json.errors]).toEqual([200, undefined]);
  return reply.json.data.result;
}

const given = {
  providedId: 'acme',
  name: 'ACME',
  properties: { plan: 'gold' },
  mapping: [
    { schemaId: 'sales', dataSource: 'warehouse' },
    { schemaId: 'hr', dataSource: '17' },
  ],
};
const failed = (code: string, typename: string) => ({ __typename: typename, code, message: expect.stringMatching(/\S/) });

describe('getOrCreateUserGroup', () => {
  test('creates a group once and then returns the stored one', async () => {
    const first = await run(getOrCreate, given);
    const { providedId: _, ...stored } = given;
    expect(first).toMatchObject({ __typename: 'GetOrCreateUserGroupPayload', created: true, userGroup: stored });
    const second = await run(getOrCreate, { providedId: 'acme', name: 'x', mapping: [], properties: null });
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
    const result = await run(getOrCreate, { providedId: '', name: '', mapping, properties: { a: [{ b: '\0' }] } });
    expect(result).toMatchObject(failed('INVALID_INPUT', 'InvalidInput'));
    const paths = result.issues.map(({ path }: { path: string[] }) => path.join('.'));
    expect(new Set(paths)).toEqual(
      new Set(['providedId', 'name', 'mapping.1.schemaId', 'mapping.1.dataSource', 'properties.a.0.b']),
    );
  });

  test('Conflict when an untagged group has the id', async () => {
    const { secret: untagged } = await gateway.issue({ environment: null });
    await run(getOrCreate, given, untagged);
    expect(await run(getOrCreate, given)).toEqual(failed('CONFLICT', 'Conflict'));
  });

  test('Forbidden without groups:write', async () => {
    const { secret } = await gateway.issue({ scopes: ['groups:read'] });
    expect(await run(getOrCreate, given, secret)).toEqual(failed('FORBIDDEN', 'Forbidden'));
  });
});

describe('updateUserGroup', () => {
  test.each(['id', 'teamId', 'providedId', 'token'] as const)('finds the group by its %s', async (selector) => {
    const { userGroup } = await run(getOrCreate, given);
    const by = { [selector]: { ...userGroup, providedId: given.providedId }[selector] };
    expect(await run(update, { by, name: 'after' })).toEqual({
      __typename: 'UpdateUserGroupPayload',
      userGroup: { ...userGroup, name: 'after' },
    });
  });

  test.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['the name', { name: 'after' }, { name: 'after' }],
    ['the mapping, whole', { mapping: [{ schemaId: 'c', dataSource: '3' }] }, { mapping: [{ schemaId: 'c', dataSource: '3' }] }],
    ['the properties, whole', { properties: { other: 1 } }, { properties: { other: 1 } }],
    ['the properties away', { properties: null }, { properties: null }],
  ])('changes %s and nothing else', async (_, change, changed) => {
    const { userGroup } = await run(getOrCreate, given);
    const by = { providedId: 'acme' };
    expect((await run(update, { by, ...change })).userGroup).toEqual({ ...userGroup, ...changed });
  });

  test('does not change the token or any other group', async () => {
    await run(getOrCreate, given);
    const other = await run(getOrCreate, { ...given, providedId: 'other' });
    await run(update, { by: { providedId: 'acme' }, name: 'after', properties: null, mapping: [] });
    expect((await run(getOrCreate, { providedId: 'other' })).userGroup).toEqual(other.userGroup);
  });

  test.each<[string, object]>([
    ['an id', { id: Buffer.from('UserGroup:2147483647').toString('base64') }],
    ['an id that is garbage', { id: 'garbage' }],
    ['a team id', { teamId: 2_147_483_647 }],
    ['a provided id', { providedId: 'unknown' }],
    ['a token', { token: 'a-token-of-no-group-at-all' }],
  ])('NotFound by %s of no group', async (_, by) => {
    expect(await run(update, { by, name: 'after' })).toEqual(failed('NOT_FOUND', 'NotFound'));
  });

  test.each<[string, object, string]>([
    ['a name that is null', { name: null }, 'name'],
    ['a mapping that is null', { mapping: null }, 'mapping'],
    ['a name too long', { name: 'x'.repeat(256) }, 'name'],
    ['properties that are a list', { properties: [] }, 'properties'],
  ])('InvalidInput for %s, and nothing changed', async (_, change, path) => {
    const { userGroup } = await run(getOrCreate, given);
    const result = await run(update, { by: { providedId: 'acme' }, name: 'after', properties: {}, ...change });
    expect(result).toEqual({
      ...failed('INVALID_INPUT', 'InvalidInput'),
      issues: [{ path: [path], message: expect.any(String) }],
    });
    expect((await run(getOrCreate, given)).userGroup).toEqual(userGroup);
  });

  test('Forbidden without groups:write, whether there is such a group or not', async () => {
    const { secret } = await gateway.issue({ scopes: ['groups:read'] });
    await run(getOrCreate, given);
    for (const providedId of ['acme', 'unknown']) {
      expect(await run(update, { by: { providedId }, name: 'after' }, secret)).toEqual(failed('FORBIDDEN', 'Forbidden'));
    }
  });
});

describe('rotateUserGroupToken', () => {
  test('replaces the current token with a new one', async () => {
    const { userGroup } = await run(getOrCreate, given);
    const result = await run(rotate, { currentToken: userGroup.token });
    expect(result).toEqual({
      __typename: 'RotateUserGroupTokenPayload',
      previousTokenExpiresAt: null,
      userGroup: { ...userGroup, token: expect.stringMatching(isTokenOf('userGroup')) },
    });
    expect(result.userGroup.token).not.toBe(userGroup.token);
  });

  test.each([
    ['that no group has', 'a-token-of-no-group-at-all'],
    ['of an impossible form', 'short'],
    ['with a wrong checksum', forgedToken('userGroup')],
  ])('NotFound for a token %s', async (_, currentToken) => {
    expect(await run(rotate, { currentToken })).toEqual(failed('NOT_FOUND', 'NotFound'));
  });

  test.each<[string, object, string]>([
    ['an empty token', { currentToken: '' }, 'currentToken'],
    ['a token too long', { currentToken: 'x'.repeat(256) }, 'currentToken'],
    ['a grace period below 0', { graceSeconds: -1 }, 'graceSeconds'],
    ['a grace period of more than a week', { graceSeconds: 604_801 }, 'graceSeconds'],
  ])('InvalidInput for %s, and nothing rotated', async (_, input, path) => {
    const { userGroup } = await run(getOrCreate, given);
    const result = await run(rotate, { currentToken: userGroup.token, ...input });
    expect(result).toEqual({
      ...failed('INVALID_INPUT', 'InvalidInput'),
      issues: [{ path: [path], message: expect.any(String) }],
    });
    expect((await run(getOrCreate, given)).userGroup.token).toBe(userGroup.token);
  });

  test('Forbidden without groups:write', async () => {
    const { secret } = await gateway.issue({ scopes: ['groups:read'] });
    const { userGroup } = await run(getOrCreate, given);
    expect(await run(rotate, { currentToken: userGroup.token }, secret)).toEqual(failed('FORBIDDEN', 'Forbidden'));
  });
});
