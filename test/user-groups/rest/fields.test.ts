import axios from 'axios';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.database.prisma.userGroup.deleteMany();
});
afterAll(() => gateway.close());

const stored = () =>
  gateway.database.prisma.userGroup.findMany({ select: { providedId: true, name: true, mapping: true, properties: true } });
const group = { providedId: 'x', name: 'x', mapping: {}, properties: null };

const text = 'must be a string.';
const length = 'must have 1 to 255 characters.';
const object = 'must be a JSON object.';
const mapped = 'must map schema ids to data sources, both strings.';
const inexact = 'is a number that cannot be represented exactly; send it as a string.';
const changing = 'user_group_id, name, mapping, properties';
const unknown = `is not a field of this request; send only ${changing}.`;

test.each<[string, string, Record<string, string>]>([
  [
    'GET',
    '{"user_group_id":5,"name":[],"mapping":"x","properties":true}',
    { user_group_id: text, name: text, mapping: mapped, properties: object },
  ],
  [
    'GET',
    '{"user_group_id":"","name":7,"mapping":{"a":1,"b":"ok","c":"\\u0000"},"properties":{"n":1e400,"d":[null,"\\ud800"]}}',
    {
      user_group_id: length,
      name: text,
      'mapping.a': text,
      'mapping.c': 'must not contain the character NUL (U+0000).',
      'properties.n': inexact,
      'properties.d.1': 'must not contain a lone surrogate (half of a character).',
    },
  ],
  [
    'QUERY',
    '{"name":"","mapping":[{"schemaId":"a","dataSource":"b"}]}',
    { user_group_id: 'is required.', name: length, mapping: mapped },
  ],
  [
    'PUT',
    '{"user_group_id":{"a":1},"name":null,"mapping":{"shop":{}},"properties":"{}"}',
    {
      user_group_id: text,
      name: 'must not be null; omit it to keep the current value.',
      'mapping.shop': text,
      properties: object,
    },
  ],
  ['POST', '{"current_token":1e400}', { current_token: text }],
  ['POST', '{"grace_seconds":1}', { current_token: 'is required.' }],
  [
    'POST',
    '{"current_token":"some-token-that-nobody-has","grace_seconds":604801}',
    { grace_seconds: 'must be a whole number from 0 to 604800.' },
  ],
])('%s %s: every invalid member is named at once', async (method, body, expected) => {
  const { status, json } = await gateway.send(method, '/api/user', { body });
  expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
  const issues = json.issues.map(({ path, message }: { path: string[]; message: string }) => [path.join('.'), message]);
  expect(issues).toEqual(Object.entries(expected));
  expect(json.detail).toBe(issues.map(([path, message]: string[]) => `${path}: ${message}`).join(' '));
});

test('ten issues are listed; too many entries are one', async () => {
  const mapping = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`schema ${i}`, i]));
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 5, name: 5, mapping, properties: [] } });
  const paths = json.issues.map(({ path }: { path: string[] }) => path.join('.'));
  expect(paths).toEqual(['user_group_id', 'name', ...Array.from({ length: 8 }, (_, i) => `mapping.schema ${i}`)]);
  const more = await gateway.send('GET', '/api/user', { body: { user_group_id: 'm', mapping: { ...mapping, more: 1 } } });
  expect(more.json.issues).toEqual([{ path: ['mapping'], message: 'must have at most 1000 entries.' }]);
});

const long = 'x'.repeat(300_000);
test.each<[string, unknown]>([
  ['an id', { user_group_id: long }],
  ['a schema id with a lone surrogate', { user_group_id: 'm', mapping: { [`${'x'.repeat(63)}😀${long}`]: 5 } }],
  ['a property’s name', { user_group_id: 'm', properties: { [long.slice(0, 60_000)]: { '\0': 1 } } }],
  ['a member given twice', `{"${long}":1,"${long}":2}`],
])('%s of great length is not repeated completely', async (_, body) => {
  const { status, text: response, json } = await gateway.send('GET', '/api/user', { body });
  expect([status, response.length < 2_000, JSON.stringify(json).isWellFormed()]).toEqual([400, true, true]);
});

test.each<[string, string, string]>([
  ['GET', 'userGroupId', changing],
  ['QUERY', 'mapping[sales]', changing],
  ['PUT', 'token', changing],
  ['PUT', '__proto__', changing],
  ['POST', 'graceSeconds', 'current_token, grace_seconds'],
  ['POST', 'user_group_id', 'current_token, grace_seconds'],
  ['DELETE', 'name', 'user_group_id'],
])('%s has no member %s: it is refused, and the others are named', async (method, name, fields) => {
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'x' } });
  const required = method === 'POST' ? `"current_token":"${json.user_group.token}"` : '"user_group_id":"x"';
  const reply = await gateway.send(method, '/api/user', { body: `{${required},"${name}":1}` });
  const message = `is not a field of this request; send only ${fields}.`;
  expect([reply.status, reply.json.issues]).toEqual([400, [{ path: [name], message }]]);
  expect(await gateway.database.prisma.userGroup.findMany()).toMatchObject([{ version: 1 }]);
});

