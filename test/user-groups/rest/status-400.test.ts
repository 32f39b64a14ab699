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

const countGroups = () => gateway.database.prisma.userGroup.count();

describe('BODY_REQUIRED', () => {
  test.each(['GET', 'QUERY', 'PUT', 'POST'])('%s with no body', async (method) => {
    const reply = await gateway.send(method, '/api/user');
    expect([reply.status, reply.json.code]).toEqual([400, 'BODY_REQUIRED']);
  });

  test.each(['GET', 'QUERY'])('%s names both alternatives', async (method) => {
    const { detail } = (await gateway.send(method, '/api/user')).json;
    expect(detail).toContain('QUERY /api/user');
    expect(detail).toContain('GET /api/user?user_group_id=');
  });

  test.each(['PUT', 'POST'])('%s names none, because it has none', async (method) => {
    const { detail } = (await gateway.send(method, '/api/user')).json;
    expect(detail).toBe('The request has no body. Send a JSON object.');
  });

  test('GET with an empty body and an empty query', async () => {
    const reply = await gateway.send('GET', '/api/user?', { headers: { 'content-length': '0' } });
    expect(reply.json.code).toBe('BODY_REQUIRED');
  });
});

describe('MALFORMED_JSON', () => {
  const invalidUtf8 = (bytes: number[]) =>
    Buffer.concat([Buffer.from('{"user_group_id":"m","name":"'), Buffer.from(bytes), Buffer.from('"}')]);
  test.each<[string, string | Buffer]>([
    ['not JSON at all', 'user_group_id=m'],
    ['blank', '   '],
    ['cut off', '{"user_group_id":"m"'],
    ['followed by more', '{"user_group_id":"m"} {}'],
    ['with a trailing comma', '{"user_group_id":"m",}'],
    ['with single quotes', "{'user_group_id':'m'}"],
    ['with a comment', '{"user_group_id":"m"/**/}'],
    ['with NaN', '{"user_group_id":"m","properties":{"a":NaN}}'],
    ['with a raw line break in a string', '{"user_group_id":"m\n"}'],
    ['with a member twice', '{"user_group_id":"m","user_group_id":"m"}'],
    ['with a member twice, once in escapes', '{"user_group_id":"m","\\u0075ser_group_id":"m"}'],
    ['with an unknown member twice', '{"user_group_id":"m","junk":1,"junk":1}'],
    ['with a member twice in properties', '{"user_group_id":"m","properties":{"a":1,"a":2}}'],
    ['with a member twice deep in lists', '{"user_group_id":"m","properties":{"a":[[{"b":{}},{"b":1,"c":[],"b":1}]]}}'],
    ['with a member twice in mapping', '{"user_group_id":"m","mapping":{"a":"1","a":"2"}}'],
    ['with a member twice, an object and a string', '{"user_group_id":{"a":[[1]]},"user_group_id":"m"}'],
    ['with a member twice, an object with an inexact number and a string', '{"user_group_id":{"a":1e400},"user_group_id":"m"}'],
    ['with a member twice, a list and null', '{"user_group_id":"m","junk":[[1e400]],"junk":null}'],
    ['with a member twice, a list and an object', '{"user_group_id":"m","junk":[1e400],"junk":{}}'],
    ['with a member twice, an object and a number within a list', '{"user_group_id":"m","junk":[{"a":{"b":{}},"a":5}]}'],
    ['with __proto__ twice', '{"user_group_id":"m","__proto__":1,"__proto__":2}'],
    ['with a byte order mark', '\uFEFF{"user_group_id":"m"}'],
    ['in UTF-16', Buffer.from('\uFEFF{"user_group_id":"m"}', 'utf16le')],
    ['with a stray continuation byte', invalidUtf8([0x80])],
    ['with an overlong form', invalidUtf8([0xc0, 0xaf])],
    ['with a surrogate in UTF-8', invalidUtf8([0xed, 0xa0, 0x80])],
    ['with a character cut off', invalidUtf8([0xe2, 0x82])],
  ])('a body %s', async (_, body) => {
    const reply = await gateway.send('GET', '/api/user', { body });
    expect([reply.status, reply.json.code]).toEqual([400, 'MALFORMED_JSON']);
    expect(await countGroups()).toBe(0);
  });

  test.each([
    ['{"user_group_id":"m","junk":1,"junk":1}', '"junk"', 30],
    ['{"user_group_id":"m","name":"x","junk":"[{","name":"}]"}', '"name"', 44],
    ['{"properties":{"a":{"b":"c","d":[{"b":1},{"b":2}]},"\\u0061":3}}', '"a"', 51],
    ['{"mapping":{"\\"":"\\\\","x":",","\\"":"1"}}', '"\\""', 30],
  ])('of %s the message names the member and its position', async (body, member, position) => {
    const { detail } = (await gateway.send('GET', '/api/user', { body })).json;
    expect(detail).toBe(`The body has the duplicate member ${member} in one object, at position ${position}.`);
  });

  test('the same member in two objects is not a duplicate', async () => {
    const body = '{"user_group_id":"twins","mapping":{"name":"x"},"properties":{"name":{"name":[{"name":1},{"name":2}]}}}';
    expect((await gateway.send('GET', '/api/user', { body })).status).toBe(200);
  });

  test.each(['mapping', 'properties'])('the parameter %s', async (parameter) => {
    const reply = await gateway.send('GET', `/api/user?user_group_id=m&${parameter}={`);
    expect([reply.status, reply.json.code]).toEqual([400, 'MALFORMED_JSON']);
  });
});

