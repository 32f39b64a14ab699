import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { revokeApiToken } from '../../../src/api-tokens/api-tokens.ts';
import { issueToken } from '../../../src/tokens.ts';
import { userMethods } from '../../../src/user-groups/rest.ts';
import { type Reply, type RequestOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { contextOn } from '../../support/queries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.database.prisma.userGroup.deleteMany();
});
afterAll(() => gateway.close());

const send = (method: string, body?: unknown, options: RequestOptions = {}) =>
  gateway.send(method, '/api/user', { ...(body !== undefined && { body }), ...options });
const code = ({ status, json }: Reply) => [status, json.code];
const countGroups = () => gateway.database.prisma.userGroup.count();

describe('a problem', () => {
  const failures: Record<string, [status: number, send: () => Promise<Reply>]> = {
    INVALID_INPUT: [400, () => send('GET', { user_group_id: 5 })],
    BODY_REQUIRED: [400, () => send('GET')],
    MALFORMED_JSON: [400, () => send('GET', '{')],
    UNAUTHENTICATED: [401, () => send('GET', { user_group_id: 'x' }, { token: null })],
    FORBIDDEN: [
      403,
      async () => {
        const { secret: token } = await gateway.issue({ scopes: ['groups:read'] });
        // Before the input is checked, so that no issues are revealed.
        return send('GET', { user_group_id: 'x'.repeat(256) }, { token });
      },
    ],
    NOT_FOUND: [404, () => gateway.send('GET', '/nowhere')],
    METHOD_NOT_ALLOWED: [405, () => send('PATCH')],
    CONFLICT: [
      409,
      async () => {
        const { secret: token } = await gateway.issue({ environment: null });
        await send('GET', { user_group_id: 'held' }, { token });
        return send('GET', { user_group_id: 'held' });
      },
    ],
    PAYLOAD_TOO_LARGE: [413, () => send('PUT', ' '.repeat(1_048_577))],
    UNSUPPORTED_MEDIA_TYPE: [415, () => send('GET', 'x', { headers: { 'content-type': 'text/plain' } })],
  };
  const details: Record<string, RegExp> = {
    BODY_REQUIRED: /QUERY \/api\/user.*GET \/api\/user\?user_group_id=/,
    FORBIDDEN: /groups:write/,
    CONFLICT: /label the untagged/i,
  };

  test.each(Object.entries(failures))('%s has exactly these members', async (expected, [status, fail]) => {
    const reply = await fail();
    expect(reply.status).toBe(status);
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
    expect(reply.json).toEqual({
      success: 0,
      type: expect.stringMatching(new RegExp(`/docs/errors/${expected}$`)),
      title: expect.stringMatching(/\S/),
      status,
      detail: expect.stringMatching(details[expected] ?? /\S/),
      code: expected,
      issues: expected === 'INVALID_INPUT' ? [{ path: ['user_group_id'], message: expect.any(String) }] : [],
      request_id: reply.headers.get('x-request-id'),
    });
  });
});

describe('the request id', () => {
  const idOf = async (id?: string) =>
    (await send('GET', undefined, { headers: id === undefined ? {} : { 'x-request-id': id } })).json.request_id;

  test.each(['a', 'req-1.2:3_4', 'x'.repeat(128)])('is the caller’s: %s', async (id) => expect(await idOf(id)).toBe(id));

  test.each(['', 'x'.repeat(129), 'a b', '<script>', 'ä', undefined])('is a new one in place of %s', async (id) => {
    const first = await idOf(id);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf(id)).not.toBe(first);
  });
});

test.each(['QUERY', 'PUT', 'POST', 'DELETE'])('%s without a body is BODY_REQUIRED', async (method) => {
  expect(code(await send(method))).toEqual([400, 'BODY_REQUIRED']);
});

