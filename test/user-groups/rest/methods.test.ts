import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Reply, type RequestOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { tokenOf } from '../../support/keys.ts';
import { forgedToken, isTokenOf } from '../../support/tokens.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** The id of each test’s own group. */
let id: string;
let count = 0;
beforeEach(() => {
  count += 1;
  id = `group ${count}`;
});

const send = (method: string, members: object = {}, options: RequestOptions = {}) =>
  gateway.send(method, '/api/user', { body: { user_group_id: id, ...members }, ...options });
const create = async (members: object = {}) => (await send('GET', members)).json.user_group;
const stored = () => gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId: id } });
const exists = async () => (await gateway.database.prisma.userGroup.count({ where: { providedId: id } })) > 0;
const identifiedBy = async (token: string) => {
  const query = 'query ($token: String!) { userGroup(by: { token: $token }) { teamId } }';
  return (await gateway.graphql(query, { token })).json.data.userGroup?.teamId;
};
const code = ({ status, json }: Reply) => [status, json.code];

describe('get-or-create', () => {
  const inQuery = (members: object) =>
    new URLSearchParams(
      Object.entries(members).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    );
  const ways: Record<string, (body: object) => Promise<Reply>> = {
    'GET with a body': (body) => gateway.send('GET', '/api/user', { body }),
    'QUERY with a body and a slash at the end': (body) => gateway.send('QUERY', '/api/user/', { body }),
    'GET with query parameters': (body) => gateway.send('GET', `/api/user?${inQuery(body)}`),
    'GET with query parameters and a slash': (body) => gateway.send('GET', `/api/user/?${inQuery(body)}`),
  };

  test.each(Object.entries(ways))('%s creates a group, then returns the stored one', async (way, ask) => {
    const user_group_id = `acme & söhne, ${way}`;
    const first = await ask({ user_group_id, name: 'ACME', properties: { plan: 'gold' }, mapping: { sales: 'wh' } });
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/json']);
    const { team_id, token } = first.json.user_group;
    const user_group = { team_id, token, name: 'ACME', provided_id: user_group_id, properties: { plan: 'gold' } };
    expect(first.json).toEqual({ success: 1, new_user_group: true, user_group });
    expect([typeof team_id, token]).toEqual(['number', expect.stringMatching(isTokenOf('userGroup'))]);
    const second = await ask({ user_group_id, name: 'other', properties: {}, mapping: { hr: '1' } });
    expect([second.status, second.json]).toEqual([200, { ...first.json, new_user_group: false }]);
    const { mapping } = await gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId: user_group_id } });
    expect(mapping).toEqual({ sales: 'wh' });
  });

  test.each([{}, { name: null, mapping: null, properties: null }])('the defaults of %j', async (members) => {
    await create(members);
    expect(await stored()).toMatchObject({ name: id, mapping: {}, properties: null });
  });

  test('refuses an invalid name for an existing group, too', async () => {
    await create();
    expect((await send('GET', { name: 5 })).status).toBe(400);
  });

  test('ids are compared byte by byte', async () => {
    const ids = ['Ångström', 'ångström', 'Ångström'.normalize('NFD'), ' Ångström', 'Ångström '];
    const created = await Promise.all(ids.map((each) => create({ user_group_id: each })));
    expect(created.map(({ provided_id }) => provided_id)).toEqual(ids);
    expect(new Set(created.map(({ team_id }) => team_id)).size).toBe(ids.length);
  });
});

describe('update', () => {
  const original = { name: 'before', mapping: { a: '1', b: '2' }, properties: { x: 1, y: { z: [2] } } };

  test.each([
    ['/api/user', 'Customer'],
    ['/api/user', null],
    ['/api/user/', 'Testing'],
  ] as const)('PUT %s responds with exactly these members to a caller of %s', async (path, environment) => {
    const { secret: token } = await gateway.issue({ environment });
    await send('GET', original, { token });
    const { status, json } = await gateway.send('PUT', path, { body: { user_group_id: id, name: 'after' }, token });
    const group = await stored();
    const user_group = { team_id: group.teamId, token: tokenOf(group), name: 'after', provided_id: id };
    expect([status, json]).toEqual([
      200,
      { success: 1, user_group: { ...user_group, properties: original.properties, api_environment_tag: environment } },
    ]);
  });

  test.each<object>([
    {},
    { name: 'after' },
    { mapping: { c: '3' } },
    { properties: { y: { w: 1 } } },
    { properties: null },
    { name: 'n', mapping: { m: '' }, properties: { p: [] } },
  ])('changes %j and leaves the rest', async (change) => {
    await create(original);
    const { tokenHash, teamId } = await stored();
    expect((await send('PUT', change)).status).toBe(200);
    expect(await stored()).toMatchObject({ tokenHash, teamId, ...original, ...change });
  });

  test.each<[object, string[]]>([
    [{ name: null, properties: {} }, ['name']],
    [{ mapping: null, name: 'after' }, ['mapping']],
    [{ mapping: { a: 1 }, name: 'after' }, ['mapping', 'a']],
    [{ properties: [], name: 'after' }, ['properties']],
  ])('refuses %j, and changes nothing', async (change, path) => {
    await create(original);
    const reply = await send('PUT', change);
    expect([reply.status, reply.json.issues[0].path]).toEqual([400, path]);
    expect(await stored()).toMatchObject(original);
  });

  test('of an id that no group has is 404 and creates none', async () => {
    expect(code(await send('PUT'))).toEqual([404, 'NOT_FOUND']);
    expect(await exists()).toBe(false);
  });
});

