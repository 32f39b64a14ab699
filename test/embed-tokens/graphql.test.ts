import fc from 'fast-check';
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

test('every token has another id', async () => {
  const { teamId } = await store({});
  const tokens = await Promise.all(Array.from({ length: 20 }, () => createToken(gateway, signer, { by: { teamId } })));
  expect(new Set(tokens.map(({ token }) => partsOf(token).claims['jti'])).size).toBe(20);
});

test('claims follow from the group and the input, and introspection returns the same group', async () => {
  const admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((value) => !value.includes('\0'));
  // Stored without the gateway, which would reject this name.
  const propertyName = fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((value) => value !== '__proto__');
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        name: text,
        environmentTag: fc.constantFrom('Customer', 'Testing', null),
        properties: fc.option(fc.dictionary(propertyName, fc.string({ unit: 'grapheme-ascii' }), { maxKeys: 10 })),
        audience: fc.option(text, { nil: undefined }),
        expiresInSeconds: fc.option(fc.integer({ min: 60, max: 86_400 }), { nil: undefined }),
        includeProperties: fc.option(fc.boolean(), { nil: undefined }),
        by: fc.constantFrom('teamId', 'token', 'providedId'),
      }),
      async ({ name, environmentTag, properties, by, ...input }) => {
        const group = await store({ providedId: `${name} ${created}`, environmentTag, properties });
        const { token } = await createToken(gateway, admin, { by: { [by]: group[by as 'teamId'] }, ...input });
        const { payload } = await verifyRemotely(gateway.url, token);
        const { iat = 0 } = payload;
        const identity = { sub: group.providedId, team_id: group.teamId, env: environmentTag };
        const aud = input.audience !== undefined && { aud: input.audience };
        const exp = iat + (input.expiresInSeconds ?? 900);
        expect(payload).toEqual({
          ...identity,
          ...aud,
          iat,
          nbf: iat,
          exp,
          jti: expect.any(String),
          generation: 0,
          iss: `${gateway.url}/${environmentTag === null ? 'untagged' : environmentTag.toLowerCase()}`,
          ...(input.includeProperties && { properties }),
        });
        const { json } = await introspectToken(gateway, admin, token);
        expect(json).toEqual({ active: true, ...identity, name: 'Group', exp, ...aud });
      },
    ),
    { numRuns: 20 },
  );
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

  test('has room for the longest id, audience and issuer', async () => {
    const longest = '\u0001'.repeat(255);
    const other = await startGateway(gateway.database, { introspection: true, publicUrl: `https://${'h'.repeat(240)}.test` });
    await store({ providedId: longest });
    const input = { by: { providedId: longest }, audience: longest, expiresInSeconds: 86_400 };
    const { token } = await createToken(other, signer, input);
    expect((await introspectToken(other, resolver, token)).json).toMatchObject({ active: true, sub: longest, aud: longest });
    await other.close();
  });
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
    ['an unknown number', { by: { teamId: 2_000_000_000 } }, { code: 'NOT_FOUND' }],
    ['an unknown token', { by: { token: 'a token of no group' } }, { code: 'NOT_FOUND' }],
    ['an id that is not of a group', { by: { id: 'nonsense' } }, { code: 'NOT_FOUND' }],
    ['a group of another environment', { by: { providedId: 'a customer' } }, { code: 'NOT_FOUND' }],
    [
      'too short',
      { by, expiresInSeconds: 59 },
      { issues: [{ path: ['expiresInSeconds'], message: expect.stringContaining('60 to 86400') }] },
    ],
    [
      'too long',
      { by, expiresInSeconds: 86_401 },
      { issues: [{ path: ['expiresInSeconds'], message: expect.stringContaining('60 to 86400') }] },
    ],
    [
      'an empty audience',
      { by, audience: '' },
      { issues: [{ path: ['audience'], message: expect.stringContaining('1 to 255') }] },
    ],
    [
      'a long audience',
      { by, audience: 'a'.repeat(256) },
      { issues: [{ path: ['audience'], message: expect.stringContaining('1 to 255') }] },
    ],
    ['a NUL', { by, audience: 'a\0' }, { issues: [{ path: ['audience'], message: expect.stringContaining('NUL') }] }],
    ['a viewer without an id', { by, viewer: { id: '' } }, { issues: [{ path: ['viewer', 'id'] }] }],
    ['a long name of a viewer', { by, viewer: { id: 'a', name: 'x'.repeat(256) } }, { issues: [{ path: ['viewer', 'name'] }] }],
    ['attributes that are a list', { by, viewer: { id: 'a', attributes: [] } }, { issues: [{ path: ['viewer', 'attributes'] }] }],
    ['51 resources', { by, resources: Array(51).fill('a') }, { issues: [{ path: ['resources'] }] }],
    ['an empty resource', { by, resources: ['a', ''] }, { issues: [{ path: ['resources', '1'] }] }],
    ['an origin with a path', { by, origin: 'https://a.example/b' }, { issues: [{ path: ['origin'] }] }],
    ['an origin with a default port', { by, origin: 'https://a.example:443' }, { issues: [{ path: ['origin'] }] }],
    ['an origin in upper case', { by, origin: 'HTTPS://A.example' }, { issues: [{ path: ['origin'] }] }],
    ['an origin whose host is no host', { by, origin: 'https://[::1' }, { issues: [{ path: ['origin'] }] }],
    ['an origin without a scheme', { by, origin: 'a.example' }, { issues: [{ path: ['origin'] }] }],
    ['an empty id', { by: { providedId: '' } }, { issues: [{ path: ['by', 'providedId'], message: expect.any(String) }] }],
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

  test('null means the default', async () => {
    const input = {
      by,
      audience: null,
      expiresInSeconds: null,
      includeProperties: null,
      viewer: null,
      resources: null,
      origin: null,
    };
    const { claims } = partsOf((await createToken(gateway, signer, input)).token);
    expect(claims).not.toHaveProperty('aud');
    expect(claims).not.toHaveProperty('properties');
    for (const claim of ['viewer', 'viewer_generation', 'resources', 'origin']) expect(claims).not.toHaveProperty(claim);
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(900);
  });
});