describe('a body that is not an object', () => {
  test.each(['[]', '[{"user_group_id":"m"}]', '"m"', '5', 'true', 'null'])('%s', async (body) => {
    const reply = await gateway.send('GET', '/api/user', { body });
    expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(await countGroups()).toBe(0);
  });
});

test('a query string with invalid UTF-8 in percent-encoding', async () => {
  const reply = await gateway.send('GET', '/api/user?user_group_id=%FF');
  expect(reply.status).toBe(400);
});

describe('INVALID_INPUT', () => {
  const long = 'x'.repeat(256);
  test.each<[string, string, unknown, (string | number)[]]>([
    ['GET without an id', 'GET', {}, ['user_group_id']],
    ['PUT without an id', 'PUT', { name: 'n' }, ['user_group_id']],
    ['POST without a token', 'POST', {}, ['current_token']],
    ['an id that is null', 'GET', { user_group_id: null }, ['user_group_id']],
    ['an id that is a number', 'GET', { user_group_id: 5 }, ['user_group_id']],
    ['an id that is a boolean', 'GET', { user_group_id: true }, ['user_group_id']],
    ['an id that is a list', 'GET', { user_group_id: ['m'] }, ['user_group_id']],
    ['an id that is an object', 'GET', { user_group_id: {} }, ['user_group_id']],
    ['an id to update that is a number', 'PUT', { user_group_id: 5 }, ['user_group_id']],
    ['a name that is a number', 'GET', { user_group_id: 'm', name: 5 }, ['name']],
    ['a mapping that is a list', 'GET', { user_group_id: 'm', mapping: [] }, ['mapping']],
    ['a mapping that is a string', 'GET', { user_group_id: 'm', mapping: 'a' }, ['mapping']],
    ['a mapping to a number', 'GET', { user_group_id: 'm', mapping: { ok: '1', shop: 5 } }, ['mapping', 'shop']],
    ['a mapping to null', 'GET', { user_group_id: 'm', mapping: { shop: null } }, ['mapping', 'shop']],
    ['a mapping to an object', 'GET', { user_group_id: 'm', mapping: { shop: {} } }, ['mapping', 'shop']],
    ['a mapping to a text too long', 'GET', { user_group_id: 'm', mapping: { 7: 'x', shop: long } }, ['mapping', 'shop']],
    ['properties that are a list', 'GET', { user_group_id: 'm', properties: [] }, ['properties']],
    ['properties that are a string', 'GET', { user_group_id: 'm', properties: '{}' }, ['properties']],
    ['properties that are a number', 'GET', { user_group_id: 'm', properties: 5 }, ['properties']],
    ['properties that are false', 'GET', { user_group_id: 'm', properties: false }, ['properties']],
    ['a property with NUL', 'GET', { user_group_id: 'm', properties: { a: ['', '\0'] } }, ['properties', 'a']],
  ])('%s: an issue with the legacy path', async (_, method, body, path) => {
    const reply = await gateway.send(method, '/api/user', { body });
    expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(reply.json.issues).toHaveLength(1);
    expect(reply.json.issues[0].path.slice(0, path.length)).toEqual(path);
    expect(await countGroups()).toBe(0);
  });

  test('reports every issue at once', async () => {
    const body = { user_group_id: '', name: '', mapping: { '\0': '' }, properties: { a: '\0' } };
    const { issues } = (await gateway.send('GET', '/api/user', { body })).json;
    expect(issues.map(({ path }: { path: string[] }) => path[0])).toEqual(['user_group_id', 'name', 'mapping', 'properties']);
  });

  test('the response stays small, regardless of the number of issues and the length of their paths', async () => {
    const body = `{"user_group_id":"m","properties":{"${'k'.repeat(2_000)}":[${Array(1_000).fill('1e400')}]}}`;
    const reply = await gateway.send('GET', '/api/user', { body });
    expect(reply.status).toBe(400);
    expect(reply.text.length).toBeLessThan(65_536);
  });
});
