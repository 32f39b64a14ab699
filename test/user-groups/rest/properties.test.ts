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

/** Creates a group by a body whose text counts. */
const create = (properties: string) =>
  gateway.send('GET', '/api/user', { body: `{"user_group_id":"g","properties":${properties}}` });
const update = (properties: string) =>
  gateway.send('PUT', '/api/user', { body: `{"user_group_id":"g","properties":${properties}}` });
const countGroups = () => gateway.database.prisma.userGroup.count();

describe('numbers that JSON parsers do not represent exactly', () => {
  // Which they are: test/http/exact-number.test.ts.
  const numbers = ['-1e400', '9007199254740993', '0.30000000000000001'];
  test.each(numbers)('%s is rejected with its path', async (number) => {
    const { status, json } = await create(`{"a":{"b":[0,${number}]}}`);
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(json.issues).toEqual([{ path: ['properties', 'a', 'b', '1'], message: expect.stringContaining('exactly') }]);
    expect(await countGroups()).toBe(0);
  });

  test('a number is not accepted as a string', async () => {
    const reply = await gateway.send('GET', '/api/user', { body: '{"user_group_id":1e400}' });
    expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
  });

  test('as the parameter properties', async () => {
    const reply = await gateway.send('GET', `/api/user?user_group_id=g&properties=${encodeURIComponent('{"a":1e400}')}`);
    expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
  });
});

describe('numbers that they do represent exactly', () => {
  test.each([
    ['-0.1', '-0.1'],
    ['1.50', '1.5'],
    ['1E+2', '100'],
    ['9007199254740992', '9007199254740992'],
    ['1e21', '1e+21'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['5e-324', '5e-324'],
    ['0.0000001', '1e-7'],
  ])('%s comes back as %s', async (number, printed) => {
    expect((await create(`{"a":${number}}`)).text).toContain(`"properties":{"a":${printed}}`);
    expect((await update(`{"a":[${number}]}`)).text).toContain(`"properties":{"a":[${printed}]}`);
  });
});

describe('names with a meaning in JavaScript', () => {
  test.each([
    'constructor',
    'toString',
    'hasOwnProperty',
    'prototype',
    '__defineGetter__',
    'valueOf',
    'toJSON',
    'then',
    'length',
    '',
  ])('“%s” is an ordinary name', async (name) => {
    const properties = { [name]: { [name]: { polluted: true } }, list: [{ [name]: 1 }] };
    const body = { user_group_id: name || 'empty', mapping: { [name]: name }, properties };
    expect((await gateway.send('GET', '/api/user', { body })).json.user_group.properties).toEqual(properties);
    expect((await gateway.send('PUT', '/api/user', { body })).json.user_group.properties).toEqual(properties);
    expect((await gateway.database.prisma.userGroup.findFirst())?.mapping).toEqual({ [name]: name });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test.each([
    '{"__proto__":{"polluted":true}}',
    '{"a":[{"__proto__":{"polluted":true}}]}',
    '{"\\u005f_proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}},"__proto__":null}',
  ])('__proto__ is rejected and changes nothing: %s', async (properties) => {
    const { status, json } = await create(properties);
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(await countGroups()).toBe(0);
  });

  test('__proto__ as a schema id is rejected', async () => {
    const reply = await gateway.send('GET', '/api/user', { body: '{"user_group_id":"g","mapping":{"__proto__":"x"}}' });
    expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(await countGroups()).toBe(0);
  });

  test.each(['{"__proto__":{"user_group_id":"sneaked"}}', '{"user_group_id":"g","__proto__":1}'])(
    '__proto__ next to the members is a field like others: %s',
    async (body) => {
      const reply = await gateway.send('GET', '/api/user', { body });
      expect(reply.json).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['__proto__'] }] });
    },
  );
});

describe('what storage layers might interpret', () => {
  test.each<[string, object]>([
    ['a typed value', { $type: 'DateTime', value: '2020-01-01T00:00:00.000Z' }],
    ['a raw value', { a: { $type: 'Raw', value: 'null' } }],
    ['a placeholder', { prisma__type: 'param', prisma__value: { name: 'x', type: 'String' } }],
    ['an update operation', { set: { increment: 1 } }],
    ['a filter', { equals: null, not: {}, path: ['$'] }],
    ['SQL', { "'; drop table user_group; --": '$1 || \'\\"' }],
    ['a date', { at: '2020-01-01T00:00:00.000Z' }],
    ['a number in a text', { big: '12345678901234567890', empty: '' }],
    ['nothing much', { a: null, b: [], c: {}, d: [null], e: false }],
    ['a marker of raw parameters', { __prismaRawParameters__: true }],
    ['the same, deeper', { a: { __prismaRawParameters__: true } }],
    ['raw parameters with values', { __prismaRawParameters__: true, values: 5 }],
    ['raw parameters with an enumeration', { __prismaRawParameters__: true, values: { $type: 'Enum', value: 'DbNull' } }],
    ['raw parameters with JSON', { __prismaRawParameters__: true, values: { $type: 'Json', value: '{"a":"\\u0000"}' } }],
    ['a field reference', { $type: 'FieldRef', value: { _ref: 'token', _container: 'UserGroup' } }],
    ['a parameter', { $type: 'Param', value: 'x' }],
    ['a decimal', { toStringTag: '[object Decimal]', d: [1], e: 0, s: 1 }],
    ['functions by name', { toJSON: 'x', toString: 'y', valueOf: 'z' }],
    ['a constructor', { constructor: { prototype: { polluted: true } } }],
  ])('%s is stored and updated unchanged', async (_, properties) => {
    const text = JSON.stringify(properties);
    expect((await create(text)).json.user_group.properties).toEqual(properties);
    await update('{"other":1}');
    expect((await update(text)).json.user_group.properties).toEqual(properties);
    expect(await gateway.database.prisma.userGroup.findMany()).toMatchObject([{ properties }]);
  });

  test('members keep their order', async () => {
    expect((await create('{"z":1,"a":{"y":1,"b":2}}')).text).toContain('{"z":1,"a":{"y":1,"b":2}}');
    expect((await update('{"y":1,"b":{"z":1,"a":2}}')).text).toContain('{"y":1,"b":{"z":1,"a":2}}');
  });
});
