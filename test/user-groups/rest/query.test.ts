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
    ['utm_source=a&utm_source=b&filter[x]=1&nickname=y&map[a]=1&=1', {}],
    ['name=a;b', { name: 'a;b' }],
    ['name=R%26D&', { name: 'R&D' }],
    ['mapping[C%2B%2B]=a+b', { mapping: { 'C++': 'a b' } }],
    ['mapping=%7B"C%2B%2B":"a+b"%7D', { mapping: { 'C++': 'a b' } }],
    // As axios sends JSON.
    ['mapping=%7B%22a+b%22:+%22c+d%22,+%22e%22:%22f%22%7D', { mapping: { 'a b': 'c d', e: 'f' } }],
    ['mapping%5Ba+b%5D=wh', { mapping: { 'a b': 'wh' } }],
    ['utm_source=a&debug&name=a&&', { name: 'a' }],
    ['name=who?&mapping[s]=a%3Fname=b?c=d', { name: 'who?', mapping: { s: 'a?name=b?c=d' } }],
    ['name=a;nick=b;name&mapping[s]=%3Bname=c', { name: 'a;nick=b;name', mapping: { s: ';name=c' } }],
  ])('%s', async (query, expected) => {
    const reply = await gateway.send('GET', `/api/user?user_group_id=x&${query}`);
    expect([reply.status, await stored()]).toEqual([200, [{ ...group, ...expected }]]);
  });

  test('the id in percent-encoding', async () => {
    expect((await gateway.send('GET', '/api/user?user%5Fgroup%5Fid=x')).status).toBe(200);
  });
});

const asMapping =
  'send mapping[SCHEMA_ID]=DATA_SOURCE for each entry, or all of them as JSON: mapping={"SCHEMA_ID":"DATA_SOURCE"}.';
const asProperties = 'send them as JSON: properties={"NAME":"VALUE"}.';
const twice = 'is given more than once.';
const ampersand = 'Parameters are separated by "&"; in a value, a ";" is sent as %3B and a "?" as %3F.';

