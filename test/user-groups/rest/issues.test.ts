import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const text = 'must be a string.';
const length = 'must have 1 to 255 characters.';
const object = 'must be a JSON object.';
const mapped = 'must map schema ids to data sources, both strings.';
const inexact = 'is a number that cannot be represented exactly; send it as a string.';

describe('reports every invalid member at once, by its legacy name', () => {
  test.each<[string, string, string, [string, string][]]>([
    [
      'GET with every type wrong',
      'GET',
      '{"user_group_id":5,"name":[],"mapping":"x","properties":true}',
      [
        ['user_group_id', text],
        ['name', text],
        ['mapping', mapped],
        ['properties', object],
      ],
    ],
    [
      'GET with wrong types and broken rules',
      'GET',
      '{"user_group_id":"","name":7,"mapping":{"a":1,"b":"ok","c":"\\u0000"},"properties":{"n":1e400,"d":[null,"\\ud800"]}}',
      [
        ['user_group_id', length],
        ['name', text],
        ['mapping.a', text],
        ['mapping.c', 'must not contain the character NUL (U+0000).'],
        ['properties.n', inexact],
        ['properties.d.1', 'must not contain a lone surrogate (half of a character).'],
      ],
    ],
    [
      'GET without an id and with a wrong name',
      'GET',
      '{"name":{}}',
      [
        ['user_group_id', 'is required.'],
        ['name', text],
      ],
    ],
    [
      'QUERY with a mapping in the form of the schema',
      'QUERY',
      '{"user_group_id":"a","name":"","mapping":[{"schemaId":"a","dataSource":"b"}]}',
      [
        ['name', length],
        ['mapping', mapped],
      ],
    ],
    [
      'PUT with every type wrong',
      'PUT',
      '{"user_group_id":{"a":1},"name":null,"mapping":{"shop":{}},"properties":"{}"}',
      [
        ['user_group_id', text],
        ['name', 'must not be null; omit it to keep the current value.'],
        ['mapping.shop', text],
        ['properties', object],
      ],
    ],
    [
      'PUT without an id',
      'PUT',
      '{"name":5}',
      [
        ['user_group_id', 'is required.'],
        ['name', text],
      ],
    ],
    ['POST with a number', 'POST', '{"current_token":1e400}', [['current_token', text]]],
    ['POST without a token', 'POST', '{"token":"x"}', [['current_token', 'is required.']]],
  ])('%s', async (_, method, body, expected) => {
    const { status, json } = await gateway.send(method, '/api/user', { body });
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
    const issues = json.issues.map(({ path, message }: { path: string[]; message: string }) => [path.join('.'), message]);
    expect(issues).toEqual(expected);
    expect(json.detail).toBe(expected.map(([path, message]) => `${path}: ${message}`).join(' '));
  });

  test('in query parameters, too', async () => {
    const { json } = await gateway.send('GET', '/api/user?user_group_id=&mapping=[]&properties={"a":1e400}&name=');
    expect(json.issues).toEqual([
      { path: ['user_group_id'], message: length },
      { path: ['name'], message: length },
      { path: ['mapping'], message: mapped },
      { path: ['properties', 'a'], message: inexact },
    ]);
  });
});

describe('bounds', () => {
  const mappingOf = (entries: number) => Object.fromEntries(Array.from({ length: entries }, (_, i) => [`schema ${i}`, i]));
  const wrong = { user_group_id: 5, name: 5, mapping: mappingOf(1_000), properties: [] };

  test('lists ten issues, those of the first members first', async () => {
    const { json } = await gateway.send('GET', '/api/user', { body: wrong });
    const paths = json.issues.map(({ path }: { path: string[] }) => path.join('.'));
    expect(paths).toEqual(['user_group_id', 'name', ...Array.from({ length: 8 }, (_, i) => `mapping.schema ${i}`)]);
  });

  test('too many entries are one issue, regardless of their content', async () => {
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'm', mapping: mappingOf(40_000) } });
    expect(json.issues).toEqual([{ path: ['mapping'], message: 'must have at most 1000 entries.' }]);
  });

  const long = 'x'.repeat(300_000);
  test.each<[string, unknown]>([
    ['an id', { user_group_id: long }],
    ['a schema id', { user_group_id: 'm', mapping: { [long]: 5 } }],
    ['a schema id with a lone surrogate', { user_group_id: 'm', mapping: { [`${'x'.repeat(63)}😀${long}`]: 5 } }],
    ['a property’s name', { user_group_id: 'm', properties: { [long.slice(0, 60_000)]: { '\0': 1 } } }],
    ['a member given twice', `{"${long}":1,"${long}":2}`],
  ])('does not repeat %s of great length completely', async (_, body) => {
    const { status, text: response, json } = await gateway.send('GET', '/api/user', { body });
    expect(status).toBe(400);
    expect(response.length).toBeLessThan(2_000);
    expect(JSON.stringify(json).isWellFormed()).toBe(true);
    expect(response).not.toMatch(/\\ud[89a-f]/i);
  });
});

