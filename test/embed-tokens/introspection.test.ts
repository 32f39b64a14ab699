import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSigningKeys } from '../../src/embed-tokens/signing-keys.ts';
import { issueToken } from '../../src/tokens.ts';
import { createToken, introspectToken, partsOf, sendForm } from '../support/embed-tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { storedToken } from '../support/keys.ts';
import { contextOn } from '../support/queries.ts';

let gateway: TestGateway;
/** A second one on the same database, which signs nothing. */
let other: TestGateway;
const apiTokens: Record<string, string> = { unknown: issueToken('apiToken') };
let resolver: string;
let admin: string;

beforeAll(async () => {
  gateway = await startGateway();
  other = await startGateway(gateway.database, { introspection: true, publicUrl: gateway.url });
  for (const scope of ['admin', 'groups:resolve', 'groups:write'] as const) {
    apiTokens[scope] = (await gateway.issue({ scopes: [scope] })).secret;
  }
  apiTokens['other environment'] = (await gateway.issue({ environment: 'Customer', scopes: ['groups:read'] })).secret;
  apiTokens['untagged'] = (await gateway.issue({ environment: null, scopes: ['groups:read'] })).secret;
  resolver = apiTokens['groups:resolve'] as string;
  admin = apiTokens['admin'] as string;
});
afterAll(async () => {
  await other.close();
  await gateway.close();
});

const inactive = { active: false };
let created = 0;

/** Creates a group of the environment Testing, and an embed token of it. */
async function createGroup(input: object = {}, providedId = `group ${++created}`) {
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: providedId, name: 'Group' } });
  const { team_id: teamId, token } = json.user_group;
  const { token: embedToken } = await createToken(gateway, admin, { by: { teamId }, ...input });
  const response = { active: true, sub: providedId, team_id: teamId, env: 'Testing', name: 'Group' };
  return { providedId, teamId: teamId as number, token: token as string, embedToken, response };
}

/** The responses of every gateway, which must be the same. */
async function introspectEverywhere(token: string, apiToken: string | null = resolver): Promise<unknown> {
  const [first, second] = await Promise.all([gateway, other].map((each) => introspectToken(each, apiToken, token)));
  expect(second?.text).toBe(first?.text);
  expect([first?.status, first?.headers.get('cache-control')]).toEqual([200, 'no-store']);
  return first?.json;
}

/** Changes a group by a mutation, which must succeed. */
async function change(name: string, input: object): Promise<void> {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const document = `mutation ($input: ${type}Input!) { result: ${name}(input: $input) { __typename } }`;
  const { json } = await gateway.graphql(document, { input }, { token: admin });
  expect(json).toEqual({ data: { result: { __typename: `${type}Payload` } } });
}

describe('a token that identifies a group', () => {
  test('the current token', async () => {
    const { token, response } = await createGroup();
    expect(await introspectEverywhere(token)).toEqual(response);
  });

  test('a token in its grace period, with its end', async () => {
    const { token, response, teamId } = await createGroup();
    const mutation = `mutation ($input: RotateUserGroupTokenInput!) { rotateUserGroupToken(input: $input) {
      ... on RotateUserGroupTokenPayload { previousTokenExpiresAt } } }`;
    const { json } = await gateway.graphql(mutation, { input: { currentToken: token, graceSeconds: 600 } });
    const exp = Math.floor(Date.parse(json.data.rotateUserGroupToken.previousTokenExpiresAt) / 1_000);
    expect(await introspectEverywhere(token)).toEqual({ ...response, exp });
    await gateway.database.prisma.retiredToken.updateMany({ where: { teamId }, data: { expiresAt: new Date() } });
    expect(await introspectEverywhere(token)).toEqual(inactive);
  });

  test('the token of an imported group', async () => {
    const token = 'eyJub25l.token.eyJhbGci'; // in the form of a JWT, by chance
    const { teamId } = await gateway.database.prisma.userGroup.create({
      data: { providedId: 'imported', name: 'Imported', environmentTag: 'Testing', ...storedToken(token) },
    });
    const expected = { active: true, sub: 'imported', team_id: teamId, env: 'Testing', name: 'Imported' };
    expect(await introspectEverywhere(token)).toEqual(expected);
  });

  test('an embed token, with its end and its audience', async () => {
    const { embedToken, response } = await createGroup({ audience: 'dashboards', expiresInSeconds: 60 });
    const { exp } = partsOf(embedToken).claims;
    expect(await introspectEverywhere(embedToken)).toEqual({ ...response, exp, aud: 'dashboards' });
  });

  test('the name is the present one, as everything that is not the identity', async () => {
    const { embedToken, token, response, teamId } = await createGroup();
    await gateway.database.prisma.userGroup.update({ where: { teamId }, data: { name: 'Renamed' } });
    expect(await introspectEverywhere(token)).toEqual({ ...response, name: 'Renamed' });
    expect(await introspectEverywhere(embedToken)).toMatchObject({ name: 'Renamed' });
  });
});

