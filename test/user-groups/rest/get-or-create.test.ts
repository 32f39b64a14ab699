import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Reply, startGateway, type TestGateway } from '../../support/gateway.ts';
import { isTokenOf } from '../../support/tokens.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const inQuery = (members: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(members).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );

/** Every way to the same operation, by its name. */
const ways: Record<string, (body: Record<string, unknown>) => Promise<Reply>> = {
  'GET with a body': (body) => gateway.send('GET', '/api/user', { body }),
  'GET with a body and a trailing slash': (body) => gateway.send('GET', '/api/user/', { body }),
  'QUERY with a body': (body) => gateway.send('QUERY', '/api/user', { body }),
  'QUERY with a body and a trailing slash': (body) => gateway.send('QUERY', '/api/user/', { body }),
  'GET with query parameters': (body) => gateway.send('GET', `/api/user?${inQuery(body)}`),
  'GET with query parameters and a trailing slash': (body) => gateway.send('GET', `/api/user/?${inQuery(body)}`),
};

describe.each(Object.entries(ways))('%s', (way, send) => {
  test('creates a group the first time and returns the same one the second', async () => {
    const user_group_id = `acme & söhne, ${way}`;
    const first = await send({ user_group_id, name: 'ACME', properties: { plan: 'gold' } });
    expect(first.status).toBe(200);
    expect(first.json).toEqual({
      success: 1,
      new_user_group: true,
      user_group: {
        team_id: expect.any(Number),
        token: expect.stringMatching(isTokenOf('userGroup')),
        name: 'ACME',
        provided_id: user_group_id,
        properties: { plan: 'gold' },
      },
    });
    const second = await send({ user_group_id, name: 'other', properties: {} });
    expect(second.status).toBe(200);
    expect(second.json).toEqual({ ...first.json, new_user_group: false });
  });

  test('stores the mapping', async () => {
    const user_group_id = `mapped, ${way}`;
    await send({ user_group_id, mapping: { sales: 'warehouse', hr: '17' } });
    expect((await stored(user_group_id))?.mapping).toEqual({ sales: 'warehouse', hr: '17' });
  });
});

const stored = (providedId: string) => gateway.database.prisma.userGroup.findFirst({ where: { providedId } });

test('a response is JSON, with its content type', async () => {
  const reply = await gateway.send('GET', '/api/user', { body: { user_group_id: 'typed' } });
  expect(reply.headers.get('content-type')).toBe('application/json');
});

test('the name defaults to the id, and properties to null', async () => {
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'nameless' } });
  expect(json.user_group).toMatchObject({ name: 'nameless', properties: null });
});

test('null counts as omitted for name, mapping and properties', async () => {
  const body = { user_group_id: 'nulls', name: null, mapping: null, properties: null };
  const { json } = await gateway.send('GET', '/api/user', { body });
  expect(json.user_group).toMatchObject({ name: 'nulls', properties: null });
  expect((await stored('nulls'))?.mapping).toEqual({});
});

test('never changes an existing group, regardless of the fields sent', async () => {
  const body = { user_group_id: 'kept', name: 'first', mapping: { a: '1' }, properties: { p: 1 } };
  await gateway.send('GET', '/api/user', { body });
  const before = await stored('kept');
  await gateway.send('GET', '/api/user', {
    body: { user_group_id: 'kept', name: 'second', mapping: { b: '2' }, properties: null },
  });
  expect(await stored('kept')).toEqual(before);
});

test('rejects an invalid name for an existing group, too', async () => {
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'strict' } });
  const { status } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'strict', name: 5 } });
  expect(status).toBe(400);
});

test('ids that differ in case, spaces or normal form are different groups', async () => {
  const ids = ['Ångström', 'ångström', 'Ångström'.normalize('NFD'), ' Ångström', 'Ångström '];
  const teamIds = new Set<number>();
  for (const user_group_id of ids) {
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id } });
    expect(json.user_group.provided_id).toBe(user_group_id);
    teamIds.add(json.user_group.team_id);
  }
  expect(teamIds.size).toBe(ids.length);
});
