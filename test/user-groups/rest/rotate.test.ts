import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { forgedToken, isTokenOf } from '../../support/tokens.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const create = async (user_group_id: string) =>
  (await gateway.send('GET', '/api/user', { body: { user_group_id, name: 'N', properties: { p: 1 } } })).json.user_group;
const rotate = (current_token: unknown, path = '/api/user') => gateway.send('POST', path, { body: { current_token } });

test.each(['/api/user', '/api/user/'])('POST %s responds with exactly these members', async (path) => {
  const { token, team_id } = await create(`to rotate at ${path}`);
  const reply = await rotate(token, path);
  expect(reply.status).toBe(200);
  expect(reply.json).toEqual({
    success: 1,
    user_group: {
      team_id,
      token: expect.stringMatching(isTokenOf('userGroup')),
      name: 'N',
      provided_id: `to rotate at ${path}`,
      api_environment_tag: 'Testing',
    },
  });
  expect(reply.json.user_group.token).not.toBe(token);
});

test('the new token is the stored one, and the rest of the group is as before', async () => {
  const before = await create('rotated');
  const { json } = await rotate(before.token);
  expect(await create('rotated')).toEqual({ ...before, token: json.user_group.token });
});

test('the old token stops at once', async () => {
  const { token } = await create('stops at once');
  await rotate(token);
  const reply = await rotate(token);
  expect([reply.status, reply.json.code]).toEqual([404, 'NOT_FOUND']);
  const { json } = await gateway.graphql('query ($token: String) { userGroup(by: { token: $token }) { id } }', { token });
  expect(json.data).toEqual({ userGroup: null });
});

test.each([
  ['that no group has', 'some-token-that-nobody-has'],
  ['with a wrong checksum', forgedToken('userGroup')],
  ['cut off', forgedToken('userGroup').slice(0, 5)],
])('a token %s is not found', async (_, token) => {
  const reply = await rotate(token);
  expect([reply.status, reply.json.code]).toEqual([404, 'NOT_FOUND']);
});

test.each([
  ['left out', undefined],
  ['null', null],
  ['a number', 12_345],
  ['a list', ['x'.repeat(20)]],
  ['empty', ''],
  ['256 characters', 'x'.repeat(256)],
  ['with NUL', `${'x'.repeat(20)}\0`],
  ['with a lone surrogate', `${'x'.repeat(20)}\ud800`],
])('a current_token that is %s is refused by its name', async (_, token) => {
  const reply = await rotate(token);
  expect(reply.status).toBe(400);
  expect(reply.json).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['current_token'] }] });
});

test('with grace_seconds the old token identifies the group for a while, and cannot be rotated again', async () => {
  const { token, team_id: teamId } = await create('graceful');
  const reply = await gateway.send('POST', '/api/user', { body: { current_token: token, grace_seconds: 60 } });
  expect(reply.status).toBe(200);
  const { json } = await gateway.graphql('query ($token: String) { userGroup(by: { token: $token }) { teamId } }', { token });
  expect(json.data).toEqual({ userGroup: { teamId } });
  expect((await rotate(token)).status).toBe(404);
});

test.each([-1, 604_801, 1.5, '60', true])('grace_seconds of %j are refused, and the token stays', async (grace_seconds) => {
  const { token } = await create(`grace ${grace_seconds}`);
  const reply = await gateway.send('POST', '/api/user', { body: { current_token: token, grace_seconds } });
  expect([reply.status, reply.json.issues[0].path]).toEqual([400, ['grace_seconds']]);
  expect((await rotate(token)).status).toBe(200);
});