describe('a query string', () => {
  const send = (query: string) => gateway.send('GET', `/api/user?user_group_id=x&${query}`);

  test.each<[string, object]>([
    ['mapping[sales]=wh&mapping[2]=b', { mapping: { 2: 'b', sales: 'wh' } }],
    [
      'mapping%5Bsales%5D=wh&properties=%7B%22region%22%3A%22eu%22%7D',
      { mapping: { sales: 'wh' }, properties: { region: 'eu' } },
    ],
    ['mapping[a%26b%3Dc]=%5Bd%5D&mapping[Grüße]=', { mapping: { 'a&b=c': '[d]', Grüße: '' } }],
    ['mapping={"a]":"1","":"2"}', { mapping: { 'a]': '1', '': '2' } }],
    ['name=R%26D&', { name: 'R&D' }],
    ['mapping[C%2B%2B]=a+b', { mapping: { 'C++': 'a b' } }],
    // As axios sends JSON.
    ['mapping=%7B%22a+b%22:+%22c+d%22,+%22e%22:%22f%22%7D', { mapping: { 'a b': 'c d', e: 'f' } }],
  ])('%s is stored', async (query, expected) => {
    expect([(await send(query)).status, await stored()]).toEqual([200, [{ ...group, ...expected }]]);
  });

  const twice = 'is given more than once.';
  test.each<[string, string[], string]>([
    ...['properties[region]', 'Properties', 'mapping.sales', 'mapping[]', 'mapping[a][b]', 'utm_source', '__proto__'].map(
      (name): [string, string[], string] => [`${name}=x`, [name], unknown],
    ),
    ['name=R&D', ['D'], unknown],
    ['user_group_id=x', ['user_group_id'], twice],
    ['mapping={}&mapping={}', ['mapping'], twice],
    ['mapping[a]=1&mapping%5Ba%5D=2', ['mapping[a]'], twice],
    ['mapping={}&mapping[a]=1', ['mapping'], twice],
    ['mapping[__proto__]=wh', ['mapping', '__proto__'], 'is a reserved name.'],
    ['mapping[a]=%00', ['mapping', 'a'], 'must not contain the character NUL (U+0000).'],
    ['mapping=[]', ['mapping'], mapped],
    ['properties={"a":1e400}', ['properties', 'a'], inexact],
  ])('%s is refused instead of losing something', async (query, path, message) => {
    const { status, json } = await send(query);
    expect([status, json.code, json.issues]).toEqual([400, 'INVALID_INPUT', [{ path, message }]]);
    expect(await stored()).toEqual([]);
  });

  test('without the id, or of invalid UTF-8, is refused', async () => {
    expect((await gateway.send('GET', '/api/user?name=y')).json.code).toBe('BODY_REQUIRED');
    expect((await gateway.send('PUT', '/api/user?user_group_id=x&name=y')).json.code).toBe('BODY_REQUIRED');
    expect((await gateway.send('GET', '/api/user?user_group_id=%FF')).status).toBe(400);
  });

  test.each([
    ['GET', changing],
    ['PUT', changing],
    ['POST', 'current_token, grace_seconds'],
    ['DELETE', 'user_group_id'],
  ])('beside a body is refused: %s', async (method, fields) => {
    const body = method === 'POST' ? { current_token: 'of no group at all' } : { user_group_id: 'x' };
    const { status, json } = await gateway.send(method, '/api/user?user_group_id=x', { body });
    const message = `is in the query string; send only ${fields}, in the body.`;
    expect([status, json.issues]).toEqual([400, [{ path: ['user_group_id'], message }]]);
  });

  test('of axios has a mapping as it is and properties as JSON; properties as an object are refused', async () => {
    const headers = { authorization: `Token ${gateway.token}` };
    const get = (params: object) => axios.get(`${gateway.url}/api/user`, { params, headers, validateStatus: () => true });
    const refused = await get({ user_group_id: 'x', properties: { region: 'eu' } });
    expect([refused.status, refused.data.detail]).toEqual([400, `properties[region]: ${unknown}`]);
    const mapping = { sales: 'wh', 'a b': 'c&d', 'Grüße+': '=' };
    const properties = { region: 'eu', nested: [{ a: null }] };
    const { status } = await get({ user_group_id: 'x', name: 'X', mapping, properties: JSON.stringify(properties) });
    expect([status, await stored()]).toEqual([200, [{ providedId: 'x', name: 'X', mapping, properties }]]);
  });
});
