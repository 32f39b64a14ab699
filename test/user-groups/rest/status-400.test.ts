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
