import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { loseNextResponse, lostResponse, openConsole, signIn } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('a person signs in after a wrong API token, stays signed in when the page is reloaded, and signs out', async () => {
  const { page } = await openPage(`${gateway.url}/console`, { expectedProblems: [/status of 401/] });
  const field = page.getByLabel('API token', { exact: true });
  await field.fill('ugk_this-is-not-a-token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  expect(await page.getByRole('alert').filter({ hasText: 'UNAUTHENTICATED' }).textContent()).toContain('Request id');
  const { secret } = await gateway.issue({ environment: 'Customer', scopes: ['groups:read', 'audit:read'] });
  await field.fill(secret);
  await page.keyboard.press('Enter');

  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const banner = page.getByRole('banner');
  expect(await banner.textContent()).toMatch(/Customer[\s\S]*test/);
  await banner.getByText('2 scopes').click();
  expect(await banner.getByRole('list').textContent()).toMatch(/groups:read\s*audit:read/);
  expect(await page.getByText('Customer environment.').isVisible()).toBe(true);
  // Only in the storage of the tab, and not in the URL.
  expect(await page.evaluate('[localStorage.length, document.cookie, sessionStorage.length]')).toEqual([0, '', 2]);
  expect(page.url()).not.toContain(secret);
  await page.reload();
  // A response that comes after the person has signed in again with another API token does not end the new session.
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
  await page.getByRole('button', { name: 'Sign out' }).click();
  await field.fill((await gateway.issue()).secret);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const late = page.waitForResponse((response) => response.status() === 401);
  release?.();
  await (await late).finished();
  await page.getByText('No groups yet').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await field.waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  expect(await page.evaluate<string>('document.body.textContent')).not.toContain(secret);
});

test('an API token that is revoked meanwhile ends the session, and the page says why', async () => {
  const { secret, id } = await gateway.issue();
  const { page } = await openConsole(gateway, '/console', { secret, expectedProblems: [/status of 401/] });
  // Every request of the first page has been sent.
  await page.getByText('0', { exact: true }).waitFor();
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { revokedAt: new Date() } });
  await page.getByRole('link', { name: 'Groups', exact: true }).click();
  await page
    .getByRole('alert')
    .filter({ hasText: /revoked/i })
    .waitFor();
});

/** Opens another tab of the same browser, and closes it when the test has finished. */
async function openTab(page: Page, path: string): Promise<Page> {
  const tab = await page.context().newPage();
  onTestFinished(() => tab.close());
  await tab.goto(gateway.url + path);
  return tab;
}

test('a tab that is opened next to one that is signed in is signed in, and signing out in one signs out all', async () => {
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'acme', name: 'ACME' });
  const { page } = await openConsole(gateway, '/console/groups');
  const opening = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'ACME' }).click({ modifiers: ['ControlOrMeta'] });
  const group = await opening;
  onTestFinished(() => group.close());
  await expect.poll(() => group.evaluate('document.querySelector("h1")?.textContent')).toContain('ACME');
  // Playwright may take the first navigation of a tab that a page has opened for unfinished.
  await group.goto(group.url());
  expect(await group.evaluate('[localStorage.length, document.cookie, sessionStorage.length]')).toEqual([0, '', 2]);
  // A tab that has left for the playground takes the API token with it.
  const playground = await openTab(page, '/console');
  await playground.getByRole('button', { name: 'Sign out' }).waitFor();
  await playground.goto(`${gateway.url}/graphql`);
  const token = playground.getByLabel('API token');
  expect(await token.inputValue()).toBe(gateway.token);
  // The playground gives it to no other tab.
  const fresh = await openTab(page, '/graphql');
  expect(await fresh.getByLabel('API token').inputValue()).toBe('');

  await group.getByRole('button', { name: 'Sign out' }).click();
  for (const tab of [page, group]) {
    await tab.getByText('You are signed out.').waitFor();
    expect(await tab.evaluate('sessionStorage.length')).toBe(0);
  }
  await expect.poll(() => token.inputValue()).toBe('');
  await fresh.goto(`${gateway.url}/console`);
  await fresh.getByLabel('API token', { exact: true }).waitFor();
});

