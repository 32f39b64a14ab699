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
    ['POST without a token', 'POST', '{"grace_seconds":1}', [['current_token', 'is required.']]],
    [
      'POST with a grace period that is none',
      'POST',
      '{"current_token":"some-token-that-nobody-has","grace_seconds":604801}',
      [['grace_seconds', 'must be a whole number from 0 to 604800.']],
    ],
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

describe('a field that the method does not have is refused, and those that it has are named', () => {
  const changing = 'user_group_id, name, mapping, properties';
  test.each<[string, string, string]>([
    ['GET', 'userGroupId', changing],
    ['QUERY', 'mapping[sales]', changing],
    ['PUT', 'Company Name', changing],
    ['PUT', 'mergeProperties', changing],
    ['PUT', '__proto__', changing],
    ['POST', 'graceSeconds', 'current_token, grace_seconds'],
    ['POST', 'user_group_id', 'current_token, grace_seconds'],
    ['DELETE', 'name', 'user_group_id'],
  ])('%s with %s', async (method, name, fields) => {
    const user_group_id = `unknown ${method} ${name}`;
    const created = await gateway.send('GET', '/api/user', { body: { user_group_id } });
    const { token } = created.json.user_group;
    const required = method === 'POST' ? `"current_token":"${token}"` : `"user_group_id":"${user_group_id}"`;
    const reply = await gateway.send(method, '/api/user', { body: `{${required},"${name}":1}` });
    const message = `is not a field of this request; send only ${fields}.`;
    expect([reply.status, reply.json.issues]).toEqual([400, [{ path: [name], message }]]);
    const stored = await gateway.database.prisma.userGroup.findFirst({ where: { providedId: user_group_id } });
    expect(stored).toMatchObject({ version: 1 });
  });

  test('a response that is sent back', async () => {
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'sent back' } });
    const body = { user_group_id: 'sent back', ...json.user_group, api_environment_tag: 'Customer' };
    const reply = await gateway.send('PUT', '/api/user', { body });
    expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(reply.json.issues).toEqual(
      ['team_id', 'token', 'provided_id', 'api_environment_tag'].map((name) => ({
        path: [name],
        message: `is not a field of this request; send only ${changing}.`,
      })),
    );
  });
});
