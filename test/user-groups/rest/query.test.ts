import axios from 'axios';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
afterEach(async () => {
  await gateway.database.prisma.userGroup.deleteMany();
});

/** Every stored group. */
const stored = () =>
  gateway.database.prisma.userGroup.findMany({ select: { providedId: true, name: true, mapping: true, properties: true } });

const group = { providedId: 'x', name: 'x', mapping: {}, properties: null };

describe('what is stored of a query string', () => {
  test.each<[string, object]>([
    ['mapping[sales]=wh&mapping[2]=b', { mapping: { 2: 'b', sales: 'wh' } }],
    [
      'mapping%5Bsales%5D=wh&properties=%7B%22region%22%3A%22eu%22%7D',
      { mapping: { sales: 'wh' }, properties: { region: 'eu' } },
    ],
    ['mapping[a.b]=1&mapping[a%26b%3Dc]=%5Bd%5D&mapping[Grüße]=', { mapping: { 'a.b': '1', 'a&b=c': '[d]', Grüße: '' } }],
    ['mapping={"a]":"1","":"2"}', { mapping: { 'a]': '1', '': '2' } }],
    ['mapping=null&properties=null', {}],
    ['name=a;b', { name: 'a;b' }],
    ['name=R%26D&', { name: 'R&D' }],
    ['mapping[C%2B%2B]=a+b', { mapping: { 'C++': 'a b' } }],
    ['mapping=%7B"C%2B%2B":"a+b"%7D', { mapping: { 'C++': 'a b' } }],
    // As axios sends JSON.
    ['mapping=%7B%22a+b%22:+%22c+d%22,+%22e%22:%22f%22%7D', { mapping: { 'a b': 'c d', e: 'f' } }],
    ['mapping%5Ba+b%5D=wh', { mapping: { 'a b': 'wh' } }],
  ])('%s', async (query, expected) => {
    const reply = await gateway.send('GET', `/api/user?user_group_id=x&${query}`);
    expect([reply.status, await stored()]).toEqual([200, [{ ...group, ...expected }]]);
  });

  test('the id in percent-encoding', async () => {
    expect((await gateway.send('GET', '/api/user?user%5Fgroup%5Fid=x')).status).toBe(200);
  });
});

const twice = 'is given more than once.';
const unknown = 'is not a field of this request; send only user_group_id, name, mapping, properties.';

describe('what would be lost of a query string is an error', () => {
  test.each<[string, (string | number)[], string]>([
    ...[
      'properties[region]',
      'Properties',
      'mapping.sales',
      'mapping[]',
      'mapping[a][b]',
      'name[0]',
      'userGroupId',
      'utm_source',
      'constructor',
      '__proto__',
    ].map((name): [string, string[], string] => [`${name}=x`, [name], unknown]),
    ['name=R&D', ['D'], unknown],
    ['name=a&amp;mapping[a]=wh', ['amp;mapping[a]'], unknown],
    ['api_environment_tag=Customer', ['api_environment_tag'], unknown],
    ['user_group_id=x', ['user_group_id'], twice],
    ['name=a&name=a', ['name'], twice],
    ['properties={}&properties={}', ['properties'], twice],
    ['mapping={}&mapping={}', ['mapping'], twice],
    ['mapping[a]=1&mapping%5Ba%5D=2', ['mapping[a]'], twice],
    ['mapping={}&mapping[a]=1', ['mapping'], twice],
    ['mapping[a]=1&mapping={}', ['mapping'], twice],
    ['mapping[__proto__]=wh', ['mapping', '__proto__'], 'is a reserved name.'],
    ['mapping[a]=%00', ['mapping', 'a'], 'must not contain the character NUL (U+0000).'],
    [`mapping[a]=${'x'.repeat(256)}`, ['mapping', 'a'], 'must have at most 255 characters.'],
    [Array.from({ length: 1_001 }, (_, i) => `mapping[${i}]=`).join('&'), ['mapping'], 'must have at most 1000 entries.'],
  ])('%.60s', async (query, path, message) => {
    const reply = await gateway.send('GET', `/api/user?user_group_id=x&${query}`);
    expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(reply.json.issues).toEqual([{ path, message }]);
    expect(await stored()).toEqual([]);
  });

  test('a query string without the id', async () => {
    expect((await gateway.send('GET', '/api/user?name=y')).json.code).toBe('BODY_REQUIRED');
  });

  test.each(['', 'region'])('properties that are not JSON: %s', async (text) => {
    const reply = await gateway.send('GET', `/api/user?user_group_id=x&properties=${text}`);
    expect([reply.status, reply.json.code, await stored()]).toEqual([400, 'MALFORMED_JSON', []]);
  });
});

test.each([
  ['GET', { user_group_id: 'x' }, 'user_group_id, name, mapping, properties'],
  ['QUERY', { user_group_id: 'x' }, 'user_group_id, name, mapping, properties'],
  ['PUT', { user_group_id: 'x' }, 'user_group_id, name, mapping, properties'],
  ['POST', { current_token: 'of no group at all' }, 'current_token, grace_seconds'],
  ['DELETE', { user_group_id: 'x' }, 'user_group_id'],
])('%s: a query string beside a body is an error', async (method, body, fields) => {
  const reply = await gateway.send(method, '/api/user?user_group_id=x', { body });
  const message = `is in the query string; send only ${fields}, in the body.`;
  expect([reply.status, reply.json.issues]).toEqual([400, [{ path: ['user_group_id'], message }]]);
  expect(await stored()).toEqual([]);
});

describe('axios', () => {
  const get = (params: object) =>
    axios.get(`${gateway.url}/api/user`, {
      params,
      headers: { authorization: `Token ${gateway.token}` },
      validateStatus: () => true,
    });

  test('sends a mapping as it is, and properties as JSON', async () => {
    const mapping = { sales: 'wh', 'a b': 'c&d', 'Grüße+': '=' };
    const properties = { region: 'eu', limit: 5, nested: [{ a: null }] };
    const { status } = await get({ user_group_id: 'x', name: 'X', mapping, properties: JSON.stringify(properties) });
    expect([status, await stored()]).toEqual([200, [{ providedId: 'x', name: 'X', mapping, properties }]]);
  });

  test('sends a mapping of 400 entries', async () => {
    const mapping = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`schema ${i}`, `source ${i}`]));
    const { status } = await get({ user_group_id: 'x', mapping });
    expect([status, await stored()]).toEqual([200, [{ ...group, mapping }]]);
  });

  test('gets an error for properties as an object', async () => {
    const { status, data } = await get({ user_group_id: 'x', properties: { region: 'eu' } });
    expect([status, data.detail]).toEqual([400, `properties[region]: ${unknown}`]);
    expect(await stored()).toEqual([]);
  });
});