describe('a token is inactive on every instance as soon as', () => {
  test('its group is deleted, and stays so when a group with the same id is created', async () => {
    const { token, embedToken, teamId, providedId } = await createGroup();
    await change('deleteUserGroup', { by: { teamId } });
    expect([await introspectEverywhere(token), await introspectEverywhere(embedToken)]).toEqual([inactive, inactive]);
    const again = await createGroup({}, providedId);
    expect([await introspectEverywhere(token), await introspectEverywhere(embedToken)]).toEqual([inactive, inactive]);
    expect(await introspectEverywhere(again.embedToken)).toMatchObject(again.response);
  });

  test('its group is suspended, with one in its grace period, and active again once it is resumed', async () => {
    const { token, embedToken, teamId } = await createGroup();
    const rotate = `mutation { rotateUserGroupToken(input: { currentToken: "${token}", graceSeconds: 600 }) {
      ... on RotateUserGroupTokenPayload { userGroup { token } } } }`;
    const current = (await gateway.graphql(rotate)).json.data.rotateUserGroupToken.userGroup.token;
    const all = async () => {
      const answers = await Promise.all([token, current, embedToken].map((each) => introspectEverywhere(each)));
      return answers.map((answer) => JSON.stringify(answer) === JSON.stringify(inactive));
    };
    expect(await all()).toEqual([false, false, false]);
    await change('suspendUserGroup', { by: { teamId } });
    expect(await all()).toEqual([true, true, true]);
    await change('resumeUserGroup', { by: { teamId } });
    expect(await all()).toEqual([false, false, false]);
  });

  test('it is rotated; embed tokens stay', async () => {
    const { token, embedToken, response } = await createGroup();
    await gateway.send('POST', '/api/user', { body: { current_token: token } });
    expect(await introspectEverywhere(token)).toEqual(inactive);
    expect(await introspectEverywhere(embedToken)).toMatchObject(response);
  });

  test.each(['Customer', null] as const)(
    'its group gets the environment %s, for an embed token; the new ones have its issuer',
    async (environmentTag) => {
      const { token, embedToken, teamId } = await createGroup();
      await change('setUserGroupEnvironment', { by: { teamId }, environmentTag: environmentTag && 'CUSTOMER' });
      expect(await introspectEverywhere(embedToken, admin)).toEqual(inactive);
      expect(await introspectEverywhere(token, admin)).toMatchObject({ active: true, env: environmentTag });
      const { token: renewed } = await createToken(gateway, admin, { by: { teamId } });
      expect(await introspectEverywhere(renewed, admin)).toMatchObject({ active: true, env: environmentTag });
      expect(partsOf(renewed).claims['iss']).toBe(`${gateway.url}/${environmentTag === null ? 'untagged' : 'customer'}`);
    },
  );

  test('its group gets another id, for an embed token', async () => {
    const { embedToken, teamId } = await createGroup();
    await gateway.database.prisma.userGroup.update({ where: { teamId }, data: { providedId: `renamed ${teamId}` } });
    expect(await introspectEverywhere(embedToken)).toEqual(inactive);
  });
});