describe('what would be lost of a query string is an error', () => {
  test.each<[string, (string | number)[], string]>([
    ['properties[region]=eu', ['properties'], `was sent as properties[region]; ${asProperties}`],
    ['properties.region=eu', ['properties'], `was sent as properties.region; ${asProperties}`],
    ['Properties={}', ['properties'], `was sent as Properties; ${asProperties}`],
    ['mapping.sales=wh', ['mapping'], `was sent as mapping.sales; ${asMapping}`],
    ['Mapping[sales]=wh', ['mapping'], `was sent as Mapping[sales]; ${asMapping}`],
    ['utm_source=a&amp;mapping[a]=wh', ['mapping'], `was sent as amp;mapping[a]; ${asMapping}`],
    ['mapping%255Ba%255D=wh', ['mapping'], `was sent as mapping%5Ba%5D; ${asMapping}`],
    ['%20mapping[a]=wh', ['mapping'], `was sent as  mapping[a]; ${asMapping}`],
    ['mappings(a)=wh', ['mapping'], `was sent as mappings(a); ${asMapping}`],
    ['input[mapping][a]=wh', ['mapping'], `was sent as input[mapping][a]; ${asMapping}`],
    ['input%255Bmapping%255D=wh', ['mapping'], `was sent as input%5Bmapping%5D; ${asMapping}`],
    ['data[name]=a', ['name'], 'was sent as data[name]; send name=TEXT.'],
    ...['mapping_sales', 'mapping-sales', 'mappingSales', 'mappings_sales', 'mapping1', 'mappingsales'].map(
      (name): [string, string[], string] => [`${name}=wh`, ['mapping'], `was sent as ${name}; ${asMapping}`],
    ),
    ...['property', 'property[a]', 'properties_region', 'propertyRegion', 'properties2'].map(
      (name): [string, string[], string] => [`${name}=eu`, ['properties'], `was sent as ${name}; ${asProperties}`],
    ),
    ['filter.name=a', ['name'], 'was sent as filter.name; send name=TEXT.'],
    ['mapping[a]=b;mapping[c]=d', ['mapping'], `was sent as ;mapping[c]; ${asMapping} ${ampersand}`],
    ['name=a?mapping[c]=d', ['mapping'], `was sent as ?mapping[c]; ${asMapping} ${ampersand}`],
    ['mapping[a]=b;mapping[c:d]=e', ['mapping'], `was sent as ;mapping[c:d]; ${asMapping} ${ampersand}`],
    ['mapping[a]=b;mapping%5Bc%5D=d', ['mapping'], `was sent as ;mapping[c]; ${asMapping} ${ampersand}`],
    ['utm_source=a;Name=b', ['name'], `was sent as ;Name; send name=TEXT. ${ampersand}`],
    ['name=R&D', ['name'], 'is followed by "&D", which is no parameter; send an "&" in a value as %26.'],
    ['name=R&&D', ['name'], 'is followed by "&D", which is no parameter; send an "&" in a value as %26.'],
    ['name=O&amp;Brien=x', ['name'], 'is followed by "&amp;", which is no parameter; send an "&" in a value as %26.'],
    ['name=R&D&utm_source=a', ['name'], 'is followed by "&D", which is no parameter; send an "&" in a value as %26.'],
    ['mapping[C++]=wh', ['mapping'], 'has a "+" in a schema id; send a "+" as %2B, and a space as %20.'],
    ['name=a&mapping[a+b]=wh', ['mapping'], 'has a "+" in a schema id; send a "+" as %2B, and a space as %20.'],
    ['names=a', ['name'], 'was sent as names; send name=TEXT.'],
    ['mapping[]=wh', ['mapping'], `was sent as mapping[]; ${asMapping}`],
    ['mapping[=wh', ['mapping'], `was sent as mapping[; ${asMapping}`],
    ['mapping[a]b=wh', ['mapping'], `was sent as mapping[a]b; ${asMapping}`],
    ['mapping[a][b]=wh', ['mapping'], `was sent as mapping[a][b]; ${asMapping}`],
    ['mapping[a[b]]=wh', ['mapping'], `was sent as mapping[a[b]]; ${asMapping}`],
    ['name[]=a', ['name'], 'was sent as name[]; send name=TEXT.'],
    ['NAME=a', ['name'], 'was sent as NAME; send name=TEXT.'],
    ['userGroupId=y', ['user_group_id'], 'was sent as userGroupId; send user_group_id=TEXT.'],
    ['user-group-id[0]=y', ['user_group_id'], 'was sent as user-group-id[0]; send user_group_id=TEXT.'],
    ['user_group_id=x', ['user_group_id'], twice],
    ['name=a&name=a', ['name'], twice],
    ['properties={}&properties={}', ['properties'], twice],
    ['mapping={}&mapping={}', ['mapping'], twice],
    ['mapping[a]=1&mapping%5Ba%5D=2', ['mapping', 'a'], twice],
    ['mapping={}&mapping[a]=1', ['mapping'], 'is given as JSON and as mapping[…]; send one of the two.'],
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

  test('also where the id is what cannot be read', async () => {
    const { json } = await gateway.send('GET', '/api/user?userGroupId=x&Name=y');
    expect(json.issues.map(({ path }: { path: string[] }) => path[0])).toEqual(['user_group_id', 'name']);
  });

  test.each(['', 'region'])('properties that are not JSON: %s', async (text) => {
    const reply = await gateway.send('GET', `/api/user?user_group_id=x&properties=${text}`);
    expect([reply.status, reply.json.code, await stored()]).toEqual([400, 'MALFORMED_JSON', []]);
  });
});

describe('a query string beside a body', () => {
  const group = { user_group_id: 'x', name: 'x' };
  const bodies = { GET: group, QUERY: group, PUT: group, POST: { current_token: 'of no group at all' } };
  const methods = Object.keys(bodies) as (keyof typeof bodies)[];
  const ofGroups = [
    'name=other',
    'mapping[a]=1',
    'properties={}',
    'userGroupId=x',
    'name=x&name=y',
    'data[name]=x',
    'a=b;name=x',
  ];
  const lost = (['GET', 'QUERY', 'PUT'] as const).flatMap((method) => ofGroups.map((query) => [method, query] as const));

  test.each<readonly [keyof typeof bodies, string]>([...lost, ['POST', 'current_token=other'], ['POST', 'currentToken=x']])(
    '%s, %s: what the body does not have is an error',
    async (method, query) => {
      const reply = await gateway.send(method, `/api/user?${query}`, { body: bodies[method] });
      expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
      expect(reply.json.issues).toEqual([
        {
          path: [expect.any(String)],
          message: 'is in the query string, but not the same in the body; send it in the body only.',
        },
      ]);
      expect(await stored()).toEqual([]);
    },
  );

  test.each(methods)('%s: the same text is accepted, and so is what resembles no member', async (method) => {
    const [[name = '', text = ''] = []] = Object.entries(bodies[method]);
    const reply = await gateway.send(method, `/api/user?${name}=${encodeURIComponent(text)}&utm_source=a`, {
      body: bodies[method],
    });
    expect(reply.status).toBe(method === 'PUT' || method === 'POST' ? 404 : 200);
  });
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
    expect([status, data.detail]).toEqual([400, `properties: was sent as properties[region]; ${asProperties}`]);
    expect(await stored()).toEqual([]);
  });
});
