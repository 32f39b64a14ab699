import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
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

test('the current token and an embed token identify a group; a rotation ends the token alone', async () => {
  const { token, embedToken, response } = await createGroup({ audience: 'dashboards', expiresInSeconds: 60 });
  expect(await introspectEverywhere(token)).toEqual(response);
  const embedded = { ...response, exp: partsOf(embedToken).claims['exp'], aud: 'dashboards' };
  expect(await introspectEverywhere(embedToken)).toEqual(embedded);
  await gateway.send('POST', '/api/user', { body: { current_token: token } });
  expect([await introspectEverywhere(token), await introspectEverywhere(embedToken)]).toEqual([inactive, embedded]);
});

test('a token in its grace period does, with its end; not while its group is suspended, nor after the end', async () => {
  const { token, embedToken, response, teamId } = await createGroup();
  const mutation = `mutation ($input: RotateUserGroupTokenInput!) { rotateUserGroupToken(input: $input) {
    ... on RotateUserGroupTokenPayload { previousTokenExpiresAt userGroup { token } } } }`;
  const { json } = await gateway.graphql(mutation, { input: { currentToken: token, graceSeconds: 600 } });
  const { previousTokenExpiresAt, userGroup } = json.data.rotateUserGroupToken;
  const all = () => Promise.all([token, userGroup.token, embedToken].map((each) => introspectEverywhere(each)));
  const active = [{ ...response, exp: Math.floor(Date.parse(previousTokenExpiresAt) / 1_000) }, response];
  expect(await all()).toMatchObject([...active, response]);
  await change('suspendUserGroup', { by: { teamId } });
  expect(await all()).toEqual([inactive, inactive, inactive]);
  await change('resumeUserGroup', { by: { teamId } });
  expect(await all()).toMatchObject([...active, response]);
  await gateway.database.prisma.retiredToken.updateMany({ where: { teamId }, data: { expiresAt: new Date() } });
  expect(await introspectEverywhere(token)).toEqual(inactive);
});

test('the token of an imported group does, in the form of a JWT, too', async () => {
  const token = 'eyJub25l.token.eyJhbGci';
  const data = { providedId: 'imported', name: 'Imported', environmentTag: 'Testing', ...storedToken(token) } as const;
  const { teamId } = await gateway.database.prisma.userGroup.create({ data });
  const expected = { active: true, sub: 'imported', team_id: teamId, env: 'Testing', name: 'Imported' };
  expect(await introspectEverywhere(token)).toEqual(expected);
});

test('tokens of a deleted group are inactive, and stay so when a group with the same id is created', async () => {
  const { token, embedToken, teamId, providedId } = await createGroup();
  await change('deleteUserGroup', { by: { teamId } });
  expect([await introspectEverywhere(token), await introspectEverywhere(embedToken)]).toEqual([inactive, inactive]);
  const again = await createGroup({}, providedId);
  expect([await introspectEverywhere(token), await introspectEverywhere(embedToken)]).toEqual([inactive, inactive]);
  expect(await introspectEverywhere(again.embedToken)).toMatchObject(again.response);
});

