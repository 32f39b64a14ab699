import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeApiToken } from '../../src/domain/api-tokens.ts';
import { issueToken } from '../../src/domain/tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Another character in the place of the last. */
const mistyped = (token: string) => `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;

const headers: Record<string, () => string | Promise<string>> = {
  empty: () => '',
  'the scheme alone': () => 'Token',
  'the scheme and a space': () => 'Token ',
  'no scheme': () => gateway.token,
  'the scheme Bearer': () => `Bearer ${gateway.token}`,
  'the scheme Basic': () => `Basic ${Buffer.from(`x:${gateway.token}`).toString('base64')}`,
  'two credentials': () => `Token ${gateway.token} ${gateway.token}`,
  'quotation marks': () => `Token "${gateway.token}"`,
  'a wrong checksum': () => `Token ${mistyped(gateway.token)}`,
  'a token cut off': () => `Token ${gateway.token.slice(0, -1)}`,
  'a token in other case': () => `Token ${gateway.token.toUpperCase()}`,
  'a token with extra characters at its end': () => `Token ${gateway.token}0`,
  'a token that is unknown': () => `Token ${issueToken('apiToken')}`,
  'a user group token': async () => {
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'viewer' } });
    return `Token ${json.user_group.token}`;
  },
  'a token that is revoked': async () => {
    const { secret, id } = await gateway.issue();
    await revokeApiToken(gateway.database.prisma, id);
    return `Token ${secret}`;
  },
  'a token that has expired': async () => {
    const { secret } = await gateway.issue({ expiresAt: new Date(Date.now() - 1) });
    return `Token ${secret}`;
  },
};

test.each(Object.entries(headers))('an Authorization header with %s', async (_, header) => {
  const options = { token: null, headers: { authorization: await header() }, body: { user_group_id: 'rejected' } };
  const reply = await gateway.send('GET', '/api/user', options);
  expect([reply.status, reply.json.code, reply.json.success]).toEqual([401, 'UNAUTHENTICATED', 0]);
  expect(reply.headers.get('www-authenticate')).toBe('Token');
  expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'rejected' } })).toBe(0);
});

test.each([
  ['a wrong checksum', /mistyped or truncated: its checksum does not match/],
  ['a token in other case', /The API token is unknown/],
  ['quotation marks', /The API token is unknown/],
  ['a token that is unknown', /The API token is unknown/],
  ['a user group token', /is a user group token, not a credential/],
  ['a token that is revoked', /is revoked/],
  ['a token that has expired', /has expired/],
])('the response to %s says why', async (name, reason) => {
  const authorization = (await headers[name]?.()) ?? '';
  const reply = await gateway.send('GET', '/api/user', { token: null, headers: { authorization }, body: { user_group_id: 'x' } });
  expect(reply.json.detail).toMatch(reason);
});

test('a mistyped API token is rejected without a query', async () => {
  const clients = await Promise.all(Array.from({ length: gateway.database.poolSize }, () => gateway.database.pool.connect()));
  try {
    const reply = await gateway.send('GET', '/api/user', { token: mistyped(gateway.token), body: { user_group_id: 'x' } });
    expect(reply.status).toBe(401); // though no connection is free
  } finally {
    for (const client of clients) client.release();
  }
});

test.each(['GET', 'QUERY', 'PUT', 'POST'])('%s without an Authorization header', async (method) => {
  const body = { user_group_id: 'rejected', current_token: 'x'.repeat(20) };
  const reply = await gateway.send(method, '/api/user', { token: null, body });
  expect([reply.status, reply.json.code]).toEqual([401, 'UNAUTHENTICATED']);
  expect(reply.headers.get('www-authenticate')).toBe('Token');
});

test('the response does not repeat the credential', async () => {
  const secret = mistyped(gateway.token);
  const reply = await gateway.send('GET', '/api/user', { token: secret, body: { user_group_id: 'x' } });
  expect(reply.text).not.toContain(secret);
});

test.each(['token', 'TOKEN'])('the scheme may be written %s', async (scheme) => {
  const options = { token: null, headers: { authorization: `${scheme} ${gateway.token}` }, body: { user_group_id: 'accepted' } };
  expect((await gateway.send('GET', '/api/user', options)).status).toBe(200);
});

test('a token that expires later is accepted', async () => {
  const { secret } = await gateway.issue({ expiresAt: new Date(Date.now() + 3_600_000) });
  expect((await gateway.send('GET', '/api/user', { token: secret, body: { user_group_id: 'accepted' } })).status).toBe(200);
});

test('a token that is revoked between two requests is rejected by the second', async () => {
  const { secret, id } = await gateway.issue();
  const send = () => gateway.send('GET', '/api/user', { token: secret, body: { user_group_id: 'accepted' } });
  expect((await send()).status).toBe(200);
  await revokeApiToken(gateway.database.prisma, id);
  expect((await send()).status).toBe(401);
});

test('stores only the SHA-256 of a token', async () => {
  const { secret, id } = await gateway.issue();
  const row = await gateway.database.prisma.apiToken.findUniqueOrThrow({ where: { id } });
  expect(Buffer.from(row.secretHash)).toEqual(createHash('sha256').update(secret).digest());
  expect(JSON.stringify(row)).not.toContain(secret.slice(4, 20));
});
