import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTextIssues } from '../../../src/input.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { mutate } from '../../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const isStored = async (providedId: string) => (await gateway.database.prisma.userGroup.count({ where: { providedId } })) > 0;
const groupOf = (providedId: string) => gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId } });

const refusedBy = (code: string) => `must not contain control characters or invisible marks; character 3 is ${code}.`;

test.each([
  ...['\u0001', '\t', '\n', '\u001b', '\u007f', '\u0085', '\u009b'],
  ...['\u2028', '\u2029', '\ufeff', '\u061c', '\u200e', '\u200f'],
  ...['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'],
])('%j is refused, and the message says where it is', (character) => {
  const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  expect(newTextIssues(['name'], `😀b${character}c`)).toEqual([{ path: ['name'], message: refusedBy(code) }]);
});

test.each([
  ...['\u0020', '\u00a0', '\u00ad', '\u061b', '\u200b', '\u200c', '\u200d'],
  ...['\u2027', '\u202f', '\u2065', '\u206a', '\ufe0f', '\u{10ffff}'],
])('%j is accepted', (character) => {
  expect(newTextIssues(['name'], `😀b${character}c`)).toEqual([]);
});

const character = '\u202e';
const text = `😀b${character}c`;
const message = refusedBy('U+202E');

test('no group is created with it in its id or name', async () => {
  const refused = (...fields: string[]) => ({
    __typename: 'InvalidInput',
    code: 'INVALID_INPUT',
    message: expect.any(String),
    issues: fields.map((field) => ({ path: [field], message })),
  });
  const create = (input: object) => mutate(gateway, 'getOrCreateUserGroup', input);
  expect(await create({ providedId: text })).toEqual(refused('providedId'));
  expect(await create({ providedId: 'named', name: text })).toEqual(refused('name'));
  const groups = [{ providedId: text, name: text }, { providedId: 'bulk' }, { providedId: 'named', name: text }];
  const { results } = await mutate(gateway, 'getOrCreateUserGroups', { groups });
  expect(results).toEqual([refused('providedId', 'name'), expect.objectContaining({ created: true }), refused('name')]);
  const body = { user_group_id: text, name: text };
  const { status, json } = await gateway.send('GET', '/api/user', { body });
  expect([status, json.code, json.issues]).toEqual([
    400,
    'INVALID_INPUT',
    [
      { path: ['user_group_id'], message },
      { path: ['name'], message },
    ],
  ]);
  expect([await isStored(text), await isStored('named')]).toEqual([false, false]);
});

test('no name is changed to one with it', async () => {
  const providedId = 'to rename';
  await mutate(gateway, 'getOrCreateUserGroup', { providedId });
  const issues = [{ path: ['name'], message }];
  expect(await mutate(gateway, 'updateUserGroup', { by: { providedId }, name: text })).toMatchObject({ issues });
  const reply = await gateway.send('PUT', '/api/user', {
    body: { user_group_id: providedId, name: text, properties: { a: 1 } },
  });
  expect([reply.status, reply.json.issues]).toEqual([400, issues]);
  expect(await groupOf(providedId)).toMatchObject({ name: providedId, properties: null });
});

test('no API token is named with it', async () => {
  const { secret } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const document = `mutation ($input: CreateApiTokenInput!) { result: createApiToken(input: $input) {
    ... on InvalidInput { issues { path message } } } }`;
  const input = { name: text, environmentTag: 'TESTING', scopes: ['GROUPS_READ'] };
  const { json } = await gateway.graphql(document, { input }, { token: secret });
  expect(json.data.result).toEqual({ issues: [{ path: ['name'], message }] });
});

test('in one bulk call, a group that is refused does not stop one with the same id', async () => {
  const name = 'a\u202eb';
  const groups = [{ providedId: 'same', name }, { providedId: 'same' }, { providedId: 'same', name }];
  const { results } = await mutate(gateway, 'getOrCreateUserGroups', { groups });
  expect(results).toMatchObject([{ code: 'INVALID_INPUT' }, { created: true }, { code: 'INVALID_INPUT' }]);
});