test('signing out also ends the session of a tab that could not reach the gateway', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  const other = await openTab(page, '/console/groups');
  await other.getByRole('button', { name: 'Sign out' }).waitFor();
  await other.route('**/graphql', (route) => route.fulfill({ status: 504, body: 'timed out' }));
  await other.reload();
  await other.getByText('The API token of this tab could not be checked').waitFor();
  await Promise.all([other.waitForEvent('load'), other.getByRole('button', { name: 'Try again' }).click()]);
  await other.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await other.getByText('You are signed out.').waitFor();
  await other.unroute('**/graphql');
  await other.reload();
  await other.getByRole('button', { name: 'Sign in' }).waitFor();
});

test.each(['/console/groups', '/graphql'])(
  'signing out also ends the session of a tab that is loading %s meanwhile',
  async (path) => {
    const { page } = await openConsole(gateway, '/console/groups');
    const other = await openTab(page, '/console/groups');
    await other.getByRole('button', { name: 'Sign out' }).waitFor();
    let isHeld = false;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await other.route('**/*.js', async (route) => {
      isHeld = true;
      await released;
      await route.continue();
    });
    await other.goto(gateway.url + path, { waitUntil: 'commit' });
    await expect.poll(() => isHeld).toBe(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    release();
    await other.getByLabel('API token', { exact: true }).waitFor();
    await expect.poll(() => other.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('token'))")).toEqual([]);
    // A session that begins afterwards is not ended by it.
    if (path === '/graphql') return;
    await signIn(other, gateway.token);
    await other.reload();
    await other.getByRole('button', { name: 'Sign out' }).waitFor();
  },
);

test('signing out also ends the session of a tab that was elsewhere meanwhile', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  const other = await openTab(page, '/console/groups');
  await other.getByRole('button', { name: 'Sign out' }).waitFor();
  await other.goto('about:blank');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await other.goto(`${gateway.url}/console/groups`);
  await other.getByText('You are signed out.').waitFor();
});

test('what a person types to sign in stays when a further tab is opened, which takes the API token of another one', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  await page.getByRole('button', { name: 'Sign out' }).click();
  const typing = await openTab(page, '/console/groups');
  await typing.getByLabel('API token', { exact: true }).fill('half of');
  await signIn(page, gateway.token);
  const further = await openTab(page, '/console/groups');
  await further.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(await typing.getByLabel('API token', { exact: true }).inputValue()).toBe('half of');
});

/** Has a tab answer others when `release()` is called there. */
const answerLate = `{
  const { postMessage } = BroadcastChannel.prototype;
  const released = new Promise((resolve) => { globalThis.release = resolve; });
  BroadcastChannel.prototype.postMessage = function (...message) { released.then(() => postMessage.apply(this, message)); };
}`;

test('what a person enters to sign in stays when another tab offers its API token late', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  await page.evaluate(answerLate);
  const typing = await openTab(page, '/console/groups');
  const field = typing.getByLabel('API token', { exact: true });
  await field.fill('half of');
  await page.evaluate('release()');
  // Its question is answered after the late answer.
  const further = await openTab(page, '/console/groups');
  await further.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(await field.inputValue()).toBe('half of');
});