describe('rotation', () => {
  const rotate = (members: object, path = '/api/user') => gateway.send('POST', path, { body: members });

  test.each(['/api/user', '/api/user/'])(
    'POST %s responds with exactly these members; the old token stops at once',
    async (path) => {
      const before = await create({ name: 'N', properties: { p: 1 } });
      const { status, json } = await rotate({ current_token: before.token }, path);
      const { token } = json.user_group;
      const user_group = { team_id: before.team_id, token, name: 'N', provided_id: id, api_environment_tag: 'Testing' };
      expect([status, json]).toEqual([200, { success: 1, user_group }]);
      expect(token).toMatch(isTokenOf('userGroup'));
      expect(await create()).toEqual({ ...before, token });
      expect([await identifiedBy(token), await identifiedBy(before.token)]).toEqual([before.team_id, undefined]);
      expect(code(await rotate({ current_token: before.token }))).toEqual([404, 'NOT_FOUND']);
    },
  );

  test('with grace_seconds the old token identifies the group for a while, and cannot be rotated', async () => {
    const { token, team_id } = await create();
    expect((await rotate({ current_token: token, grace_seconds: 60 })).status).toBe(200);
    expect(await identifiedBy(token)).toBe(team_id);
    expect((await rotate({ current_token: token })).status).toBe(404);
  });

  test.each(['some-token-that-nobody-has', forgedToken('userGroup'), forgedToken('userGroup').slice(0, 5)])(
    'the token %s is not found',
    async (current_token) => expect(code(await rotate({ current_token }))).toEqual([404, 'NOT_FOUND']),
  );

  test.each([undefined, null, 12_345, ['x'.repeat(20)], '', 'x'.repeat(256), `${'x'.repeat(20)}\0`, `${'x'.repeat(20)}\ud800`])(
    'the current_token %j is refused',
    async (current_token) => {
      const { status, json } = await rotate({ current_token });
      expect([status, json.issues[0].path]).toEqual([400, ['current_token']]);
    },
  );

  test.each([-1, 604_801, 1.5, '60', true])('the grace_seconds %j are refused, and the token stays', async (grace_seconds) => {
    const { token, team_id } = await create();
    const { status, json } = await rotate({ current_token: token, grace_seconds });
    expect([status, json.issues[0].path]).toEqual([400, ['grace_seconds']]);
    expect(await identifiedBy(token)).toBe(team_id);
  });
});

describe('deletion', () => {
  const inQuery = (query: string, options: RequestOptions = {}) => gateway.send('DELETE', `/api/user?${query}`, options);

  test.each<[string, () => Promise<Reply>]>([
    ['the id in the body', () => send('DELETE')],
    ['the id in the query', () => inQuery(`user_group_id=${id}`)],
    ['its version', () => send('DELETE', {}, { headers: { 'if-match': '"1"' } })],
  ])('by %s: the group is gone, and its token identifies nothing', async (_, remove) => {
    const { token } = await create();
    const { status, json, headers } = await remove();
    expect([status, json, headers.get('etag')]).toEqual([200, { success: 1, deleted: true }, null]);
    expect([await exists(), await identifiedBy(token)]).toEqual([false, undefined]);
    expect(code(await remove())).toEqual([404, 'NOT_FOUND']);
  });

  test.each<[string, () => Promise<Reply>, number, string]>([
    ['another version', () => send('DELETE', {}, { headers: { 'if-match': '"2"' } }), 412, 'VERSION_MISMATCH'],
    ['no body', () => gateway.send('DELETE', '/api/user'), 400, 'BODY_REQUIRED'],
    ['an id that is a number', () => send('DELETE', { user_group_id: 5 }), 400, 'INVALID_INPUT'],
    ['two ids', () => inQuery('user_group_id=a&user_group_id=b'), 400, 'INVALID_INPUT'],
  ])('with %s nothing is deleted', async (_, remove, status, expected) => {
    await create();
    expect(code(await remove())).toEqual([status, expected]);
    expect(await exists()).toBe(true);
  });

  test('with an Idempotency-Key the group is deleted once, by its query too', async () => {
    await create();
    const options = { headers: { 'idempotency-key': `delete ${id}`.replaceAll(' ', '-') } };
    const first = await inQuery(`user_group_id=${id}`, options);
    await create();
    const again = await inQuery(`user_group_id=${id}`, options);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect(await exists()).toBe(true);
    expect((await inQuery('user_group_id=another', options)).json.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });
});
