import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Reply, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

let last = 0;
let group: { readonly id: string; token: string };
/** A group of version 3. */
beforeEach(async () => {
  last += 1;
  const id = `group ${last}`;
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: id } });
  group = { id, token: json.user_group.token };
  await put({ name: 'second' });
  await put({ name: 'third' });
});

const conditional = (ifMatch: string | undefined, key?: string) => ({
  headers: { ...(ifMatch !== undefined && { 'if-match': ifMatch }), ...(key !== undefined && { 'idempotency-key': key }) },
});
const put = (change: object, ifMatch?: string, key?: string) =>
  gateway.send('PUT', '/api/user', { body: { user_group_id: group.id, ...change }, ...conditional(ifMatch, key) });
const rotate = (ifMatch: string) =>
  gateway.send('POST', '/api/user', { body: { current_token: group.token }, ...conditional(ifMatch) });
const get = async () => (await gateway.send('GET', '/api/user', { body: { user_group_id: group.id } })).json.user_group;
const seen = ({ status, headers, json }: Reply) => [status, json.code, headers.get('etag')];

test('the ETag of every response with a group is its version, which every change increments', async () => {
  const body = { user_group_id: 'tagged' };
  const created = await gateway.send('GET', '/api/user', { body });
  const requests = [
    () => gateway.send('QUERY', '/api/user', { body }),
    () => gateway.send('PUT', '/api/user', { body: { ...body, name: 'changed' } }),
    () => gateway.send('PUT', '/api/user', { body }),
    () => gateway.send('POST', '/api/user', { body: { current_token: created.json.user_group.token } }),
    () => gateway.send('GET', '/api/user?user_group_id=tagged'),
  ];
  const tags = [created.headers.get('etag')];
  for (const send of requests) tags.push((await send()).headers.get('etag'));
  expect(tags).toEqual(['"1"', '"1"', '"2"', '"2"', '"3"', '"3"']);
});

const changed = [200, undefined, '"4"'];
const mismatch = [412, 'VERSION_MISMATCH', '"3"'];
const malformed = [400, 'INVALID_INPUT', null];

test.each([
  ['PUT', '"3"', changed],
  ['PUT', '*', changed],
  ...['"2"', '"4"', '"zzz"', '""', '"03"', '"3.0"', '"2147483648"', '"3,4"'].map((tag) => ['PUT', tag, mismatch] as const),
  ...['W/"3"', '"2", "3"', '3', "'3'", '"3', '*, "3"', ''].map((tag) => ['PUT', tag, malformed] as const),
  ['POST', '"3"', changed],
  ['POST', '"2"', mismatch],
  ['POST', '3', malformed],
] as const)('%s of a group of version 3 with If-Match: %j', async (method, ifMatch, expected) => {
  const before = await get();
  expect(seen(await (method === 'PUT' ? put({ name: 'fourth' }, ifMatch) : rotate(ifMatch)))).toEqual(expected);
  if (expected !== changed) expect(await get()).toEqual(before);
});

test('get-or-create ignores If-Match, and If-None-Match is not considered', async () => {
  for (const headers of [{ 'if-match': '"9"' }, { 'if-none-match': '"3"' }])
    expect((await gateway.send('QUERY', '/api/user', { body: { user_group_id: group.id }, headers })).status).toBe(200);
});

test('with an Idempotency-Key, a success is sent again whatever the version is by then, and only for the same If-Match', async () => {
  const first = await put({ name: 'kept' }, '"3"', 'kept');
  const rejected = await put({ name: 'lost' }, '"3"', 'lost');
  await put({ name: 'later' });
  const again = await put({ name: 'kept' }, '"3"', 'kept');
  expect([...seen(again), again.text, again.headers.get('idempotency-replayed')]).toEqual([...seen(first), first.text, 'true']);
  // A refusal is evaluated again: the ETag is the version by then.
  const rejectedAgain = await put({ name: 'lost' }, '"3"', 'lost');
  expect([seen(rejectedAgain), rejectedAgain.headers.get('idempotency-replayed')]).toEqual([
    [412, 'VERSION_MISMATCH', '"5"'],
    null,
  ]);
  expect([seen(first), seen(rejected)]).toEqual([changed, [412, 'VERSION_MISMATCH', '"4"']]);
  for (const ifMatch of ['"5"', '*', undefined]) {
    expect(seen(await put({ name: 'kept' }, ifMatch, 'kept'))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', null]);
  }
  expect((await get()).name).toBe('later');
});
