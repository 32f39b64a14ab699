import { afterAll, beforeAll, expect, test } from 'vitest';
import { introspectToken, partsOf } from '../support/embed-tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let signer: string;
let group: { team_id: number; token: string };
beforeAll(async () => {
  gateway = await startGateway();
  signer = (await gateway.issue({ scopes: ['embed:sign', 'groups:resolve'] })).secret;
  group = (await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } })).json.user_group;
});
afterAll(() => gateway.close());

const send = (body: object) => gateway.send('POST', '/api/embed-tokens', { token: signer, body });

test('creates the token that the mutation creates, from members in snake case', async () => {
  const viewer = { id: 'u-17', attributes: { fooBar: 1 } };
  const context = { viewer, resources: ['sales'], origin: 'https://app.example.com' };
  const body = {
    by: { provided_id: 'acme' },
    audience: 'dashboards',
    expires_in_seconds: 60,
    include_properties: true,
    ...context,
  };
  const { status, json } = await send(body);
  expect([status, Object.keys(json)]).toEqual([200, ['success', 'token', 'expires_at']]);
  const { claims } = partsOf(json.token);
  expect(claims).toMatchObject({ sub: 'acme', aud: 'dashboards', properties: null, ...context });
  expect(Number(claims['exp']) - Number(claims['iat'])).toBe(60);
  expect(json).toMatchObject({ success: 1, expires_at: new Date(Number(claims['exp']) * 1_000).toISOString() });
  expect((await introspectToken(gateway, signer, json.token)).json).toMatchObject({ active: true, sub: 'acme', ...context });
});

test.each<[string, () => object]>([
  ['user_group_id', () => ({ user_group_id: 'acme' })],
  ['its team id', () => ({ by: { team_id: group.team_id } })],
  ['its token', () => ({ by: { token: group.token } })],
])('selects the group by %s', async (_, body) => {
  expect(partsOf((await send(body())).json.token).claims['sub']).toBe('acme');
});

test.each<[string, object, number, object]>([
  ['no selector', {}, 400, { code: 'INVALID_INPUT', issues: [{ path: ['by'] }] }],
  ['an unknown group', { user_group_id: 'nobody' }, 404, { code: 'NOT_FOUND' }],
  [
    'values of other types',
    { user_group_id: 'acme', expires_in_seconds: '60', include_properties: 1, viewer: [], resources: 'a' },
    400,
    { issues: [['expires_in_seconds'], ['include_properties'], ['viewer'], ['resources']].map((path) => ({ path })) },
  ],
  ['a viewer without an id', { user_group_id: 'acme', viewer: { name: 'Ada' } }, 400, { issues: [{ path: ['viewer', 'id'] }] }],
  [
    'too much',
    { user_group_id: 'acme', viewer: { id: 'a', attributes: { a: 'x'.repeat(6_000) } } },
    400,
    { issues: [{ path: [] }] },
  ],
])('%s is refused', async (_, body, status, expected) => {
  const reply = await send(body);
  expect(reply.status).toBe(status);
  expect(reply.json).toMatchObject({ success: 0, ...expected });
});

test.each<[object, string[], string?]>([
  [{ expiresInSeconds: 60 }, ['expiresInSeconds']],
  [{ resource: null }, ['resource']],
  [{ viewer: { id: 'ada', role: 'admin' } }, ['viewer', 'role']],
  [{}, ['viewer[id]'], '?viewer[id]=ada'],
])('nothing is ignored: %j', async (members, path, query = '') => {
  const body = { user_group_id: 'acme', ...members };
  const { status, json } = await gateway.send('POST', `/api/embed-tokens${query}`, { token: signer, body });
  expect([status, json.code, json.issues]).toMatchObject([400, 'INVALID_INPUT', [{ path }]]);
});

test('a suspended group is 409 SUSPENDED', async () => {
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'suspended' } });
  await gateway.database.prisma.userGroup.update({ where: { teamId: json.user_group.team_id }, data: { suspended: true } });
  const reply = await send({ user_group_id: 'suspended' });
  expect([reply.status, reply.json.code]).toEqual([409, 'SUSPENDED']);
});