describe('MALFORMED_JSON', () => {
  const invalidUtf8 = (bytes: number[]) =>
    Buffer.concat([Buffer.from('{"user_group_id":"m","name":"'), Buffer.from(bytes), Buffer.from('"}')]);
  test.each<[string, string | Buffer]>([
    ['not JSON at all', 'user_group_id=m'],
    ['cut off', '{"user_group_id":"m"'],
    ['with NaN', '{"user_group_id":"m","properties":{"a":NaN}}'],
    ['with a raw line break in a string', '{"user_group_id":"m\n"}'],
    ['with a member twice, once in escapes', '{"user_group_id":"m","\\u0075ser_group_id":"m"}'],
    ['with a member twice deep in lists', '{"user_group_id":"m","properties":{"a":[[{"b":{}},{"b":1,"c":[],"b":1}]]}}'],
    ['with a member twice, an object and a string', '{"user_group_id":{"a":1e400},"user_group_id":"m"}'],
    ['with __proto__ twice', '{"user_group_id":"m","__proto__":1,"__proto__":2}'],
    ['with a byte order mark', '\uFEFF{"user_group_id":"m"}'],
    ['in UTF-16', Buffer.from('\uFEFF{"user_group_id":"m"}', 'utf16le')],
    ['with a stray continuation byte', invalidUtf8([0x80])],
    ['with an overlong form', invalidUtf8([0xc0, 0xaf])],
    ['with a surrogate in UTF-8', invalidUtf8([0xed, 0xa0, 0x80])],
  ])('a body %s', async (_, body) => {
    expect(code(await send('GET', body))).toEqual([400, 'MALFORMED_JSON']);
    expect(await countGroups()).toBe(0);
  });

  test('names a duplicate member and its position', async () => {
    const { detail } = (await send('GET', '{"properties":{"a":{"b":"c","d":[{"b":1},{"b":2}]},"\\u0061":3}}')).json;
    expect(detail).toBe('The body has the duplicate member "a" in one object, at position 51.');
  });

  test.each(['mapping={', 'properties={', 'properties=', 'properties=region'])('the parameter %s', async (parameter) => {
    const reply = await gateway.send('GET', `/api/user?user_group_id=m&${parameter}`);
    expect([...code(reply), await countGroups()]).toEqual([400, 'MALFORMED_JSON', 0]);
  });
});

test.each(['[]', '"m"', '5', 'null'])('the body %s, which is not an object, is INVALID_INPUT', async (body) => {
  expect(code(await send('GET', body))).toEqual([400, 'INVALID_INPUT']);
});

