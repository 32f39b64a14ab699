import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { introspectToken, partsOf } from '../support/embed-tokens.ts';
import { type InstalledExample, installExample, installTimeoutMs } from '../support/examples.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { createMovedClock, type MovedClock } from '../support/moved-clock.ts';
import { endProcesses } from '../support/process.ts';

/** The shortest that an embed token may live. */
const tokenSeconds = 60;
/** How often the page refreshes its dashboard. */
const refreshSeconds = 10;

let database: TestDatabase;
let clock: MovedClock;
let gateway: TestGateway;
let example: InstalledExample;
let url: string;
beforeAll(async () => {
  database = await createTestDatabase();
  clock = await createMovedClock(database);
  gateway = await startGateway(database);
  const { secret } = await gateway.issue({ scopes: ['groups:write', 'embed:sign'] });
  example = await installExample('express');
  const settings = { GATEWAY: gateway.url, API_TOKEN: secret, TOKEN_SECONDS: String(tokenSeconds), ...clock.settings };
  ({ url } = await example.serve(['server.js'], settings));
}, installTimeoutMs);
afterAll(async () => {
  await endProcesses();
  example?.remove();
  await gateway?.close();
  await clock?.close();
  await database?.close();
});

const askDashboard = async (token: string) =>
  (await fetch(`${url}/dashboard-data`, { headers: { authorization: `Bearer ${token}` } })).status;

const withoutBrowser = inject('browserEndpoint') === '';

test.skipIf(withoutBrowser)('a page stays open over three lifetimes of embed tokens, and after a sleep', async () => {
  const expectedProblems = [/status of 401 .*embed-token/, /status of 403 .*embed-token/];
  const { page, assertFlawless, assertFitsPhone } = await openPage(url, { expectedProblems });
  await expect.poll(() => page.textContent('#status')).toBe('Sign in to see the dashboard.');
  await page.selectOption('#customer', 'initech');
  await page.click('button');
  await expect.poll(() => page.textContent('#group')).toBe('initech (team 1)');
  await assertFlawless();
  await assertFitsPhone();

  await page.clock.install();
  const sent = new Map<string, string>();
  const problems: string[] = [];
  page.on('request', (request) => {
    const token = request.headers()['authorization']?.replace('Bearer ', '');
    if (!token) return;
    const { jti, exp } = partsOf(token).claims;
    sent.set(String(jti), token);
    if (Number(exp) * 1_000 <= clock.now()) problems.push(`sent ${jti} after its end`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  await page.selectOption('#customer', 'globex');
  await page.click('button');
  await expect.poll(() => page.textContent('#sales')).toContain('Berlin');

  /** Moves every clock, and waits for the next refresh of the page. */
  const pass = async (seconds: number, move: 'runFor' | 'fastForward' = 'runFor') => {
    const refreshed = page.waitForResponse(`${url}/dashboard-data`);
    await clock.advance(seconds);
    await page.clock[move](1_000 * seconds);
    await refreshed;
    await expect.poll(() => page.textContent('#status')).toMatch(/^As of/);
    expect(await page.textContent('#group')).toBe('globex (team 2)');
  };
  for (let seconds = 0; seconds < 3 * tokenSeconds; seconds += refreshSeconds) await pass(refreshSeconds);
  expect(problems).toEqual([]);
  // Each is renewed in the last quarter of its life, at the next refresh: after 50 of 60 seconds, or sooner on a busy machine.
  expect(sent.size).toBeGreaterThan(3);
  expect(sent.size).toBeLessThan(8);
  const { size } = sent;
  await pass(3_600, 'fastForward');
  expect(sent.size).toBeGreaterThan(size);
  expect(problems).toEqual([]);

  // They do expire: for the dashboard, and for the gateway.
  const [first = '', ...others] = sent.values();
  expect(await askDashboard(first)).toBe(401);
  expect(await askDashboard(others.at(-1) ?? '')).toBe(200);
  const { secret } = await gateway.issue({ scopes: ['groups:resolve'] });
  expect((await introspectToken(gateway, secret, first)).json).toEqual({ active: false });
  expect((await introspectToken(gateway, secret, others.at(-1) ?? '')).json).toMatchObject({ active: true, sub: 'globex' });

  const suspend = 'mutation { suspendUserGroup(input: { by: { providedId: "globex" } }) { __typename } }';
  expect((await gateway.graphql(suspend)).json.data.suspendUserGroup.__typename).toBe('SuspendUserGroupPayload');
  await clock.advance(tokenSeconds);
  await page.clock.fastForward(1_000 * tokenSeconds);
  await expect.poll(() => page.textContent('#status')).toBe('Your account is suspended.');
  expect(await page.isVisible('#dashboard')).toBe(false);
});

test('nobody gets an embed token without signing in, and the dashboard accepts nothing else', async () => {
  expect((await fetch(`${url}/embed-token`)).status).toBe(401);
  expect((await fetch(`${url}/embed-token`, { headers: { cookie: 'customer=nobody' } })).status).toBe(401);
  const signIn = await fetch(`${url}/sign-in`, { method: 'POST', body: new URLSearchParams({ customer: 'nobody' }) });
  expect(signIn.status).toBe(400);
  for (const other of ['', 'x', gateway.token]) expect(await askDashboard(other)).toBe(401);
});
