import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, launch, run, type ServeProcess, serve } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';
import { isTokenOf, tokensOf } from '../support/tokens.ts';

let database: TestDatabase;
let gateway: ServeProcess;
let settings: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  settings = { DATABASE_URL: database.url };
  gateway = await serve(settings);
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

async function issue(name: string): Promise<{ id: number; token: string }> {
  const options = { name, environmentTag: 'Testing', scopes: ['groups:read', 'groups:write'], expiresAt: null } as const;
  const { secret, apiToken } = await createApiToken(contextOn(database), options);
  return { id: apiToken.id, token: secret };
}

/** What a running gateway says to the holder of a secret. */
async function caller(token: string) {
  const query = '{ caller { number name environmentTag scopes expiresAt } }';
  return (await sendRequest(gateway.url, 'POST', '/graphql', { token, body: { query } })).json;
}

test('token create --json prints one object with exactly the documented members; the running gateway accepts the token', async () => {
  const before = Date.now();
  const args = 'token create --environment Customer --scope groups:read --scope audit:read --expires-in 90d --json --name'.split(
    ' ',
  );
  const { code, stdout, stderr } = await run([...args, 'backend “A”'], settings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.endsWith('}\n')).toBe(true);
  const printed = JSON.parse(stdout);
  expect(Object.keys(printed)).toEqual(['id', 'token', 'name', 'environment', 'scopes', 'expiresAt']);
  expect(printed).toEqual({
    id: expect.any(Number),
    token: expect.stringMatching(isTokenOf('apiToken')),
    name: 'backend “A”',
    environment: 'Customer',
    scopes: ['groups:read', 'audit:read'],
    expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  const lifetimeMs = Date.parse(printed.expiresAt) - 90 * 86_400_000;
  expect(lifetimeMs).toBeGreaterThanOrEqual(before);
  expect(lifetimeMs).toBeLessThanOrEqual(Date.now());
  expect((await caller(printed.token)).data.caller).toMatchObject({
    name: 'backend “A”',
    environmentTag: 'CUSTOMER',
    scopes: ['GROUPS_READ', 'AUDIT_READ'],
    expiresAt: printed.expiresAt,
  });
});

test('token create with only a name and an environment creates a token with the default scopes that never expires, and prints the secret once', async () => {
  const { code, stdout } = await run(['token', 'create', '--name=plain', '--environment=none'], settings);
  expect(code).toBe(0);
  const [secret = '', ...others] = stdout.match(tokensOf('apiToken')) ?? [];
  expect(others).toEqual([]);
  expect((await caller(secret)).data.caller).toMatchObject({
    environmentTag: null,
    scopes: ['GROUPS_READ', 'GROUPS_WRITE'],
    expiresAt: null,
  });
  const list = await run(['token', 'list'], settings);
  expect(list.stdout).toContain('plain');
  expect(list.stdout).not.toContain(secret.slice(0, 12));
});

test('token list prints every token and no secret, also through npm, which adds no output', async () => {
  const made = await issue('listed');
  const direct = await run(['token', 'list'], settings);
  expect(direct).toMatchObject({ code: 0, stderr: '' });
  expect(direct.stdout).toMatch(new RegExp(`#${made.id} .*listed.*Testing.*groups:read groups:write`));
  const hash = Buffer.from((await database.prisma.apiToken.findUniqueOrThrow({ where: { id: made.id } })).secretHash);
  for (const encoding of ['hex', 'base64', 'base64url'] as const) expect(direct.stdout).not.toContain(hash.toString(encoding));
  expect(direct.stdout).not.toContain(made.token);

  const throughNpm = await launch('npm', ['run', '-s', 'gateway', '--', 'token', 'list', '--json'], settings).ended;
  expect(throughNpm.code).toBe(0);
  const listed = JSON.parse(throughNpm.stdout) as { id: number }[];
  expect(listed.find(({ id }) => id === made.id)).toMatchObject({ name: 'listed', environment: 'Testing', revokedAt: null });
  expect(throughNpm.stdout).not.toMatch(/hash/i);
});

test('token list passes no control characters of a name to the terminal, nor lines of its own', async () => {
  const { id } = await issue('stored');
  await database.prisma.apiToken.update({ where: { id }, data: { name: 'a\u001b[31m\n#1  b' } });
  const { stdout } = await run(['token', 'list'], settings);
  expect(stdout).toContain(`#${id}  a\ufffd[31m\ufffd#1  b  ·  Testing`);
});

test('token update changes a token and prints it; the running gateway rejects it while it is disabled', async () => {
  const made = await issue('updated');
  const update = (...args: string[]) => run(['token', 'update', String(made.id), ...args], settings);
  const disabled = await update('--name', 'other', '--rate-limit', '600', '--disable');
  expect(disabled).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/ other .* disabled .* 600 requests in 60 s /),
  });
  expect((await run(['token', 'list'], settings)).stdout).toContain(disabled.stdout);
  expect((await caller(made.token)).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  const enabled = await update('--enable', '--rate-limit', 'none', '--json');
  expect(JSON.parse(enabled.stdout)).toMatchObject({ id: made.id, name: 'other', enabled: true, rateLimit: null });
  expect((await caller(made.token)).data.caller.name).toBe('other');
});

test('token revoke: the running gateway rejects the token from the next request on', async () => {
  const made = await issue('short-lived');
  expect((await caller(made.token)).data.caller.name).toBe('short-lived');
  const revoked = await run(['token', 'revoke', String(made.id)], settings);
  expect(revoked).toMatchObject({ code: 0, stdout: expect.stringContaining('revoked') });
  expect((await caller(made.token)).errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

test('token rotate prints a new secret; the running gateway accepts the old one for the overlap only', async () => {
  const made = await issue('rotated');
  const rotated = await run(['token', 'rotate', String(made.id), '--overlap', '1h', '--json'], settings);
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  const { token: next, ...rest } = JSON.parse(rotated.stdout);
  expect(rest).toEqual({
    id: made.id,
    name: 'rotated',
    environment: 'Testing',
    scopes: ['groups:read', 'groups:write'],
    expiresAt: null,
  });
  for (const secret of [made.token, next]) expect((await caller(secret)).data.caller.number).toBe(made.id);

  const text = await run(['token', 'rotate', String(made.id)], settings);
  const [last = '', ...others] = text.stdout.match(tokensOf('apiToken')) ?? [];
  expect([text.code, others]).toEqual([0, []]);
  for (const secret of [made.token, next]) expect((await caller(secret)).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  expect((await caller(last)).data.caller.number).toBe(made.id);
});

test('token revoke of an unknown id fails with a message', async () => {
  const { code, stdout, stderr } = await run(['token', 'revoke', '999999999'], settings);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('999999999');
  expect(stderr).not.toMatch(/\n\s+at /);
});
