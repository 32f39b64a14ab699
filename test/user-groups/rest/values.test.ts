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

const create = (body: unknown) => gateway.send('GET', '/api/user', { body });
/** Creates or updates a group by a body whose text counts. */
const send = (method: string, properties: string) =>
  gateway.send(method, '/api/user', { body: `{"user_group_id":"g","properties":${properties}}` });
const groups = () => gateway.database.prisma.userGroup.findMany();

/** One character, two UTF-16 units, four bytes. */
const astral = '😀';
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`schema ${i}`, `source ${i}`]));
const nested = (levels: number): object => (levels > 1 ? { a: nested(levels - 1) } : {});
const inLists = (levels: number): object => ({ a: JSON.parse('['.repeat(levels - 1) + ']'.repeat(levels - 1)) });
/** Properties whose JSON has this many bytes. */
const sized = (bytes: number, character = 'x') => {
  const width = Buffer.byteLength(character);
  const room = bytes - '{"a":""}'.length;
  return { a: character.repeat(Math.floor(room / width)) + 'x'.repeat(room % width) };
};
/** A mapping whose JSON has this many bytes, some 64 KiB. */
const sizedMapping = (bytes: number) => {
  const mapping = Object.fromEntries(Array.from({ length: 303 }, (_, i) => [`schema ${i}`, astral.repeat(50)]));
  return { ...mapping, last: 'x'.repeat(bytes - Buffer.byteLength(JSON.stringify({ ...mapping, last: '' }))) };
};

test.each<[string, Record<string, unknown>]>([
  ['an id of 255 characters', { user_group_id: astral.repeat(255) }],
  ['a name of 1 character', { name: ' ' }],
  ['a name of 255 characters', { name: astral.repeat(255) }],
  ['a schema id and a data source of 255 characters', { mapping: { [astral.repeat(255)]: astral.repeat(255) } }],
  ['a mapping of 1,000 entries', { mapping: entries(1_000) }],
  ['a mapping of 64 KiB', { mapping: sizedMapping(65_536) }],
  ['properties of 64 KiB', { properties: sized(65_536, astral) }],
  ['properties of 32 levels', { properties: nested(32) }],
  ['properties of 32 levels, lists among them', { properties: inLists(32) }],
])('%s: at the limit, it is stored unchanged', async (_, members) => {
  const { user_group_id = 'g', name = user_group_id, mapping = {}, properties = null } = members;
  expect((await create({ user_group_id: 'g', ...members })).status).toBe(200);
  expect(await groups()).toMatchObject([{ providedId: user_group_id, name, mapping, properties }]);
});

test('whitespace and escapes do not count', async () => {
  const id = '\\ud83d\\ude00'.repeat(255);
  const properties = JSON.stringify(sized(65_536)).replace(':', `${' '.repeat(9_000)}:`);
  expect((await create(`{"user_group_id":"${id}","properties":${properties}}`)).status).toBe(200);
  expect(await groups()).toMatchObject([{ providedId: astral.repeat(255) }]);
});

const deep = (open: string, close: string) => open.repeat(200) + close.repeat(200);
const escaped = Array.from({ length: 50 }, (_, i) => [`schema ${i}`, '\u0001'.repeat(255)]);