test.each(['Customer', null] as const)('a group that gets the environment %s needs new embed tokens', async (environmentTag) => {
  const { token, embedToken, teamId } = await createGroup();
  await change('setUserGroupEnvironment', { by: { teamId }, environmentTag: environmentTag && 'CUSTOMER' });
  expect(await introspectEverywhere(embedToken, admin)).toEqual(inactive);
  const { token: renewed } = await createToken(gateway, admin, { by: { teamId } });
  for (const each of [token, renewed])
    expect(await introspectEverywhere(each, admin)).toMatchObject({ active: true, env: environmentTag });
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
    'another key in its header': () => withHeader({ jwk: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, kid: undefined }, foreign),
    'alg none without a signature': () => `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`,
    'HS256 with the public key in base64url as its secret': () => hmac({ alg: 'HS256' }, publicKey),
    'a critical header that is not known': () => withHeader({ crit: ['x'], x: 1 }),
    'a changed claim and the old signature': () => `${encode(header)}.${encode({ ...claims, team_id: 1 })}.${signature}`,
    'a changed signature': () => `${genuine.embedToken.slice(0, -2)}${genuine.embedToken.endsWith('AA') ? 'BB' : 'AA'}`,
    'another spelling of the signature, whose last character has two bits of it': () => {
      const last = genuine.embedToken.slice(-1);
      const other = base64url[base64url.indexOf(last) ^ 1] ?? '';
      return genuine.embedToken.slice(0, -1) + other;
    },
    'an expired one': () => withClaims({ iat: seconds() - 1_000, nbf: seconds() - 1_000, exp: seconds() - 1 }),
    'one that is not valid yet': () => withClaims({ nbf: seconds() + 300 }),
    'no end': () => withClaims({ exp: undefined }),
    'another issuer': () => withClaims({ iss: 'https://elsewhere.example/testing' }),
    'the issuer of another environment': () => withClaims({ iss: `${gateway.url}/customer` }),
    'another environment with its issuer': () => withClaims({ env: 'Customer', iss: `${gateway.url}/customer` }),
    'another group': () => withClaims({ team_id: genuine.teamId + 1_000_000 }),
    'another id': () => withClaims({ sub: 'somebody else' }),
    'brackets a hundred thousand deep': () => `${encode(header)}.${encode('['.repeat(60_000))}.${signature}`,
    'an API token': () => admin,
  };

  test.each(Object.entries(forgeries))('%s', async (_, forge) => {
    expect(forge()).not.toBe(genuine.embedToken);
    expect(await introspectEverywhere(forge())).toEqual(inactive);
  });
});

// Each credential with a current token: test/contract/access.test.ts.
test.each<[string, number, object]>([
  ['other environment', 200, inactive],
  ['untagged', 200, inactive],
  ['groups:write', 403, { code: 'FORBIDDEN', error: 'insufficient_scope' }],
  ['unknown', 401, { code: 'UNAUTHENTICATED', error: 'invalid_token', status: 401 }],
])('the credential %s gets %i', async (name, expected, json) => {
  const { token, embedToken } = await createGroup();
  for (const text of [token, embedToken]) {
    const reply = await introspectToken(gateway, apiTokens[name] ?? null, text);
    expect([reply.status, reply.json]).toMatchObject([expected, json]);
    expect(reply.headers.get('cache-control')).toBe('no-store');
  }
});

test('a credential in the form or the query string is ignored', async () => {
  expect((await sendForm(gateway, null, `token=x&access_token=${resolver}&client_secret=${resolver}`)).status).toBe(401);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const path = `/oauth2/introspect?access_token=${resolver}`;
  expect((await gateway.send('POST', path, { token: null, headers, body: 'token=x' })).status).toBe(401);
});

describe('forms', () => {
  test.each<[string, string]>([
    ['a parameter that is not known', 'x=1&token=TOKEN'],
    ['percent-encoding', 'token=%75TOKEN'],
  ])('with %s it is accepted', async (_, form) => {
    const { token, response } = await createGroup();
    const body = form.replace('%75TOKEN', `%75${token.slice(1)}`).replace('TOKEN', token);
    expect((await sendForm(gateway, resolver, body)).json).toEqual(response);
  });

  test.each<[string, number, string, string, Record<string, string>?]>([
    ['no token', 400, 'INVALID_INPUT', 'token_type_hint=access_token'],
    ['an empty token', 400, 'INVALID_INPUT', 'token='],
    ['the same token twice', 400, 'INVALID_INPUT', 'token=a&token=a'],
    ['seventeen parameters', 400, 'INVALID_INPUT', `token=a${'&'.repeat(16)}`],
    ['percent-encoded bytes that are not UTF-8', 400, 'INVALID_INPUT', 'token=%ff%fe'],
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
});
