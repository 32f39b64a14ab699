import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { tokenOf } from '../../support/keys.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A new group for each test. */
let id: string;
let count = 0;
beforeEach(async () => {
  count += 1;
  id = `group ${count}`;
  const body = { user_group_id: id, name: 'before', mapping: { a: '1', b: '2' }, properties: { x: 1, y: { z: [2] } } };
  await gateway.send('GET', '/api/user', { body });
});

const update = (change: object, path = '/api/user') => gateway.send('PUT', path, { body: { user_group_id: id, ...change } });
const stored = () => gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId: id } });

test.each(['/api/user', '/api/user/'])('PUT %s responds with exactly these members', async (path) => {
  const { teamId, ...before } = await stored();
  const reply = await update({ name: 'after' }, path);
  expect(reply.status).toBe(200);
  expect(reply.json).toEqual({
    success: 1,
    user_group: {
      team_id: teamId,
      token: tokenOf(before),
      name: 'after',
      provided_id: id,
      properties: { x: 1, y: { z: [2] } },
      api_environment_tag: 'Testing',
    },
  });
});

test.each([
  ['Customer', 'Customer'],
  ['Testing', 'Testing'],
  [null, null],
] as const)('a group of environment %s has the api_environment_tag %s', async (environment, tag) => {
  const { secret: token } = await gateway.issue({ environment });
  const body = { user_group_id: `tagged ${environment}` };
  await gateway.send('GET', '/api/user', { body, token });
  const { json } = await gateway.send('PUT', '/api/user', { body, token });
  expect(json.user_group.api_environment_tag).toBe(tag);
});

const original = { name: 'before', mapping: { a: '1', b: '2' }, properties: { x: 1, y: { z: [2] } } };

test.each([
  ['nothing', {}, {}],
  ['the name', { name: 'after' }, { name: 'after' }],
  ['the mapping, whole', { mapping: { c: '3' } }, { mapping: { c: '3' } }],
  ['the mapping to none', { mapping: {} }, { mapping: {} }],
  ['the properties, whole', { properties: { y: { w: 1 } } }, { properties: { y: { w: 1 } } }],
  ['the properties to none', { properties: {} }, { properties: {} }],
  ['the properties away', { properties: null }, { properties: null }],
  [
    'all of them',
    { name: 'n', mapping: { m: '' }, properties: { p: [] } },
    { name: 'n', mapping: { m: '' }, properties: { p: [] } },
  ],
  ['the name and the mapping', { name: 'n', mapping: { m: '1' } }, { name: 'n', mapping: { m: '1' } }],
])('changes %s and leaves the rest', async (_, change, changed) => {
  const { tokenHash, teamId, createdAt } = await stored();
  expect((await update(change)).status).toBe(200);
  expect(await stored()).toMatchObject({ tokenHash, teamId, createdAt, providedId: id, ...original, ...changed });
});

test('properties: null stores no JSON null', async () => {
  await update({ properties: null });
  const { rows } = await gateway.database.pool.query(
    'select properties is null as empty from user_group where provided_id = $1',
    [id],
  );
  expect(rows).toEqual([{ empty: true }]);
});

test('get-or-create responds with what was updated', async () => {
  await update({ name: 'after', properties: { x: 2 } });
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: id } });
  expect(json.user_group).toMatchObject({ name: 'after', properties: { x: 2 } });
});

test.each([
  ['a name that is null', { name: null, properties: {} }, ['name']],
  ['a mapping that is null', { mapping: null, name: 'after' }, ['mapping']],
  ['a name that is a number', { name: 7, properties: {} }, ['name']],
  ['a mapping that is wrong next to a good name', { name: 'after', mapping: { a: 1 } }, ['mapping', 'a']],
  ['properties that are wrong next to a good name', { name: 'after', properties: [] }, ['properties']],
  ['a name that is wrong next to good properties', { name: '', properties: {} }, ['name']],
])('refuses %s, and changes nothing', async (_, change, path) => {
  const before = await stored();
  const reply = await update(change);
  expect(reply.status).toBe(400);
  expect(reply.json.issues[0].path.slice(0, path.length)).toEqual(path);
  expect(await stored()).toEqual(before);
});

test('the members of an update are not read from the query', async () => {
  const reply = await gateway.send('PUT', `/api/user?user_group_id=${encodeURIComponent(id)}&name=after`);
  expect(reply.json.code).toBe('BODY_REQUIRED');
});