test.each<[string, Record<string, unknown> | string, string]>([
  ['an empty id', { user_group_id: '' }, 'user_group_id'],
  ['an id of 256 characters', { user_group_id: astral.repeat(256) }, 'user_group_id'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of 256 characters', { name: astral.repeat(256) }, 'name'],
  ['a schema id of 256 characters', { mapping: { ['x'.repeat(256)]: 's' } }, 'mapping'],
  ['a data source of 256 characters', { mapping: { s: 'x'.repeat(256) } }, 'mapping'],
  ['a mapping of 1,001 entries', { mapping: entries(1_001) }, 'mapping'],
  ['a mapping of 64 KiB and a byte', { mapping: sizedMapping(65_537) }, 'mapping'],
  ['a mapping of characters with long escapes', { mapping: Object.fromEntries(escaped) }, 'mapping'],
  ['properties of 64 KiB and a byte', { properties: sized(65_537, astral) }, 'properties'],
  ['properties of 33 levels', { properties: nested(33) }, 'properties'],
  ['properties of 33 levels, lists among them', { properties: inLists(33) }, 'properties'],
  ['a name of lists, 200 levels deep', `"name":${deep('[', ']')}`, 'name'],
  ['a mapping 200 levels deep', `"mapping":{"s":${deep('[', ']')}}`, 'mapping'],
  ['properties 200 levels deep', `"properties":{"a":${deep('[', ']')}}`, 'properties'],
])('%s is INVALID_INPUT, and creates nothing', async (_, members, path) => {
  const body = typeof members === 'string' ? `{"user_group_id":"g",${members}}` : { user_group_id: 'g', ...members };
  const { status, json } = await create(body);
  expect([status, json.code, json.issues[0].path[0], await groups()]).toEqual([400, 'INVALID_INPUT', path, []]);
});

describe.each([
  ['NUL', '\\u0000'],
  ['a lone high surrogate', '\\ud83d'],
  ['surrogates the wrong way round', '\\ude00\\ud83d'],
])('%s', (_, text) => {
  test.each([
    `{"user_group_id":"g${text}"}`,
    `{"user_group_id":"g","name":"n${text}"}`,
    `{"user_group_id":"g","mapping":{"s${text}":"d"}}`,
    `{"user_group_id":"g","mapping":{"s":"d${text}"}}`,
    `{"user_group_id":"g","properties":{"p${text}":"v"}}`,
    `{"user_group_id":"g","properties":{"p":[{"q":["v${text}"]}]}}`,
  ])('in %s is refused', async (body) => {
    const { status, json } = await create(body);
    expect([status, json.code, await groups()]).toEqual([400, 'INVALID_INPUT', []]);
  });
});

// Which numbers are exact: test/json.test.ts.
test('a number that JSON parsers do not represent exactly is refused with its path', async () => {
  const { status, json } = await send('GET', '{"a":{"b":[0,9007199254740993]}}');
  expect([status, json.code, await groups()]).toEqual([400, 'INVALID_INPUT', []]);
  expect(json.issues).toEqual([{ path: ['properties', 'a', 'b', '1'], message: expect.stringContaining('exactly') }]);
});

test.each([
  ['1.50', '1.5'],
  ['1E+2', '100'],
  ['9007199254740992', '9007199254740992'],
  ['1.7976931348623157e308', '1.7976931348623157e+308'],
  ['5e-324', '5e-324'],
])('the number %s comes back as %s', async (number, printed) => {
  expect((await send('GET', `{"a":${number}}`)).text).toContain(`"properties":{"a":${printed}}`);
  expect((await send('PUT', `{"a":[${number}]}`)).text).toContain(`"properties":{"a":[${printed}]}`);
});

test('members keep their order', async () => {
  expect((await send('GET', '{"z":1,"a":{"y":1,"b":2}}')).text).toContain('{"z":1,"a":{"y":1,"b":2}}');
  expect((await send('PUT', '{"y":1,"b":{"z":1,"a":2}}')).text).toContain('{"y":1,"b":{"z":1,"a":2}}');
});

test.each([
  '{"user_group_id":"g","properties":{"__proto__":{"polluted":true}}}',
  '{"user_group_id":"g","properties":{"a":[{"\\u005f_proto__":{"polluted":true}}]}}',
  '{"user_group_id":"g","mapping":{"__proto__":"x"}}',
  '{"__proto__":{"user_group_id":"sneaked"}}',
])('__proto__ is refused and changes nothing: %s', async (body) => {
  const { status, json } = await create(body);
  expect([status, json.code, await groups()]).toEqual([400, 'INVALID_INPUT', []]);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test.each<[string, object]>([
  ['names of JavaScript', { constructor: { prototype: { a: 1 } }, toJSON: 'x', length: 0, '': {}, valueOf: 'z' }],
  ['typed values', { a: { $type: 'Raw', value: 'null' }, b: { $type: 'DateTime', value: '2020-01-01T00:00:00.000Z' } }],
  ['a placeholder', { prisma__type: 'param', prisma__value: { name: 'x', type: 'String' } }],
  ['an operation and a filter', { set: { increment: 1 }, equals: null, not: {}, path: ['$'] }],
  ['SQL', { "'; drop table user_group; --": '$1 || \'\\"' }],
  ['empty values', { a: null, b: [], c: {}, d: [null], e: false, f: '' }],
  ['raw parameters', { __prismaRawParameters__: true, values: { $type: 'Json', value: '{"a":"\\u0000"}' } }],
  ['a field reference', { $type: 'FieldRef', value: { _ref: 'token', _container: 'UserGroup' } }],
])('what storage layers might interpret is data: %s', async (_, properties) => {
  const text = JSON.stringify(properties);
  expect((await send('GET', text)).json.user_group.properties).toEqual(properties);
  await send('PUT', '{"other":1}');
  expect((await send('PUT', text)).json.user_group.properties).toEqual(properties);
  expect(await groups()).toMatchObject([{ properties }]);
});
