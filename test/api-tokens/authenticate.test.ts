import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueToken } from '../../src/tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const body = { query: '{ caller { name } }' };
const send = (authorization: string) => gateway.send('POST', '/graphql', { token: null, body, headers: { authorization } });

test.each(['Token', 'Bearer', 'token', 'bearer', 'BEARER', 'Bearer   '])('accepts the scheme “%s”', async (scheme) => {
  expect((await send(`${scheme} ${gateway.token}`)).json).toEqual({ data: { caller: { name: 'test' } } });
});

test.each(['Token', 'Bearer', 'Bearer ', 'bearer   '])('takes “%s” without a token for no credential', async (authorization) => {
  const reply = await send(authorization);
  expect(reply.json.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  expect(reply.json.errors[0].message).toContain('No API token was sent');
});

test.each([
  ['another scheme', () => `Basic ${gateway.token}`],
  ['a scheme that begins like one', () => `Bearers ${gateway.token}`],
  ['no space', () => `Bearer${gateway.token}`],
  ['no scheme', () => gateway.token],
  ['two tokens', () => `Bearer ${gateway.token} ${gateway.token}`],
])('rejects %s with 401 and a message with both schemes', async (_, authorization) => {
  const { status, headers, json } = await send(authorization());
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Token']);
  expect(json.errors[0].message).toContain('"Token <API_TOKEN>" or "Bearer <API_TOKEN>"');
});

test.each(['Token', 'Bearer'])('rejects an unknown API token with the scheme %s', async (scheme) => {
  const { status, json } = await send(`${scheme} ${issueToken('apiToken')}`);
  expect([status, json.errors[0].message]).toEqual([401, 'The API token is unknown.']);
});
