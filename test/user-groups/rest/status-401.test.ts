import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeApiToken } from '../../../src/api-tokens/api-tokens.ts';
import { issueToken } from '../../../src/tokens.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { contextOn } from '../../support/queries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Another character in the place of the last. */
const mistyped = (token: string) => `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;

/** What is not one API token with the scheme `Token`. */
const format = /must be "Token <API_TOKEN>"/;
const mistake = /mistyped or truncated: its checksum does not match/;
const unknown = /The API token is unknown/;

/** `Authorization` headers, and what the response says of them. */
const headers: Record<string, [header: () => string | Promise<string>, reason: RegExp]> = {
  empty: [() => '', format],
  'the scheme alone': [() => 'Token', /No API token/],
  'the scheme and a space': [() => 'Token ', /No API token/],
  'no scheme': [() => gateway.token, format],
  'the scheme Bearer': [() => `Bearer ${gateway.token}`, format],
  'the scheme bearer': [() => `bearer ${gateway.token}`, format],
  'the scheme Basic': [() => `Basic ${Buffer.from(`x:${gateway.token}`).toString('base64')}`, format],
  'two credentials': [() => `Token ${gateway.token} ${gateway.token}`, format],
  'quotation marks': [() => `Token "${gateway.token}"`, /without quotes and without token=/],
  'token=': [() => `Token token=${gateway.token}`, /without quotes and without token=/],
  'token= and quotation marks': [() => `Token token="${gateway.token}"`, /without quotes and without token=/],
  'an embed token': [() => `Token eyJ${'x'.repeat(300)}`, /is an embed token, not a credential/],
  'the secret of a webhook': [() => `Token whsec_${'x'.repeat(32)}`, /is the secret of a webhook, not a credential/],
  'a wrong checksum': [() => `Token ${mistyped(gateway.token)}`, mistake],
  'a token cut off': [() => `Token ${gateway.token.slice(0, -1)}`, mistake],
  'a token in other case': [() => `Token ${gateway.token.toUpperCase()}`, unknown],
  'a token with extra characters at its end': [() => `Token ${gateway.token}0`, mistake],
  'a token that is unknown': [() => `Token ${issueToken('apiToken')}`, unknown],
  'a user group token': [
    async () => {
      const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'viewer' } });
      return `Token ${json.user_group.token}`;
    },
    /is a user group token, not a credential/,
  ],
  'a token that is revoked': [
    async () => {
      const { secret, id } = await gateway.issue();
      await revokeApiToken(contextOn(gateway.database), id);
      return `Token ${secret}`;
    },
    /is revoked/,
  ],
  'a token that has expired': [
    async () => `Token ${(await gateway.issue({ expiresAt: new Date(Date.now() - 1) })).secret}`,
    /has expired/,
  ],
};

test.each(Object.entries(headers))('an Authorization header with %s is rejected, and the response says why', async (_, each) => {
  const [header, reason] = each;
  const authorization = await header();
  for (const path of ['/api/user', '/api/user/']) {
    const options = { token: null, headers: { authorization }, body: { user_group_id: 'rejected' } };
    const reply = await gateway.send('GET', path, options);
    expect([reply.status, reply.json.code, reply.json.success]).toEqual([401, 'UNAUTHENTICATED', 0]);
    expect(reply.headers.get('www-authenticate')).toBe('Token');
    expect(reply.json.detail).toMatch(reason);
    expect(reply.text).not.toContain('Bearer');
    if (authorization.length > 20) expect(reply.text).not.toContain(authorization.slice(-20));
  }
  expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'rejected' } })).toBe(0);
});

test.each(['token', 'TOKEN'])('the scheme may be written %s', async (scheme) => {
  const options = { token: null, headers: { authorization: `${scheme} ${gateway.token}` }, body: { user_group_id: 'accepted' } };
  expect((await gateway.send('GET', '/api/user', options)).status).toBe(200);
});

test('a token that expires later is accepted', async () => {
  const { secret } = await gateway.issue({ expiresAt: new Date(Date.now() + 3_600_000) });
  expect((await gateway.send('GET', '/api/user', { token: secret, body: { user_group_id: 'accepted' } })).status).toBe(200);
});
