import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { apiTokenId } from '../support/node-id.ts';
import { isTokenOf } from '../support/tokens.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const everything = `fragment Everything on UserGroup {
  __typename id teamId providedId name token environmentTag properties mapping { schemaId dataSource } createdAt updatedAt
}`;
const create = `mutation ($input: GetOrCreateUserGroupInput!) {
  getOrCreateUserGroup(input: $input) {
    __typename
    ... on GetOrCreateUserGroupPayload { created userGroup { ...Everything } }
    ... on Error { code message }
  }
} ${everything}`;

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('UserGroup', () => {
  test('has every field of the contract', async () => {
    const input = {
      providedId: 'acme',
      name: 'ACME',
      properties: { plan: 'gold' },
      mapping: [
        { schemaId: 'b', dataSource: '2' },
        { schemaId: 'a', dataSource: '1' },
      ],
    };
    const { json } = await gateway.graphql(create, { input });
    expect(json).toEqual({
      data: {
        getOrCreateUserGroup: {
          __typename: 'GetOrCreateUserGroupPayload',
          created: true,
          userGroup: {
            __typename: 'UserGroup',
            id: expect.any(String),
            teamId: expect.any(Number),
            ...input,
            token: expect.stringMatching(isTokenOf('userGroup')),
            environmentTag: 'TESTING',
            createdAt: isoTime,
            updatedAt: isoTime,
          },
        },
      },
    });
  });

  test('has the times of its creation and last change, to the millisecond', async () => {
    const { json } = await gateway.graphql(create, { input: { providedId: 'times' } });
    const { id, createdAt, updatedAt } = json.data.getOrCreateUserGroup.userGroup;
    expect(updatedAt).toBe(createdAt);
    await gateway.database.prisma.userGroup.updateMany({
      where: { providedId: 'times' },
      data: { createdAt: new Date(0), updatedAt: new Date(1) },
    });
    const update = `mutation ($id: ID) { updateUserGroup(input: { by: { id: $id }, name: "changed" }) {
      ... on UpdateUserGroupPayload { userGroup { createdAt updatedAt } } } }`;
    const { userGroup } = (await gateway.graphql(update, { id })).json.data.updateUserGroup;
    expect(userGroup.createdAt).toBe('1970-01-01T00:00:00.000Z');
    expect(Date.parse(userGroup.updatedAt)).toBeGreaterThanOrEqual(Date.parse(updatedAt));
  });
});

describe('properties written in the document', () => {
  test('are the same as in a variable', async () => {
    const document = `mutation { getOrCreateUserGroup(input: { providedId: "literal", properties: {
      text: "a", int: 1, float: 1.50, yes: true, nothing: null, list: [1, [2], {}], object: { in: { in: ["x"] } } } }) {
      ... on GetOrCreateUserGroupPayload { userGroup { properties } } } }`;
    const { json } = await gateway.graphql(document);
    expect(json.data.getOrCreateUserGroup.userGroup.properties).toEqual({
      text: 'a',
      int: 1,
      float: 1.5,
      yes: true,
      nothing: null,
      list: [1, [2], {}],
      object: { in: { in: ['x'] } },
    });
  });

  test.each(['1e400', '9007199254740993'])('hold no %s', async (number) => {
    const document = `mutation { getOrCreateUserGroup(input: { providedId: "inexact", properties: { a: [${number}] } }) {
      ... on InvalidInput { code issues { path message } } } }`;
    const { json } = await gateway.graphql(document);
    expect(json.data.getOrCreateUserGroup).toEqual({
      code: 'INVALID_INPUT',
      issues: [{ path: ['properties', 'a', '0'], message: expect.any(String) }],
    });
  });
});

describe('caller', () => {
  const query = '{ caller { __typename id number name environmentTag scopes createdAt expiresAt lastUsedAt } }';

  test('is the API token in use', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { secret: token, id } = await gateway.issue({ environment: 'Customer', scopes: ['groups:read'], expiresAt });
    const { json } = await gateway.graphql(query, {}, { token });
    expect(json.data.caller).toEqual({
      __typename: 'ApiToken',
      id: apiTokenId(id),
      number: id,
      name: 'test',
      environmentTag: 'CUSTOMER',
      scopes: ['GROUPS_READ'],
      createdAt: isoTime,
      expiresAt: expiresAt.toISOString(),
      lastUsedAt: null,
    });
  });

  test('contains nothing of the secret', async () => {
    const { json } = await gateway.graphql('{ __type(name: "ApiToken") { fields { name } } }');
    const names = json.data.__type.fields.map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual([
      'createdAt',
      'enabled',
      'environmentTag',
      'expired',
      'expiresAt',
      'id',
      'lastUsedAt',
      'name',
      'number',
      'rateLimit',
      'revokedAt',
      'scopes',
    ]);
  });
});
