import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { endProcesses, run, type ServeProcess, serve } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';
import { sendRequest } from '../support/request.ts';
import { isTokenOf, tokensOf } from '../support/tokens.ts';

let database: TestDatabase;
let gateway: ServeProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await serve({ DATABASE_URL: database.url });
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

const tokens = (...args: string[]) => run(['token', ...args], { DATABASE_URL: database.url });

async function issue(name: string): Promise<{ id: string; token: string }> {
  const options = { name, environmentTag: 'Testing', scopes: ['groups:read', 'groups:write'], expiresAt: null } as const;
  const { secret, apiToken } = await createApiToken(contextOn(database), options);
  return { id: String(apiToken.id), token: secret };
}

/** Who the running gateway takes the holder of a secret for; the code of an error if it does not accept it. */
async function caller(token: string) {
  const query = '{ caller { name environmentTag scopes expiresAt } }';
  const { json } = await sendRequest(gateway.url, 'POST', '/graphql', { token, body: { query } });
  return json.errors?.[0].extensions.code ?? json.data.caller;
}

test('token create --json prints one object with exactly the documented members; the running gateway accepts the token', async () => {
  const scopes = ['--scope', 'groups:read', '--scope', 'audit:read'];
  const args = ['create', '--environment', 'Customer', ...scopes, '--expires-in', '90d', '--json', '--name', 'backend “A”'];
  const { code, stdout, stderr } = await tokens(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const printed = JSON.parse(stdout);
  expect(printed).toEqual({
    id: expect.any(Number),
    token: expect.stringMatching(isTokenOf('apiToken')),
    name: 'backend “A”',
    environment: 'Customer',
    scopes: ['groups:read', 'audit:read'],
    expiresAt: expect.any(String),
  });
  expect(Math.round((Date.parse(printed.expiresAt) - Date.now()) / 86_400_000)).toBe(90);
  expect(await caller(printed.token)).toEqual({
    name: 'backend “A”',
    environmentTag: 'CUSTOMER',
    scopes: ['GROUPS_READ', 'AUDIT_READ'],
    expiresAt: printed.expiresAt,
  });
  const plain = await tokens('create', '--name=plain', '--environment=none');
  const [secret = '', ...others] = plain.stdout.match(tokensOf('apiToken')) ?? [];
  expect(others).toEqual([]);
  expect(await caller(secret)).toMatchObject({ environmentTag: null, scopes: ['GROUPS_READ', 'GROUPS_WRITE'], expiresAt: null });
});

test('token list prints every token and no secret, and no control characters of a name', async () => {
  const { id, token } = await issue('listed');
  const name = 'a\u001b[31m\n#1  b';
  const { secretHash } = await database.prisma.apiToken.update({ where: { id: Number(id) }, data: { name } });
  const { code, stdout, stderr } = await tokens('list');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`#${id}  a\ufffd[31m\ufffd#1  b  ·  Testing  ·  groups:read groups:write`);
  const json = (await tokens('list', '--json')).stdout;
  const listed = (JSON.parse(json) as { id: number }[]).find((each) => each.id === Number(id));
  expect(listed).toMatchObject({ name, environment: 'Testing', revokedAt: null });
  const hash = Buffer.from(secretHash);
  for (const secret of [token, hash.toString('hex'), hash.toString('base64')]) expect(stdout + json).not.toContain(secret);
});

test('token update changes a token and prints it; the running gateway rejects it while it is disabled', async () => {
  const { id, token } = await issue('updated');
  const { stdout } = await tokens('update', id, '--name', 'other', '--rate-limit', '600', '--disable');
  expect(stdout).toMatch(/ other .* disabled .* 600 requests in 60 s /);
  expect(await caller(token)).toBe('UNAUTHENTICATED');
  const enabled = await tokens('update', id, '--enable', '--rate-limit', 'none', '--json');
  expect(JSON.parse(enabled.stdout)).toMatchObject({ id: Number(id), name: 'other', enabled: true, rateLimit: null });
  expect(await caller(token)).toMatchObject({ name: 'other' });
});

test('token rotate prints a new secret, and the old one works for the overlap only; token revoke ends all', async () => {
  const { id, token } = await issue('rotated');
  const rotated = JSON.parse((await tokens('rotate', id, '--overlap', '1h', '--json')).stdout);
  expect(Object.keys(rotated)).toEqual(['id', 'token', 'name', 'environment', 'scopes', 'expiresAt']);
  for (const secret of [token, rotated.token]) expect(await caller(secret)).toMatchObject({ name: 'rotated' });
  const [last = ''] = (await tokens('rotate', id)).stdout.match(tokensOf('apiToken')) ?? [];
  for (const secret of [token, rotated.token]) expect(await caller(secret)).toBe('UNAUTHENTICATED');
  expect(await caller(last)).toMatchObject({ name: 'rotated' });
  expect(await tokens('revoke', id)).toMatchObject({ code: 0, stdout: expect.stringContaining('revoked') });
  expect(await caller(last)).toBe('UNAUTHENTICATED');
  const unknown = await tokens('revoke', '999999999');
  expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]*999999999[^\n]*\n$/) });
});