test('tabs with different API tokens: a further tab asks for one; one that is revoked ends the session of every tab that has it', async () => {
  const { secret, id } = await gateway.issue();
  const { page: kept } = await openConsole(gateway, '/console/groups');
  await kept.getByRole('button', { name: 'Sign out' }).click();
  const revoked = await openTab(kept, '/console/groups');
  await signIn(revoked, secret);
  const sibling = await openTab(kept, '/console/groups');
  await sibling.getByRole('button', { name: 'Sign out' }).waitFor();
  await signIn(kept, gateway.token);
  const further = await kept.context().newPage();
  onTestFinished(() => further.close());
  // However late the other tabs answer.
  await further.addInitScript('globalThis.setTimeout = () => 0');
  await further.goto(`${gateway.url}/console/groups`);
  await further.getByText('use different API tokens').waitFor();
  expect(await further.evaluate('sessionStorage.length')).toBe(0);
  // Tabs that answer when the further tab has taken the API token of another one.
  for (const tab of [revoked, sibling]) await tab.evaluate(answerLate);
  const taken = await openTab(kept, '/console/groups');
  await taken.getByRole('button', { name: 'Sign out' }).waitFor();
  for (const tab of [revoked, sibling]) await tab.evaluate('release()');
  await taken.getByText('use different API tokens').waitFor();
  expect(await taken.evaluate('sessionStorage.length')).toBe(0);
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { revokedAt: new Date() } });
  // Unless the tab has noticed it by itself.
  const search = revoked.getByRole('searchbox').or(revoked.getByRole('alert'));
  await search.first().waitFor();
  if (await revoked.getByRole('searchbox').isVisible()) await revoked.getByRole('searchbox').fill('x');
  for (const tab of [revoked, sibling]) {
    await tab
      .getByRole('alert')
      .filter({ hasText: /revoked/i })
      .waitFor();
  }
  await kept.getByRole('searchbox').fill('x');
  await kept.getByText('No group matches').waitFor();
});

test('the new secret of the API token that tabs use arrives also if the response is lost, and stays shown when another tab finds the previous one replaced', async () => {
  const { secret, id } = await gateway.issue({ environment: null, scopes: ['admin'] });
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { name: 'own' } });
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret, expectedProblems: [lostResponse] });
  const sibling = await openTab(page, '/console/groups');
  await sibling.getByRole('searchbox').waitFor();
  await page.getByRole('button', { name: 'Rotate own' }).click();
  // One that has ended at once could not be used to ask for the response again.
  const overlap = page.getByLabel('How long does the current secret still work?');
  expect((await overlap.locator('option').allTextContents())[0]).toBe('For 5 minutes');
  await loseNextResponse(page, 'RotateApiToken');
  const replace = page.getByRole('button', { name: 'Replace the secret' });
  await replace.click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await replace.click();
  const shown = page.getByRole('dialog', { name: 'The secret was replaced' }).getByText(/^ugk_/);
  await shown.waitFor();
  await gateway.database.prisma.retiredSecret.updateMany({ where: { apiTokenId: id }, data: { expiresAt: new Date(0) } });
  const untilEnded = (tab: Page) =>
    tab
      .getByRole('alert')
      .filter({ hasText: /replaced/i })
      .waitFor();
  await sibling.getByRole('searchbox').fill('x');
  await untilEnded(sibling);
  // It has the API token of the tab that shows the secret, which by then has heard of the end.
  await untilEnded(await openTab(page, '/console/groups'));
  expect(await shown.textContent()).toMatch(/^ugk_/);
});

test('a page that the API token has no scope for says which one it needs', async () => {
  const { page, assertFlawless } = await openConsole(gateway, '/console/api-tokens');
  expect(await page.getByRole('main').textContent()).toMatch(/requires the scope admin/);
  await assertFlawless();
});

test('a session that ends while a form has changes says that they are lost', async () => {
  const { secret, id } = await gateway.issue();
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'edited', name: 'Edited' });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, {
    secret,
    expectedProblems: [/status of 401/],
  });
  await page.getByLabel('Display name').fill('Edited for long');
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { revokedAt: new Date() } });
  await page.getByRole('button', { name: 'Save the name' }).click();
  const alert = page.getByRole('alert').filter({ hasText: /revoked/i });
  expect(await alert.textContent()).toContain('What was not saved is lost.');
});
