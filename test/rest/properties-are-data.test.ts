import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Objects that libraries between the API and the database give a meaning of their own. */
const markers: Record<string, object> = {
  'a marker of raw parameters': { __prismaRawParameters__: true },
  'the same, deeper': { a: { __prismaRawParameters__: true } },
  'raw parameters with values': { __prismaRawParameters__: true, values: 5 },
  'raw parameters with an enumeration': { __prismaRawParameters__: true, values: { $type: 'Enum', value: 'DbNull' } },
  'raw parameters with JSON': { __prismaRawParameters__: true, values: { $type: 'Json', value: '{"a":"\\u0000"}' } },
  'a field reference': { $type: 'FieldRef', value: { _ref: 'token', _container: 'UserGroup' } },
  'a parameter': { $type: 'Param', value: 'x' },
  'a decimal': { toStringTag: '[object Decimal]', d: [1], e: 0, s: 1 },
  'functions by name': { toJSON: 'x', toString: 'y', valueOf: 'z' },
  'a constructor': { constructor: { prototype: { polluted: true } } },
};

describe.each(Object.entries(markers))('properties that look like %s', (name, properties) => {
  test.each(['REST', 'GraphQL'])('are stored and returned as they are by an update over %s', async (api) => {
    const id = `${name} ${api}`;
    await gateway.send('GET', '/api/user', { body: { user_group_id: id, properties: { before: 1 } } });
    if (api === 'REST') {
      const { status, json } = await gateway.send('PUT', '/api/user', { body: { user_group_id: id, properties } });
      expect([status, json.user_group?.properties]).toEqual([200, properties]);
    } else {
      const query = `mutation ($id: String!, $p: JSON) { updateUserGroup(input: { by: { providedId: $id }, properties: $p }) {
        ... on UpdateUserGroupPayload { userGroup { properties } } } }`;
      const { json } = await gateway.graphql(query, { id, p: properties });
      expect(json.data.updateUserGroup.userGroup.properties).toEqual(properties);
    }
    const read = await gateway.send('GET', '/api/user', { body: { user_group_id: id } });
    expect(read.json.user_group.properties).toEqual(properties);
  });

  test('are stored and returned as they are on creation', async () => {
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: `${name} new`, properties } });
    expect(json.user_group.properties).toEqual(properties);
  });
});
