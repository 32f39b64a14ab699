import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RequestOptions, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

let last = 0;
let id: string;
let token: string;
/** A group of version 1. */
beforeEach(async () => {
  last += 1;
  id = `group ${last}`;
  token = (await gateway.send('GET', '/api/user', { body: { user_group_id: id } })).json.user_group.token;
});

const remove = (options: RequestOptions = {}, query = '') =>
  gateway.send('DELETE', `/api/user${query}`, query ? options : { body: { user_group_id: id }, ...options });
const exists = async () => (await gateway.database.prisma.userGroup.count({ where: { providedId: id } })) > 0;

test.each<[string, () => ReturnType<typeof remove>]>([
  ['the id in the body', () => remove()],
  ['the id in the query', () => remove({}, `?user_group_id=${encodeURIComponent(id)}`)],
  ['its version', () => remove({ headers: { 'if-match': '"1"' } })],
])('with %s the group is deleted, and its token identifies nothing', async (_, send) => {
  const { status, json, headers } = await send();
  expect([status, json, headers.get('etag')]).toEqual([200, { success: 1, deleted: true }, null]);
  expect(await exists()).toBe(false);
  expect((await gateway.graphql(`{ userGroup(by: { token: "${token}" }) { name } }`)).json).toEqual({
    data: { userGroup: null },
  });
  expect((await send()).json).toMatchObject({ success: 0, status: 404, code: 'NOT_FOUND' });
});

test.each<[string, () => ReturnType<typeof remove>, number, Readonly<Record<string, unknown>>]>([
  ['another version', () => remove({ headers: { 'if-match': '"2"' } }), 412, { code: 'VERSION_MISMATCH' }],
  [
    'no body',
    () => gateway.send('DELETE', '/api/user'),
    400,
    { code: 'BODY_REQUIRED', detail: expect.stringContaining('DELETE') },
  ],
  ['no id', () => remove({ body: {} }), 400, { issues: [{ path: ['user_group_id'] }] }],
  ['an id that is a number', () => remove({ body: { user_group_id: 5 } }), 400, { issues: [{ path: ['user_group_id'] }] }],
  ['another id in the query', () => remove({ body: { user_group_id: id } }, '?user_group_id=x'), 400, { code: 'INVALID_INPUT' }],
  ['two ids', () => remove({}, '?user_group_id=a&user_group_id=b'), 400, { issues: [{ path: ['user_group_id'] }] }],
])('with %s nothing is deleted', async (_, send, status, expected) => {
  const reply = await send();
  expect(reply.status).toBe(status);
  expect(reply.json).toMatchObject({ success: 0, ...expected });
  expect(await exists()).toBe(true);
});

test('with an Idempotency-Key the group is deleted once, and another request with the key is refused, by its query too', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const query = `?user_group_id=${encodeURIComponent(id)}`;
  expect((await remove({ headers }, query)).json).toEqual({ success: 1, deleted: true });
  await gateway.send('GET', '/api/user', { body: { user_group_id: id } });
  const again = await remove({ headers }, query);
  expect([again.json, again.headers.get('idempotency-replayed')]).toEqual([{ success: 1, deleted: true }, 'true']);
  expect(await exists()).toBe(true);
  expect((await remove({ headers }, '?user_group_id=another')).json).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
});
