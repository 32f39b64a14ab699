import { createHash } from 'node:crypto';
import { encodeGlobalID } from '@pothos/plugin-relay';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopeNames } from '../../src/scopes.ts';
import { untilBlocked } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { apiTokenId } from '../support/node-id.ts';

let gateway: TestGateway;
let second: TestGateway;
let admin: string;

beforeAll(async () => {
  gateway = await startGateway();
  second = await startGateway(gateway.database);
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
afterAll(async () => {
  await second.close();
  await gateway.close();
});

const fields = 'id number name environmentTag scopes createdAt expiresAt lastUsedAt revokedAt enabled rateLimit';
const failure = '__typename ... on Error { code message } ... on InvalidInput { issues { path message } }';
const documents = {
  list: `query ($first: Int, $after: String, $last: Int, $before: String, $includeRevoked: Boolean) {
    apiTokens(first: $first, after: $after, last: $last, before: $before, includeRevoked: $includeRevoked) {
      totalCount nodes { id number } edges { cursor node { ${fields} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
  create: `mutation ($input: CreateApiTokenInput!) { result: createApiToken(input: $input) {
    ... on CreateApiTokenPayload { secret apiToken { ${fields} } } ${failure} } }`,
  rotate: `mutation ($input: RotateApiTokenInput!) { result: rotateApiToken(input: $input) {
    ... on RotateApiTokenPayload { secret apiToken { ${fields} } } ${failure} } }`,
  update: `mutation ($input: UpdateApiTokenInput!) { result: updateApiToken(input: $input) {
    ... on UpdateApiTokenPayload { apiToken { ${fields} } } ${failure} } }`,
  revoke: `mutation ($input: RevokeApiTokenInput!) { result: revokeApiToken(input: $input) {
    ... on RevokeApiTokenPayload { apiToken { ${fields} } } ${failure} } }`,
};

/** The result of a mutation by an admin; an API token may be named by its number. */
async function mutate(operation: 'create' | 'rotate' | 'update' | 'revoke', given: Record<string, unknown>, of = gateway) {
  const input = typeof given['id'] === 'number' ? { ...given, id: apiTokenId(given['id']) } : given;
  const { json } = await of.graphql(documents[operation], { input }, { token: admin });
  expect(json.errors).toBeUndefined();
  return json.data.result;
}

/** The page of an admin, or the extensions of its error. */
async function list(variables: Record<string, unknown> = {}) {
  const { json } = await gateway.graphql(documents.list, variables, { token: admin });
  return json.errors ? json.errors[0].extensions : json.data.apiTokens;
}

const idsOf = (page: { nodes: { number: number }[] }): number[] => page.nodes.map(({ number }) => number);

/** The status with which each gateway responds to the holder of a secret. */
const statuses = (token: string) =>
  Promise.all(
    [gateway, second].map(async (of) => (await of.send('GET', '/api/user', { token, body: { user_group_id: 'acme' } })).status),
  );
const accepted = [200, 200];
const rejected = [401, 401];

const hashOf = (secret: string) => createHash('sha256').update(secret).digest();
const groupScopes = ['GROUPS_READ', 'GROUPS_WRITE'];

describe('createApiToken', () => {
  test('returns the API token and its secret, which works on every instance, and stores only its SHA-256', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const input = { name: 'backend “A”', environmentTag: 'CUSTOMER', scopes: [...groupScopes, 'GROUPS_READ'], expiresAt };
    const { secret, apiToken } = await mutate('create', input);
    expect(secret).toMatch(/^ugk_[0-9A-Za-z]{36}$/);
    expect(apiToken).toMatchObject({
      name: input.name,
      environmentTag: 'CUSTOMER',
      scopes: groupScopes,
      expiresAt,
      revokedAt: null,
    });
    expect(await statuses(secret)).toEqual(accepted);
    const row = await gateway.database.prisma.apiToken.findUniqueOrThrow({ where: { id: apiToken.number } });
    expect(row.scopes).toEqual(['groups:read', 'groups:write']);
    expect(Buffer.from(row.secretHash)).toEqual(hashOf(secret));
    expect(JSON.stringify(row)).not.toContain(secret.slice(4, 20));
  });

  test.each<[string, object, string | null]>([
    ['the environment of the caller by default', {}, 'TESTING'],
    ['untagged for null', { environmentTag: null }, null],
    ['another one', { environmentTag: 'CUSTOMER' }, 'CUSTOMER'],
  ])('has access to %s, and never expires by default', async (_, environment, environmentTag) => {
    const { secret: token } = await gateway.issue({ environment: 'Testing', scopes: ['admin'] });
    const input = { name: 'x', scopes: ['GROUPS_READ'], ...environment };
    const { json } = await gateway.graphql(documents.create, { input }, { token });
    expect(json.data.result.apiToken).toMatchObject({ environmentTag, expiresAt: null });
  });

  const valid = { name: 'rejected', environmentTag: null, scopes: ['GROUPS_READ'] };
  test.each<[string, object, (string | undefined)[][], RegExp]>([
    ['an empty name', { name: '' }, [['name']], /1 to 255/],
    ['a name with NUL', { name: 'a\0' }, [['name']], /NUL/],
    ['no scope', { scopes: [] }, [['scopes']], /at least one of groups:read/],
    ['a rate limit of 0', { rateLimit: 0 }, [['rateLimit']], /1 to 1000000/],
    ['the past', { expiresAt: new Date(Date.now() - 1_000).toISOString() }, [['expiresAt']], /in the future/],
    [
      'a duration beside an end',
      { expiresInSeconds: 60, expiresAt: '2999-01-01T00:00:00Z' },
      [['expiresInSeconds']],
      /must not be given together with expiresAt/,
    ],
    ['several at once', { name: '', scopes: [], expiresAt: '2020-01-01T00:00:00Z' }, [['name'], ['scopes'], ['expiresAt']], /./],
  ])('rejects %s as INVALID_INPUT with paths, and creates nothing', async (_, change, paths, message) => {
    const before = await gateway.database.prisma.apiToken.count();
    const { code, issues } = await mutate('create', { ...valid, ...change });
    expect(code).toBe('INVALID_INPUT');
    expect(issues.map(({ path }: { path: string[] }) => path)).toEqual(paths);
    expect(issues[0].message).toMatch(message);
    expect(await gateway.database.prisma.apiToken.count()).toBe(before);
  });

  test('takes each scope by its name in the schema, and no other', async () => {
    const names = scopeNames.map((scope) => scope.replace(':', '_').toUpperCase());
    const { secret, apiToken } = await mutate('create', { ...valid, scopes: names });
    expect(apiToken.scopes).toEqual(names);
    const { json } = await gateway.graphql('{ caller { scopes } }', {}, { token: secret });
    expect(json.data.caller.scopes).toEqual(names);
    for (const scope of ['groups:read', 'ALL']) {
      const { json } = await gateway.graphql(documents.create, { input: { ...valid, scopes: [scope] } }, { token: admin });
      expect(json.errors[0]).toMatchObject({ message: expect.stringContaining('Scope'), extensions: { code: 'INVALID_INPUT' } });
    }
  });
});

describe('rotateApiToken', () => {
  test.each([
    ['without an overlap', {}],
    ['with an overlap of 0', { overlapSeconds: 0 }],
  ])('%s: the old secret is rejected from the next request on, on every instance', async (_, options) => {
    const { secret: old, id } = await gateway.issue({ environment: 'Customer' });
    expect(await statuses(old)).toEqual(accepted);
    const { secret, apiToken } = await mutate('rotate', { id, ...options }, second);
    expect(apiToken).toMatchObject({
      id: apiTokenId(id),
      number: id,
      name: 'test',
      environmentTag: 'CUSTOMER',
      scopes: groupScopes,
    });
    expect([await statuses(old), await statuses(secret)]).toEqual([rejected, accepted]);
    const { json } = await gateway.send('GET', '/api/user', { token: old, body: { user_group_id: 'acme' } });
    expect(json.detail).toContain('was replaced');
  });

  test('with an overlap the old secret works until its end, as the same API token, and no longer', async () => {
    const { secret: old, id } = await gateway.issue();
    const before = Date.now();
    const { secret } = await mutate('rotate', { id, overlapSeconds: 600 });
    for (const token of [old, secret]) {
      expect((await second.graphql('{ caller { number } }', {}, { token })).json.data.caller.number).toBe(id);
    }
    const where = { secretHash: hashOf(old) };
    const { expiresAt, apiTokenId } = await gateway.database.prisma.retiredSecret.findUniqueOrThrow({ where });
    expect(apiTokenId).toBe(id);
    expect(expiresAt.getTime()).toBeGreaterThanOrEqual(before + 600_000 - 1);
    expect(expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 600_000);
    await gateway.database.prisma.retiredSecret.update({ where, data: { expiresAt: new Date(Date.now() - 1) } });
    expect([await statuses(old), await statuses(secret)]).toEqual([rejected, accepted]);
  });

  test('with an overlap leaves the ends of earlier secrets as they are; without one it ends them', async () => {
    const { secret: first, id } = await gateway.issue();
    const endOf = async (secret: string) =>
      (await gateway.database.prisma.retiredSecret.findUniqueOrThrow({ where: { secretHash: hashOf(secret) } })).expiresAt;
    const { secret: next } = await mutate('rotate', { id, overlapSeconds: 604_800 });
    const end = await endOf(first);
    const { secret: last } = await mutate('rotate', { id, overlapSeconds: 60 });
    expect(await endOf(first)).toEqual(end);
    for (const secret of [first, next, last]) expect(await statuses(secret)).toEqual(accepted);
    const { secret: current } = await mutate('rotate', { id });
    for (const secret of [first, next, last]) expect(await statuses(secret)).toEqual(rejected);
    expect(await statuses(current)).toEqual(accepted);
  });

  test.each([-1, 604_801])('rejects an overlap of %d seconds, and replaces nothing', async (overlapSeconds) => {
    const { secret, id } = await gateway.issue();
    expect(await mutate('rotate', { id, overlapSeconds })).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['overlapSeconds'], message: expect.stringContaining('0 to 604800') }],
    });
    expect(await statuses(secret)).toEqual(accepted);
  });

  test('of an API token that is revoked or has expired is NOT_FOUND with the reason', async () => {
    const revoked = await gateway.issue();
    await mutate('revoke', { id: revoked.id });
    expect(await mutate('rotate', { id: revoked.id })).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('revoked'),
    });
    const expired = await gateway.issue({ expiresAt: new Date(Date.now() - 1) });
    expect(await mutate('rotate', { id: expired.id })).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('expired'),
    });
  });

  test('of one secret twice at once: exactly one succeeds, the other is NOT_FOUND and leaves nothing behind', async () => {
    const { secret: old, id } = await gateway.issue();
    const holder = await gateway.database.pool.connect();
    await holder.query('begin');
    await holder.query('select from api_token where id = $1 for update', [id]);
    const rotations = [gateway, second].map((of) => mutate('rotate', { id, overlapSeconds: 600 }, of));
    await untilBlocked(gateway.database, 2);
    await holder.query('rollback');
    holder.release();
    const results = await Promise.all(rotations);
    const winners = results.filter(({ secret }) => secret !== undefined);
    expect(winners).toHaveLength(1);
    expect(results.filter(({ code }) => code === 'NOT_FOUND').map(({ message }) => message)).toEqual([
      expect.stringContaining('at the same time'),
    ]);
    expect([await statuses(old), await statuses(winners[0].secret)]).toEqual([accepted, accepted]);
    expect(await gateway.database.prisma.retiredSecret.count({ where: { apiTokenId: id } })).toBe(1);
  });

  test('of 20 from two instances at once, whatever wins, one secret is accepted in the end', async () => {
    const { secret: old, id } = await gateway.issue();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => mutate('rotate', { id }, index % 2 === 0 ? gateway : second)),
    );
    const secrets = [old, ...results.flatMap(({ secret }) => secret ?? [])];
    expect(secrets.length).toBeGreaterThan(1);
    const each = await Promise.all(secrets.map(async (secret) => (await statuses(secret))[0]));
    expect(each.filter((status) => status === 200)).toHaveLength(1);
    expect(each.filter((status) => status === 401)).toHaveLength(secrets.length - 1);
  });
});

describe('revokeApiToken', () => {
  test('rejects every secret of the API token from the next request on, on every instance', async () => {
    const { secret: old, id } = await gateway.issue();
    const { secret } = await mutate('rotate', { id, overlapSeconds: 600 });
    expect([await statuses(old), await statuses(secret)]).toEqual([accepted, accepted]);
    const { apiToken } = await mutate('revoke', { id }, second);
    expect(apiToken).toMatchObject({ number: id, revokedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect([await statuses(old), await statuses(secret)]).toEqual([rejected, rejected]);
  });

  test('again changes nothing', async () => {
    const { id } = await gateway.issue();
    const { apiToken } = await mutate('revoke', { id });
    expect((await mutate('revoke', { id })).apiToken.revokedAt).toBe(apiToken.revokedAt);
  });

  test('of the API token in use: this request succeeds, the next one is rejected', async () => {
    const { secret: token, id } = await gateway.issue({ scopes: ['admin'] });
    const revoke = async () => (await gateway.graphql(documents.revoke, { input: { id: apiTokenId(id) } }, { token })).json;
    expect((await revoke()).data.result.apiToken.number).toBe(id);
    expect((await revoke()).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });
});

describe('updateApiToken', () => {
  test('changes what is given and nothing else, and null clears the rate limit', async () => {
    const { apiToken } = await mutate('create', { name: 'before', scopes: ['GROUPS_READ'], rateLimit: 5 });
    expect(apiToken).toMatchObject({ enabled: true, rateLimit: 5 });
    const { number: id } = apiToken;
    const steps: [object, object][] = [
      [{ name: 'after' }, { name: 'after' }],
      [{ rateLimit: 1_000_000 }, { rateLimit: 1_000_000 }],
      [
        { enabled: false, rateLimit: null },
        { enabled: false, rateLimit: null },
      ],
      [{}, {}],
    ];
    let expected = apiToken;
    for (const [given, change] of steps) {
      expected = { ...expected, ...change };
      expect((await mutate('update', { id, ...given })).apiToken).toEqual(expected);
    }
  });

  test('one that is not enabled is rejected with each of its secrets, on every instance, until it is enabled again', async () => {
    const { secret: old, id } = await gateway.issue();
    const { secret } = await mutate('rotate', { id, overlapSeconds: 600 });
    const both = async () => [await statuses(old), await statuses(secret)];
    expect(await both()).toEqual([accepted, accepted]);
    await mutate('update', { id, enabled: false }, second);
    expect(await both()).toEqual([rejected, rejected]);
    const { json } = await gateway.send('GET', '/api/user', { token: secret, body: { user_group_id: 'acme' } });
    expect(json.detail).toContain('is disabled');
    await mutate('update', { id, enabled: true });
    expect(await both()).toEqual([accepted, accepted]);
  });

  test.each<[string, object, string]>([
    ['an empty name', { name: '' }, 'name'],
    ['a name with a line break', { name: 'a\nb' }, 'name'],
    ['a rate limit of 0', { rateLimit: 0 }, 'rateLimit'],
    ['a rate limit above a million', { rateLimit: 1_000_001 }, 'rateLimit'],
    ['null as the name', { name: null }, 'name'],
    ['null for enabled', { enabled: null }, 'enabled'],
  ])('rejects %s as INVALID_INPUT, and changes nothing', async (_, change, path) => {
    const { id } = await gateway.issue();
    const stored = () => gateway.database.prisma.apiToken.findUnique({ where: { id } });
    const before = await stored();
    const result = await mutate('update', { id, enabled: false, ...change });
    expect(result).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: [path] }] });
    expect(await stored()).toEqual(before);
  });

  test('of a revoked one is NOT_FOUND', async () => {
    const { id } = await gateway.issue();
    await mutate('revoke', { id });
    expect(await mutate('update', { id, name: 'x' })).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('revoked'),
    });
  });
});

describe.each(['rotate', 'update', 'revoke'] as const)('%s of an id', (operation) => {
  test.each([999_999_999, 2_147_483_647])('that no API token has (%i) is NOT_FOUND', async (id) => {
    expect(await mutate(operation, { id })).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining(String(id)) });
  });

  const numbers = ['', '0', '01', '-1', '2147483648', '1e3'];
  test.each(['', '1', encodeGlobalID('UserGroup', 1), ...numbers.map((number) => encodeGlobalID('ApiToken', number))])(
    'that is not one of an API token is INVALID_INPUT (%j)',
    async (id) => {
      expect(await mutate(operation, { id })).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['id'] }] });
    },
  );
});

describe('an API token as a node', () => {
  const query = `query ($id: ID!) { node(id: $id) { __typename ... on ApiToken { ${fields} } } nodes(ids: [$id]) { id } }`;
  const ask = async (id: string, token: string) => (await gateway.graphql(query, { id }, { token })).json;

  test('is found by its ID, of every environment, revoked ones included', async () => {
    const { id } = await gateway.issue({ environment: 'Customer' });
    const { apiToken } = await mutate('revoke', { id });
    const node = { __typename: 'ApiToken', ...apiToken };
    expect(await ask(apiToken.id, admin)).toEqual({ data: { node, nodes: [{ id: apiToken.id }] } });
  });

  test.each(['x', '0', '2147483647', '2147483648'])('is null for ApiToken:%s', async (number) => {
    expect(await ask(encodeGlobalID('ApiToken', number), admin)).toEqual({ data: { node: null, nodes: [null] } });
  });
});

describe('apiTokens', () => {
  /** All that are not revoked, the newest first. */
  const stored = async (where: object = { revokedAt: null }) =>
    (await gateway.database.prisma.apiToken.findMany({ where, orderBy: { id: 'desc' } })).map(({ id }) => id);

  beforeAll(async () => {
    for (let count = 0; count < 25; count += 1) await gateway.issue({ environment: count % 2 === 0 ? 'Customer' : null });
    await mutate('revoke', { id: (await gateway.issue()).id });
    await gateway.issue({ expiresAt: new Date(Date.now() - 1) });
  });

  test('lists the newest 20 of every environment, expired ones included and revoked ones not, and counts all', async () => {
    const [page, ids] = [await list(), await stored()];
    expect(idsOf(page)).toEqual(ids.slice(0, 20));
    expect(page.edges.map(({ node }: { node: { number: number } }) => node.number)).toEqual(ids.slice(0, 20));
    expect(page.totalCount).toBe(ids.length);
    expect(page.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false, endCursor: page.edges[19].cursor });
    const revoked = await list({ includeRevoked: true });
    expect(revoked.totalCount).toBe(await gateway.database.prisma.apiToken.count());
    expect(revoked.totalCount).toBeGreaterThan(ids.length);
  });
});