describe('refuses what is not read, but was meant to be', () => {
  const asHeader = 'send the version in the header If-Match';
  const inGraphql = 'only the GraphQL API has it';
  test.each<[string, string, string, string, string]>([
    ['GET', 'Mappings', '{}', 'mapping', 'send mapping'],
    ['QUERY', 'userGroupId', '"x"', 'user_group_id', 'send user_group_id'],
    ['GET', 'mapping[sales]', '"wh"', 'mapping', 'send mapping'],
    ['PUT', 'properties.plan', '"gold"', 'properties', 'send properties'],
    ['PUT', 'mapping_sales', '"wh"', 'mapping', 'send mapping'],
    ['PUT', ' name', '"x"', 'name', 'send name'],
    ['PUT', 'Name', '"x"', 'name', 'send name'],
    ['PUT', 'mergeProperties', '{"plan":"gold"}', 'mergeProperties', inGraphql],
    ['PUT', 'expected_version', '1', 'expectedVersion', asHeader],
    ['POST', 'endGracePeriods', 'true', 'endGracePeriods', inGraphql],
    ['POST', 'currentToken', '"x"', 'current_token', 'send current_token'],
    ['DELETE', 'expectedVersion', '1', 'expectedVersion', asHeader],
  ])('%s with %s', async (method, name, value, path, remedy) => {
    const user_group_id = `mistaken ${method} ${name}`;
    const created = await gateway.send('GET', '/api/user', { body: { user_group_id } });
    const { token } = created.json.user_group;
    const required = method === 'POST' ? `"current_token":"${token}"` : `"user_group_id":"${user_group_id}"`;
    const reply = await gateway.send(method, '/api/user', { body: `{${required},"${name}":${value}}` });
    expect([reply.status, reply.json.issues]).toEqual([400, [{ path: [path], message: `was sent as ${name}; ${remedy}.` }]]);
    const stored = await gateway.database.prisma.userGroup.findFirst({ where: { providedId: user_group_id } });
    expect(stored).toMatchObject({ version: 1 });
  });

  test.each([
    ['DELETE', 'user_group_id=in-query&expectedVersion=7', undefined],
    ['DELETE', 'user_group_id=in-query&expected_version=7', undefined],
    ['PUT', 'expectedVersion=7', { user_group_id: 'in-query' }],
  ])('in a query: %s ?%s', async (method, query, body) => {
    await gateway.send('GET', '/api/user?user_group_id=in-query');
    const reply = await gateway.send(method, `/api/user?${query}`, body && { body });
    const [name] = /expected\w+/.exec(query) ?? [];
    const message = `was sent as ${name}; ${asHeader}.`;
    expect([reply.status, reply.json.issues]).toEqual([400, [{ path: ['expectedVersion'], message }]]);
  });

  test.each([
    ['GET', '{"user_group_id":"as-meant","userGroupId":"as-meant"}'],
    ['GET', '{"user_group_id":"as-meant","expectedVersion":1,"mergeProperties":{}}'],
    [
      'PUT',
      '{"user_group_id":"as-meant","filename":"x","names_of":"x","Company Name":"x","user.name":"x","constructor":1,"__proto__":1}',
    ],
  ])('but not what is the same, or has no meaning there: %s %s', async (method, body) => {
    await gateway.send('GET', '/api/user', { body: { user_group_id: 'as-meant' } });
    expect((await gateway.send(method, '/api/user', { body })).status).toBe(200);
  });
});
