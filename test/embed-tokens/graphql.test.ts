import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embedTokenLimits } from '../../src/embed-tokens/rules.ts';
import { createToken, introspectToken, partsOf, verifyRemotely } from '../support/embed-tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { storedToken } from '../support/keys.ts';

let gateway: TestGateway;
let signer: string;
let resolver: string;
beforeAll(async () => {
  gateway = await startGateway();
  signer = (await gateway.issue({ scopes: ['embed:sign'] })).secret;
  resolver = (await gateway.issue({ scopes: ['groups:resolve'] })).secret;
});
afterAll(() => gateway.close());

let created = 0;

/** Stores a group. */
async function store(values: {
  providedId?: string;
  environmentTag?: 'Customer' | 'Testing' | null;
  properties?: object | null;
}) {
  const { properties, ...given } = values;
  created += 1;
  const token = `an imported token, ${created}`;
  const defaults = { providedId: `group ${created}`, environmentTag: 'Testing' as const, name: 'Group' };
  const data = { ...defaults, ...given, ...(properties && { properties }), ...storedToken(token) };
  return { ...(await gateway.database.prisma.userGroup.create({ data })), token };
}

/** The database's clock, in seconds. */
const databaseSeconds = async (): Promise<number> =>
  Number((await gateway.database.pool.query('select extract(epoch from now()) as now')).rows[0].now);

test('a token has exactly the documented header and claims, and a client verifies it with the published keys', async () => {
  const { teamId } = await store({ providedId: 'acme' });
  const before = Math.floor(await databaseSeconds());
  const { token, expiresAt } = await createToken(gateway, signer, { by: { providedId: 'acme' } });
  const after = await databaseSeconds();
  const issuer = `${gateway.url}/testing`;
  const { payload, header } = await verifyRemotely(gateway.url, token, { issuer });
  expect(header).toEqual({ alg: 'EdDSA', kid: expect.stringMatching(/^[\w-]{43}$/), typ: 'JWT' });
  expect(payload).toEqual({
    iss: issuer,
    sub: 'acme',
    team_id: teamId,
    env: 'Testing',
    generation: 0,
    iat: expect.any(Number),
    nbf: payload.iat,
    exp: (payload.iat ?? 0) + 900,
    jti: expect.stringMatching(/^[\da-f-]{36}$/),
  });
  expect(payload.iat).toBeGreaterThanOrEqual(before);
  expect(payload.iat).toBeLessThanOrEqual(after);
  expect(expiresAt).toBe(new Date((payload.exp ?? 0) * 1_000).toISOString());
});

describe('a token of up to 6,144 bytes', () => {
  const { maxEmbedTokenBytes } = embedTokenLimits;
  const create = async (length: number) => {
    const { teamId } = await store({ properties: { a: 'x'.repeat(length) } });
    return createToken(gateway, signer, { by: { teamId }, includeProperties: true });
  };

  test('is created, and introspection accepts it; a larger one is INVALID_INPUT with its size', async () => {
    const { token: small } = await create(1);
    // Three bytes of the claims take four of the token.
    const spare = Math.floor(((maxEmbedTokenBytes - small.length) * 3) / 4);
    const { token } = await create(spare - 8);
    expect(token.length).toBeGreaterThan(maxEmbedTokenBytes - 32);
    expect((await introspectToken(gateway, resolver, token)).json).toMatchObject({ active: true });
    const { code, issues = [] } = await create(spare + 8);
    expect([code, issues.map(({ path }) => path)]).toEqual(['INVALID_INPUT', [[]]]);
    const [bytes = 0] = /\d+/.exec(issues[0]?.message ?? '')?.map(Number) ?? [];
    expect(bytes).toBeGreaterThan(maxEmbedTokenBytes);
    expect(bytes).toBeLessThan(maxEmbedTokenBytes + 32);
  });
});

test('the claims of an environment, of an audience and of properties, by each selector', async () => {
  const admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
  for (const [environmentTag, by, issuer] of [
    ['Customer', 'teamId', 'customer'],
    ['Testing', 'token', 'testing'],
    [null, 'providedId', 'untagged'],
  ] as const) {
    const group = await store({ environmentTag, properties: { plan: 'gold' } });
    const input = { by: { [by]: group[by] }, audience: 'dashboards', expiresInSeconds: 60, includeProperties: true };
    const { token } = await createToken(gateway, admin, input);
    const { payload } = await verifyRemotely(gateway.url, token);
    const identity = { sub: group.providedId, team_id: group.teamId, env: environmentTag, aud: 'dashboards' };
    const iss = `${gateway.url}/${issuer}`;
    expect(payload).toMatchObject({ ...identity, iss, properties: { plan: 'gold' }, exp: (payload.iat ?? 0) + 60 });
    const { json } = await introspectToken(gateway, admin, token);
    expect(json).toEqual({ active: true, ...identity, name: 'Group', exp: payload.exp });
  }
});

test('viewer, resources and origin are claims, and introspection returns them', async () => {
  const { teamId } = await store({});
  const viewer = { id: 'u-17', name: 'Ada', attributes: { region: ['eu'], 'a.b': null } };
  const context = { resources: ['sales', 'stock'], origin: 'https://app.example.com:8443' };
  const { token } = await createToken(gateway, signer, { by: { teamId }, viewer: { ...viewer, email: null }, ...context });
  expect(partsOf(token).claims).toMatchObject({ viewer, generation: 0, viewer_generation: 0, ...context });
  expect(partsOf(token).claims['viewer']).toEqual(viewer);
  expect((await introspectToken(gateway, resolver, token)).json).toMatchObject({ active: true, viewer, ...context });
});

describe('a request that is rejected', () => {
  const by = { providedId: 'acme' };
  test.each<[string, object, object]>([
    ['an unknown id', { by: { providedId: 'nobody' } }, { code: 'NOT_FOUND' }],
    ['a group of another environment', { by: { providedId: 'a customer' } }, { code: 'NOT_FOUND' }],
    [
      'too short',
      { by, expiresInSeconds: 59 },
      { issues: [{ path: ['expiresInSeconds'], message: expect.stringContaining('60 to 86400') }] },
    ],
    [
      'an empty audience',
      { by, audience: '' },
      { issues: [{ path: ['audience'], message: expect.stringContaining('1 to 255') }] },
    ],
    ['a NUL', { by, audience: 'a\0' }, { issues: [{ path: ['audience'], message: expect.stringContaining('NUL') }] }],
    ['a viewer without an id', { by, viewer: { id: '' } }, { issues: [{ path: ['viewer', 'id'] }] }],
    ['attributes that are a list', { by, viewer: { id: 'a', attributes: [] } }, { issues: [{ path: ['viewer', 'attributes'] }] }],
    ['51 resources', { by, resources: Array(51).fill('a') }, { issues: [{ path: ['resources'] }] }],
    ['an origin with a path', { by, origin: 'https://a.example/b' }, { issues: [{ path: ['origin'] }] }],
    [
      'several mistakes',
      { by: { token: '' }, audience: '', expiresInSeconds: 0 },
      { issues: [{ path: ['by', 'token'] }, { path: ['audience'] }, { path: ['expiresInSeconds'] }] },
    ],
  ])('%s', async (_, input, expected) => {
    await gateway.database.prisma.userGroup.upsert({
      where: { teamId: 1_999_999_999 },
      create: {
        teamId: 1_999_999_999,
        providedId: 'a customer',
        environmentTag: 'Customer',
        name: 'x',
        ...storedToken('of a customer, stored'),
      },
      update: {},
    });
    expect(await createToken(gateway, signer, input)).toMatchObject(expected);
  });
});
