import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { userMethods } from '../../../src/user-groups/rest.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const get = (user_group_id: string, token = gateway.token) =>
  gateway.send('GET', '/api/user', { body: { user_group_id }, token });
const outcome = ({ status, json }: { status: number; json: { code?: string } }) => [status, json.code];

// Which scope each method needs: test/contract/access.test.ts.
test('403 names the scope that is needed, and is decided before the input, so that no issues are revealed', async () => {
  const { secret: token } = await gateway.issue({ scopes: ['groups:read'] });
  const reply = await get('x'.repeat(256), token);
  expect(outcome(reply)).toEqual([403, 'FORBIDDEN']);
  expect(reply.json.detail).toContain('groups:write');
});

describe('404', () => {
  test('PUT of an id that no group has', async () => {
    expect(outcome(await gateway.send('PUT', '/api/user', { body: { user_group_id: 'unknown' } }))).toEqual([404, 'NOT_FOUND']);
    expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'unknown' } })).toBe(0);
  });

  test.each(['/api', '/api/users', '/API/user', '/api/user//', '/api/user/5', '/api/user%2F', '/toString'])(
    'the path %s',
    async (path) => {
      expect(outcome(await gateway.send('GET', path, { body: { user_group_id: 'x' } }))).toEqual([404, 'NOT_FOUND']);
    },
  );
});

describe('405', () => {
  const others = ['PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].filter((method) => !userMethods.includes(method));
  test.each(others)('%s /api/user', async (method) => {
    const reply = await gateway.send(method, '/api/user', { body: { user_group_id: 'x' } });
    expect(outcome(reply)).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(reply.headers.get('allow')?.split(', ').toSorted()).toEqual(userMethods.toSorted());
  });

  test('HEAD /api/user, because GET may create', async () => {
    const reply = await gateway.send('HEAD', '/api/user?user_group_id=probed');
    expect([reply.status, reply.text]).toEqual([405, '']);
    expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'probed' } })).toBe(0);
  });

  test.each(['/', '/livez', '/readyz', '/docs/errors'])('POST %s', async (path) => {
    const reply = await gateway.send('POST', path, { body: {} });
    expect(outcome(reply)).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(reply.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('409', () => {
  test('an id of an untagged group: the message says to label it', async () => {
    const { secret: untagged } = await gateway.issue({ environment: null });
    await get('held', untagged);
    const reply = await get('held');
    expect(outcome(reply)).toEqual([409, 'CONFLICT']);
    expect(reply.json.detail).toMatch(/label the untagged/i);
  });
});

describe('413', () => {
  const padded = (bytes: number) => {
    const body = '{"user_group_id":"big"}';
    return body + ' '.repeat(bytes - body.length);
  };

  test('accepts a body of 1 MiB', async () => {
    expect((await gateway.send('GET', '/api/user', { body: padded(1_048_576) })).status).toBe(200);
  });

  test.each(['GET', 'QUERY', 'PUT', 'POST'])('%s with one byte more', async (method) => {
    const reply = await gateway.send(method, '/api/user', { body: padded(1_048_577) });
    expect(outcome(reply)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });
});

describe('415', () => {
  const body = '{"user_group_id":"typed"}';
  test.each([
    ['content-type', 'text/plain'],
    ['content-type', 'application/x-www-form-urlencoded'],
    ['content-type', 'multipart/form-data; boundary=x'],
    ['content-type', 'application/jsonp'],
    ['content-type', 'application/vnd.api+json'],
    ['content-type', 'text/json'],
    ['content-type', ''],
    ['content-type', 'application/json; charset=iso-8859-1'],
    ['content-type', 'application/json; charset=utf-16'],
    ['content-encoding', 'gzip'],
    ['content-encoding', 'br'],
  ])('%s: %s', async (name, value) => {
    const reply = await gateway.send('GET', '/api/user', { body, headers: { [name]: value } });
    expect(outcome(reply)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'typed' } })).toBe(0);
  });

  test.each(['application/json', 'Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"'])(
    'accepts the type %s',
    async (type) => {
      const reply = await gateway.send('GET', '/api/user', { body: { user_group_id: type }, headers: { 'content-type': type } });
      expect(reply.status).toBe(200);
    },
  );

  test('parses a body without a type as JSON', async () => {
    const headers = { authorization: `Token ${gateway.token}`, 'content-length': String(body.length) };
    const untyped = await request(`${gateway.url}/api/user`, { method: 'POST', headers, body });
    expect(await untyped.body.json()).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('ignores the type without a body', async () => {
    const reply = await gateway.send('GET', '/api/user?user_group_id=bodiless', { headers: { 'content-type': 'text/plain' } });
    expect(reply.status).toBe(200);
  });
});