/** The alphabet of base64url, in the order of its values. */
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const encode = (part: object | string): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

/** Signs with EdDSA whatever it is. */
function signed(header: object | string, claims: object | string, key: KeyObject): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}

describe('a forged or changed embed token is inactive', () => {
  const foreign = generateKeyPairSync('ed25519').privateKey;
  let own: KeyObject;
  let genuine: Awaited<ReturnType<typeof createGroup>>;
  let header: Record<string, unknown>;
  let claims: Record<string, unknown>;
  let publicKey: string;
  let signature: string;

  beforeAll(async () => {
    genuine = await createGroup({ audience: 'dashboards' });
    ({ header, claims } = partsOf(genuine.embedToken));
    signature = genuine.embedToken.split('.')[2] ?? '';
    const keys = await readSigningKeys(contextOn(gateway.database));
    own = keys.signing().privateKey;
    publicKey = (await gateway.send('GET', '/.well-known/jwks.json', { token: null })).json.keys[0].x;
  });

  /** A token that differs in its claims, signed with the gateway's own key. */
  const withClaims = (changed: object) => signed(header, { ...claims, ...changed }, own);
  const withHeader = (changed: object, key = own) => signed({ ...header, ...changed }, claims, key);
  const hmac = (changed: object, secret: string | Buffer) => {
    const text = `${encode({ ...header, ...changed })}.${encode(claims)}`;
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const seconds = () => Number(claims['iat']);

  test('the same, rebuilt without a change, is active', async () => {
    expect(await introspectEverywhere(withClaims({}))).toMatchObject(genuine.response);
    expect(await introspectEverywhere(withClaims({ nbf: seconds() - 5, exp: seconds() + 86_400 }))).toMatchObject(
      genuine.response,
    );
  });

  const forgeries: Record<string, () => string> = {
    'another key': () => signed(header, claims, foreign),
    'another key whose id is unknown': () => withHeader({ kid: 'A'.repeat(43) }, foreign),
    'another key in its header': () => withHeader({ jwk: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, kid: undefined }, foreign),
    'an unknown key id': () => withHeader({ kid: 'A'.repeat(43) }),
    'the key id of an object’s member': () => withHeader({ kid: 'constructor' }),
    'a key id that is not text': () => withHeader({ kid: 5 }),
    'no key id': () => withHeader({ kid: undefined }),
    'alg none without a signature': () => `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`,
    'alg none with the signature': () => `${encode({ ...header, alg: 'none' })}.${encode(claims)}.${signature}`,
    'alg None': () => withHeader({ alg: 'None' }),
    'HS256 with the public key in base64url as its secret': () => hmac({ alg: 'HS256' }, publicKey),
    'HS256 with the bytes of the public key as its secret': () => hmac({ alg: 'HS256' }, Buffer.from(publicKey, 'base64url')),
    ES256: () => withHeader({ alg: 'ES256' }),
    'no alg': () => withHeader({ alg: undefined }),
    'a typ that is none of a JWT': () => withHeader({ typ: 'at+jwt' }),
    'no typ': () => withHeader({ typ: undefined }),
    'a critical header that is not known': () => withHeader({ crit: ['x'], x: 1 }),
    'a payload that is not encoded': () => withHeader({ crit: ['b64'], b64: false }),
    'a changed claim and the old signature': () => `${encode(header)}.${encode({ ...claims, team_id: 1 })}.${signature}`,
    'a changed signature': () => `${genuine.embedToken.slice(0, -2)}${genuine.embedToken.endsWith('AA') ? 'BB' : 'AA'}`,
    'another spelling of the signature, whose last character has two bits of it': () => {
      const last = genuine.embedToken.slice(-1);
      const other = base64url[base64url.indexOf(last) ^ 1] ?? '';
      return genuine.embedToken.slice(0, -1) + other;
    },
    'an empty signature': () => genuine.embedToken.slice(0, genuine.embedToken.lastIndexOf('.') + 1),
    'two parts': () => genuine.embedToken.slice(0, genuine.embedToken.lastIndexOf('.')),
    'four parts': () => `${genuine.embedToken}.x`,
    'five parts': () => `${genuine.embedToken}.x.y`,
    padding: () => `${genuine.embedToken}==`,
    'spaces around': () => ` ${genuine.embedToken} `,
    'a line break': () => `${genuine.embedToken}\n`,
    'an expired one': () => withClaims({ iat: seconds() - 1_000, nbf: seconds() - 1_000, exp: seconds() - 1 }),
    'one that is not valid yet': () => withClaims({ nbf: seconds() + 300 }),
    'no end': () => withClaims({ exp: undefined }),
    'an end that is not a number': () => withClaims({ exp: 'tomorrow' }),
    'no beginning': () => withClaims({ nbf: undefined }),
    'another issuer': () => withClaims({ iss: 'https://elsewhere.example/testing' }),
    'the issuer of another environment': () => withClaims({ iss: `${gateway.url}/customer` }),
    'another environment': () => withClaims({ env: 'Customer' }),
    'another environment with its issuer': () => withClaims({ env: 'Customer', iss: `${gateway.url}/customer` }),
    'another group': () => withClaims({ team_id: genuine.teamId + 1_000_000 }),
    'another id': () => withClaims({ sub: 'somebody else' }),
    'claims that are a list': () => signed(header, [], own),
    'claims that are no JSON': () => signed(header, '{', own),
    'claims that are no UTF-8': () => `${encode(header)}.${Buffer.from([0xff, 0xfe]).toString('base64url')}.${signature}`,
    'a header that is null': () => signed('null', claims, own),
    'a header that is no JSON': () => signed('x', claims, own),
    'a token that is too long': () => withClaims({ padding: 'x'.repeat(75_000) }),
    'brackets a hundred thousand deep': () => `${encode(header)}.${encode('['.repeat(60_000))}.${signature}`,
    'an API token': () => admin,
    'an unknown token': () => issueToken('userGroup'),
    'a token with a wrong checksum': () => `${genuine.token.slice(0, -1)}${genuine.token.endsWith('0') ? '1' : '0'}`,
    'control characters': () => '\u0000\u0001'.repeat(20),
    'one character': () => 'x',
  };

  test.each(Object.keys(forgeries))('%s', async (name) => {
    const token = forgeries[name]?.() ?? '';
    expect(token).not.toBe(genuine.embedToken);
    expect(await introspectEverywhere(token)).toEqual(inactive);
  });

  test('whatever the text, the response is inactive', async () => {
    const part = fc.oneof(
      fc.base64String(),
      fc.json().map(encode),
      fc.constantFrom(encode(header), encode(claims), signature, ''),
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.tuple(part, part, part).map((parts) => parts.join('.')),
      fc
        .tuple(fc.dictionary(fc.constantFrom('alg', 'kid', 'typ', 'crit', 'b64'), fc.jsonValue()), fc.jsonValue())
        .map(([changed, payload]) => signed({ ...header, ...changed }, JSON.stringify(payload), own)),
    );
    await fc.assert(
      fc.asyncProperty(
        text.filter((token) => token !== genuine.embedToken && token.isWellFormed()),
        async (token) => {
          expect(await introspectEverywhere(token)).toEqual(inactive);
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);
});

describe('credentials', () => {
  // Each credential with a current token: test/contract/access.test.ts.
  test.each<[string, number, object]>([
    ['groups:resolve', 200, { active: true }],
    ['other environment', 200, inactive],
    ['untagged', 200, inactive],
    ['groups:write', 403, { code: 'FORBIDDEN', error: 'insufficient_scope' }],
    ['unknown', 401, { code: 'UNAUTHENTICATED', error: 'invalid_token', status: 401 }],
  ])('%s gets %i', async (name, expected, json) => {
    const { token, embedToken } = await createGroup();
    for (const text of [token, embedToken]) {
      const reply = await introspectToken(gateway, apiTokens[name] ?? null, text);
      expect([reply.status, reply.json]).toMatchObject([expected, json]);
      expect(reply.headers.get('cache-control')).toBe('no-store');
    }
  });

  test.each(['Bearer', 'Token'])('the scheme %s is accepted', async (scheme) => {
    const { token, response } = await createGroup();
    const headers = { authorization: `${scheme} ${resolver}` };
    expect((await sendForm(gateway, null, `token=${token}`, headers)).json).toEqual(response);
  });

  test.each(['access_token', 'client_secret'])('a credential in the form as %s is ignored', async (name) => {
    expect((await sendForm(gateway, null, `token=x&${name}=${resolver}`)).status).toBe(401);
  });

  test('a credential in the query string is ignored', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await gateway.send('POST', `/oauth2/introspect?access_token=${resolver}`, {
      token: null,
      headers,
      body: 'token=x',
    });
    expect(reply.status).toBe(401);
  });
});

describe('forms', () => {
  test.each<[string, string]>([
    ['a hint', 'token_type_hint=access_token&token=TOKEN'],
    ['a hint that means nothing', 'token=TOKEN&token_type_hint=nonsense'],
    ['a parameter that is not known', 'x=1&token=TOKEN'],
    ['percent-encoding', 'token=%75TOKEN'],
    ['empty parameters', '&&token=TOKEN&'],
  ])('with %s it is accepted', async (_, form) => {
    const { token, response } = await createGroup();
    const body = form.replace('%75TOKEN', `%75${token.slice(1)}`).replace('TOKEN', token);
    expect((await sendForm(gateway, resolver, body)).json).toEqual(response);
  });

  test.each<[string, number, string, string, Record<string, string>?]>([
    ['no body', 400, 'INVALID_INPUT', ''],
    ['no token', 400, 'INVALID_INPUT', 'token_type_hint=access_token'],
    ['an empty token', 400, 'INVALID_INPUT', 'token='],
    ['two tokens', 400, 'INVALID_INPUT', 'token=a&token=b'],
    ['the same token twice', 400, 'INVALID_INPUT', 'token=a&token=a'],
    ['two hints', 400, 'INVALID_INPUT', 'token=a&token_type_hint=b&token_type_hint=c'],
    ['seventeen parameters', 400, 'INVALID_INPUT', `token=a${'&'.repeat(16)}`],
    ['percent-encoded bytes that are not UTF-8', 400, 'INVALID_INPUT', 'token=%ff%fe'],
    ['half of an escape sequence', 400, 'INVALID_INPUT', 'token=a%2'],
    ['131,073 bytes', 413, 'PAYLOAD_TOO_LARGE', `token=${'a'.repeat(131_073 - 6)}`],
    ['JSON', 415, 'UNSUPPORTED_MEDIA_TYPE', '{"token":"a"}', { 'content-type': 'application/json' }],
    [
      'another charset',
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'token=a',
      { 'content-type': 'application/x-www-form-urlencoded; charset=latin1' },
    ],
    ['a content encoding', 415, 'UNSUPPORTED_MEDIA_TYPE', 'token=a', { 'content-encoding': 'gzip' }],
  ])('with %s it is rejected with %i', async (_, status, code, body, headers) => {
    const reply = await sendForm(gateway, resolver, body, headers);
    expect([reply.status, reply.json.code, reply.json.error]).toEqual([status, code, 'invalid_request']);
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });

  test('131,072 bytes are accepted', async () => {
    const { status, json } = await sendForm(gateway, resolver, `token=${'a'.repeat(131_072 - 6)}`);
    expect([status, json]).toEqual([200, inactive]);
  });

  test('GET is rejected', async () => {
    const { status, headers } = await gateway.send('GET', '/oauth2/introspect?token=x', { token: resolver });
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });
});