test.each([
  ['lists', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['brackets that are never closed', '['.repeat(1_000_000)],
])('a body of %s deeper than 256 levels is refused before it is parsed', async (_, value) => {
  const reply = await send('GET', `{"user_group_id":"g","properties":${value}}`);
  expect([...code(reply), reply.json.detail]).toEqual([400, 'INVALID_INPUT', expect.stringContaining('256 levels')]);
});

describe('401', () => {
  const mistyped = (token: string) => `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  const format = /must be "Token <API_TOKEN>"/;
  const mistake = /mistyped or truncated: its checksum does not match/;

  /** `Authorization` headers, and what the response says of them. */
  const headers: Record<string, [header: () => string | Promise<string>, reason: RegExp]> = {
    empty: [() => '', format],
    'the scheme alone': [() => 'Token ', /No API token/],
    'no scheme': [() => gateway.token, format],
    'the scheme Bearer': [() => `Bearer ${gateway.token}`, format],
    'the scheme Basic': [() => `Basic ${Buffer.from(`x:${gateway.token}`).toString('base64')}`, format],
    'two credentials': [() => `Token ${gateway.token} ${gateway.token}`, format],
    'token= and quotation marks': [() => `Token token="${gateway.token}"`, /without quotes and without token=/],
    'an embed token': [() => `Token eyJ${'x'.repeat(300)}`, /is an embed token, not a credential/],
    'the secret of a webhook': [() => `Token whsec_${'x'.repeat(32)}`, /is the secret of a webhook, not a credential/],
    'a user group token': [() => `Token ${issueToken('userGroup')}`, /is a user group token, not a credential/],
    'a wrong checksum': [() => `Token ${mistyped(gateway.token)}`, mistake],
    'a token cut off': [() => `Token ${gateway.token.slice(0, -1)}`, mistake],
    'an unknown token': [() => `Token ${issueToken('apiToken')}`, /The API token is unknown/],
    'a revoked token': [
      async () => {
        const { secret, id } = await gateway.issue();
        await revokeApiToken(contextOn(gateway.database), id);
        return `Token ${secret}`;
      },
      /is revoked/,
    ],
    'an expired token': [
      async () => `Token ${(await gateway.issue({ expiresAt: new Date(Date.now() - 1) })).secret}`,
      /has expired/,
    ],
  };

  test.each(Object.entries(headers))('%s: the response says why', async (_, [header, reason]) => {
    const authorization = await header();
    const reply = await send('GET', { user_group_id: 'rejected' }, { token: null, headers: { authorization } });
    expect([reply.status, reply.json.code, reply.json.success]).toEqual([401, 'UNAUTHENTICATED', 0]);
    expect(reply.headers.get('www-authenticate')).toBe('Token');
    expect(reply.json.detail).toMatch(reason);
    if (authorization.length > 20) expect(reply.text).not.toContain(authorization.slice(-20));
    expect(await countGroups()).toBe(0);
  });

  test('the scheme in other case, and a token that expires later, are accepted', async () => {
    const { secret } = await gateway.issue({ expiresAt: new Date(Date.now() + 3_600_000) });
    const options = { token: null, headers: { authorization: `tOKEN ${secret}` } };
    expect((await send('GET', { user_group_id: 'accepted' }, options)).status).toBe(200);
  });

  test('tokens with a wrong checksum are refused without a query', async () => {
    const { token } = (await send('GET', { user_group_id: 'acme' })).json.user_group;
    const query = 'query ($token: String) { userGroup(by: { token: $token }) { teamId } }';
    const lookUp = (of: string) => gateway.graphql(query, { token: of });
    await gateway.database.pool.query('alter table user_group rename to gone');
    expect((await lookUp(token)).json.errors[0].extensions.code).toBe('INTERNAL');
    expect((await lookUp(mistyped(token))).json).toEqual({ data: { userGroup: null } });
    await gateway.database.pool.query('alter table gone rename to user_group; alter table api_token rename to gone');
    expect((await send('PUT', {})).status).toBe(500);
    expect((await send('PUT', {}, { token: mistyped(gateway.token) })).status).toBe(401);
    await gateway.database.pool.query('alter table gone rename to api_token');
  });
});

test.each(['/api', '/api/users', '/API/user', '/api/user//', '/api/user/5', '/api/user%2F', '/toString'])(
  'the path %s is 404',
  async (path) => expect(code(await gateway.send('GET', path))).toEqual([404, 'NOT_FOUND']),
);

test.each(['PATCH', 'OPTIONS', 'PROPFIND', 'HEAD'])('%s /api/user is 405, and creates nothing', async (method) => {
  const reply = await gateway.send(method, '/api/user?user_group_id=probed');
  expect([reply.status, await countGroups()]).toEqual([405, 0]);
  expect(reply.headers.get('allow')?.split(', ').toSorted()).toEqual(userMethods.toSorted());
});

test('a body of 1 MiB is accepted', async () => {
  expect((await send('GET', '{"user_group_id":"big"}'.padEnd(1_048_576))).status).toBe(200);
});

describe('the media type', () => {
  const body = '{"user_group_id":"typed"}';
  test.each([
    ['content-type', 'application/x-www-form-urlencoded'],
    ['content-type', 'application/vnd.api+json'],
    ['content-type', 'text/json'],
    ['content-type', ''],
    ['content-type', 'application/json; charset=utf-16'],
    ['content-encoding', 'gzip'],
  ])('%s: %s is 415', async (name, value) => {
    expect(code(await send('GET', body, { headers: { [name]: value } }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(await countGroups()).toBe(0);
  });

  test.each(['application/json', 'Application/JSON', 'application/json;charset="UTF-8"'])('%s is accepted', async (type) => {
    expect((await send('GET', body, { headers: { 'content-type': type } })).status).toBe(200);
  });

  test('of a body that has none is JSON; without a body it is ignored', async () => {
    const headers = { authorization: `Token ${gateway.token}`, 'content-length': String(body.length) };
    const untyped = await request(`${gateway.url}/api/user`, { method: 'POST', headers, body });
    expect(await untyped.body.json()).toMatchObject({ code: 'INVALID_INPUT' });
    const bodiless = { headers: { 'content-type': 'text/plain' } };
    expect((await gateway.send('GET', '/api/user?user_group_id=x', bodiless)).status).toBe(200);
  });
});
