import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

// What clients, proxies and frameworks send that is nearly right.
let gateway: TestGateway;
let closed: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  closed = await startGateway(gateway.database, { introspection: false });
});
afterAll(async () => {
  await closed.close();
  await gateway.close();
});

const get = (parameters: Record<string, string>, options = {}) =>
  gateway.send('GET', `/graphql?${new URLSearchParams(parameters)}`, options);
const post = (body: unknown) => gateway.send('POST', '/graphql', { body });
const query = '{ __typename }';
const data = { data: { __typename: 'Query' } };

describe('a parameter that is empty equals none', () => {
  test.each(['operationName', 'variables', 'extensions'])('%s', async (name) => {
    expect((await get({ query, [name]: '' })).json).toEqual(data);
    const bodies = name === 'operationName' ? ['', null] : [{}, null];
    for (const value of bodies)
      for (let time = 0; time < 2; time += 1) expect((await post({ query, [name]: value })).json).toEqual(data);
  });
});

describe('a parameter that there is not is refused by its name', () => {
  test.each(['_', 'operation'])('%s', async (name) => {
    for (const reply of [await get({ query, [name]: '1' }), await post({ query, [name]: '1' })]) {
      expect([reply.status, reply.json.errors[0].extensions.issues[0].path]).toEqual([400, [name]]);
      expect(reply.json.errors[0].message).not.toContain('body');
    }
  });

  test.each([
    ['query', 5],
    ['variables', []],
    ['extensions', 'x'],
    ['operationName', 5],
  ])('and one of another type: %s', async (name, value) => {
    const { status, json } = await post({ query, [name]: value });
    expect([status, json.errors[0].extensions.code, json.errors[0].extensions.issues[0].path]).toEqual([
      400,
      'INVALID_INPUT',
      [name],
    ]);
  });
});

test.each([[[{ query }]], [[]]])('a batch is refused with what to send instead: %j', async (body) => {
  const { status, json } = await post(body);
  expect([status, json.errors[0].message]).toEqual([
    400,
    'Batches are not supported; send one operation, with aliases if need be.',
  ]);
});

test.each([
  ['GET', '/api/user?user_group_id=empty-body'],
  ['QUERY', '/api/user?user_group_id=empty-body'],
  ['DELETE', '/api/user?user_group_id=empty-body'],
  ['GET', '/api/events'],
  ['GET', `/graphql?query=${encodeURIComponent(query)}`],
])('%s %s: an empty object is no body', async (method, path) => {
  const { secret: token } = await gateway.issue({ scopes: ['groups:write', 'audit:read'] });
  for (const body of ['{}', ' { }\n']) {
    if (method === 'DELETE') await gateway.send('GET', '/api/user?user_group_id=empty-body', { token });
    expect((await gateway.send(method, path, { body, token })).status).toBe(200);
  }
});

describe('without introspection, no error suggests a name of the schema', () => {
  const rows: Record<string, [query: string, variables?: object]> = {
    'a field': ['{ callr { name } }'],
    'a type': ['query ($a: UserGroupBi) { userGroup(by: $a) { id } }'],
    'an input field': ['{ userGroup(by: { teamIt: 1 }) { id } }'],
    'an enum value in a variable': [
      'query ($o: UserGroupOrder) { userGroups(orderBy: $o) { totalCount } }',
      { o: { field: 'NAMES' } },
    ],
  };
  test.each(Object.entries(rows))('%s', async (_, [document, variables]) => {
    for (let time = 0; time < 2; time += 1) {
      const { json } = await closed.graphql(document, variables as Record<string, unknown>);
      expect(json.errors[0].extensions.code).toBe('INVALID_INPUT');
      for (const { message } of json.errors) expect(message).not.toContain('Did you mean');
    }
  });
});

test.each([
  ['POST', '/graphql', { body: { query } }],
  ['GET', `/graphql?query=${encodeURIComponent(query)}`, {}],
  ['GET', '/livez', {}],
  ['GET', '/docs/errors/NOT_FOUND', {}],
  ['GET', '/.well-known/jwks.json', {}],
])('%s %s has the same response with a slash at the end of the path', async (method, path, options) => {
  const plain = await gateway.send(method, path, options);
  const slashed = await gateway.send(
    method,
    path.replace(/\?|$/, (end) => `/${end}`),
    options,
  );
  expect([slashed.status, slashed.headers.get('content-type')]).toEqual([plain.status, plain.headers.get('content-type')]);
});
