import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { openConsole, signIn } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Opens another tab of the same browser, and closes it when the test has finished. */
async function openTab(page: Page, path: string, script = ''): Promise<Page> {
  const tab = await page.context().newPage();
  onTestFinished(() => tab.close());
  await tab.addInitScript(script);
  await tab.goto(gateway.url + path);
  return tab;
}

const isSignedIn = (page: Page) => page.getByRole('button', { name: 'Sign out' }).waitFor();
const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' }).click();
const revoke = (id: number) => gateway.database.prisma.apiToken.update({ where: { id }, data: { revokedAt: new Date() } });

test('a person signs in after a wrong API token, stays signed in when the page is reloaded, and signs out', async () => {
  const { page } = await openPage(`${gateway.url}/console`, { expectedProblems: [/status of 401/] });
  const field = page.getByLabel('API token', { exact: true });
  await field.fill('ugk_this-is-not-a-token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  expect(await page.getByRole('alert').filter({ hasText: 'UNAUTHENTICATED' }).textContent()).toContain('Request id');
  const { secret } = await gateway.issue({ environment: 'Customer', scopes: ['groups:read', 'audit:read'] });
  await signIn(page, secret);
  const banner = page.getByRole('banner');
  expect(await banner.textContent()).toMatch(/Customer[\s\S]*test/);
  await banner.getByText('2 scopes').click();
  expect(await banner.getByRole('list').textContent()).toMatch(/groups:read\s*audit:read/);
  // Only in the storage of the tab, and not in the URL.
  expect(await page.evaluate('[localStorage.length, document.cookie, sessionStorage.length]')).toEqual([0, '', 2]);
  expect(page.url()).not.toContain(secret);
  await page.reload();
  await isSignedIn(page);
  await signOut(page);
  await field.waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  expect(await page.evaluate<string>('document.body.textContent')).not.toContain(secret);
});

test('a late response to an earlier API token does not end the new session', async () => {
  const { page } = await openConsole(gateway, '/console', { expectedProblems: [/status of 401/] });
  let release: (() => void) | undefined;
  await page.route('**/graphql', async (route) => {
    if (release || !route.request().postData()?.includes('query GroupList')) return route.continue();
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return route.fulfill({ status: 401, json: { errors: [{ message: 'Revoked.', extensions: { code: 'UNAUTHENTICATED' } }] } });
  });
  await page.getByRole('link', { name: 'Groups', exact: true }).click();
  await expect.poll(() => release).toBeDefined();
  await signOut(page);
  await signIn(page, (await gateway.issue({ environment: 'Customer' })).secret);
  const late = page.waitForResponse((response) => response.status() === 401);
  release?.();
  await (await late).finished();
  await page.getByText('No groups yet').waitFor();
});

test('an API token that is revoked ends the session; the page says why, and that changes are lost', async () => {
  const { secret, id } = await gateway.issue();
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'edited' });
  const path = `/console/group?id=${userGroup.id}`;
  const { page } = await openConsole(gateway, path, { secret, expectedProblems: [/status of 401/] });
  await page.getByLabel('Display name').fill('Edited for long');
  await revoke(id);
  await page.getByRole('button', { name: 'Save the name' }).click();
  const alert = page.getByRole('alert').filter({ hasText: /revoked/i });
  expect(await alert.textContent()).toContain('What was not saved is lost.');
});

test('a further tab is signed in, the playground gives its API token to no tab, and signing out in one signs out all', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  const second = await openTab(page, '/console/groups');
  await isSignedIn(second);
  // A tab that has left for the playground takes the API token with it.
  const playground = await openTab(page, '/console');
  await isSignedIn(playground);
  await playground.goto(`${gateway.url}/graphql`);
  const token = playground.getByLabel('API token');
  expect(await token.inputValue()).toBe(gateway.token);
  const fresh = await openTab(page, '/graphql');
  expect(await fresh.getByLabel('API token').inputValue()).toBe('');
  await signOut(second);
  for (const tab of [page, second]) {
    await tab.getByText('You are signed out.').waitFor();
    expect(await tab.evaluate('sessionStorage.length')).toBe(0);
  }
  await expect.poll(() => token.inputValue()).toBe('');
});

test('signing out also ends the session of a tab that was elsewhere, or was loading', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  const [elsewhere, loading] = [await openTab(page, '/console/groups'), await openTab(page, '/console/groups')];
  for (const tab of [elsewhere, loading]) await isSignedIn(tab);
  await elsewhere.goto('about:blank');
  const held: (() => void)[] = [];
  let isHeld = true;
  await loading.route('**/*.js', async (route) => {
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  await loading.goto(`${gateway.url}/console/groups`, { waitUntil: 'commit' });
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await signOut(page);
  await page.getByText('You are signed out.').waitFor();
  isHeld = false;
  for (const release of held) release();
  await elsewhere.goto(`${gateway.url}/console/groups`);
  for (const tab of [elsewhere, loading]) {
    await tab.getByLabel('API token', { exact: true }).waitFor();
    await expect.poll(() => tab.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('token'))")).toEqual([]);
  }
});

test('next to tabs with different API tokens, a further tab asks for one; revoking one ends only its sessions', async () => {
  const { secret, id } = await gateway.issue();
  const { page: kept } = await openConsole(gateway, '/console/groups');
  await signOut(kept);
  const revoked = await openTab(kept, '/console/groups');
  await signIn(revoked, secret);
  await signIn(kept, gateway.token);
  // However late the other tabs answer.
  const further = await openTab(kept, '/console/groups', 'globalThis.setTimeout = () => 0');
  await further.getByText('use different API tokens').waitFor();
  expect(await further.evaluate('sessionStorage.length')).toBe(0);
  await revoke(id);
  await revoked.getByRole('searchbox').fill('x');
  await revoked
    .getByRole('alert')
    .filter({ hasText: /revoked/i })
    .waitFor();
  await kept.getByRole('searchbox').fill('x');
  await kept.getByText('No group matches').waitFor();
});

test('a page that the API token has no scope for says which one it needs', async () => {
  const { page } = await openConsole(gateway, '/console/api-tokens');
  expect(await page.getByRole('main').textContent()).toMatch(/requires the scope admin/);
});

test('a browser that blocks the storage of pages signs in, until the page is reloaded', async () => {
  const { page } = await openPage(`${gateway.url}/livez`);
  const block = await page.addInitScript(
    "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('blocked'); } })",
  );
  onTestFinished(() => block.dispose());
  await page.goto(`${gateway.url}/console/groups`);
  await signIn(page, gateway.token);
  await page.reload();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
});
