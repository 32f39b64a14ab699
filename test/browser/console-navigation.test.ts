import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPage, phone } from '../support/browser.ts';
import { openConsole, signIn } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function createGroup(providedId: string): Promise<string> {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: 'ACME', properties: { plan: 'gold' } });
  return userGroup.id;
}

/** What has the focus: the value of a field, the id of an element with one, or its text. */
const focused = (page: Page) =>
  page.evaluate<string>('(({ value, id, textContent }) => value || id || textContent)(document.activeElement)');

/** Presses a key until what has the focus matches. */
async function pressUntil(page: Page, key: string, expected: RegExp): Promise<void> {
  for (let i = 0; i < 40; i += 1) {
    await page.keyboard.press(key);
    if (expected.test(await focused(page))) return;
  }
  throw new Error(`${key} does not lead to ${expected}.`);
}

test('the Back and Forward buttons ask about changes that are not saved, and stay or leave as the person answers', async () => {
  await createGroup('kept');
  const { page } = await openConsole(gateway, '/console/groups');
  await page.getByRole('link', { name: 'ACME' }).click();
  const name = page.getByLabel('Display name');
  await name.fill('ACME Ltd');
  const questions: string[] = [];
  let isLeaving = false;
  page.on('dialog', (dialog) => {
    questions.push(dialog.message());
    return isLeaving ? dialog.accept() : dialog.dismiss();
  });
  await page.goBack();
  await expect.poll(() => page.url()).toContain('/console/group?id=');
  expect([await name.inputValue(), questions.length]).toEqual(['ACME Ltd', 1]);
  // Twice, because the first answer must not have changed the history.
  await page.goBack();
  await expect.poll(() => page.url()).toContain('/console/group?id=');
  expect([await name.inputValue(), questions.length]).toEqual(['ACME Ltd', 2]);
  isLeaving = true;
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  expect(questions).toHaveLength(3);
  await page.goForward();
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe('ACME');
  expect(questions).toHaveLength(3);
});

test('the keyboard alone: skip the navigation, create a group, rename it, and delete it', async () => {
  const { page } = await openConsole(gateway, '/console/groups', { viewport: phone });
  const press = (key: string) => page.keyboard.press(key);
  // The keyboard starts at the beginning of a new page.
  await page.reload();
  await page.getByRole('searchbox').waitFor();
  await press('Tab');
  expect(await focused(page)).toBe('Skip to the content');
  await press('Enter');
  expect([await focused(page), new URL(page.url()).pathname]).toEqual(['main', '/console/groups']);
  await pressUntil(page, 'Tab', /New group/);
  await press('Enter');
  await page.keyboard.type('by-keyboard');
  await press('Enter');
  const name = page.getByLabel('Display name');
  await name.waitFor();
  // A person who used the keyboard for a link continues at the beginning of the new page.
  await pressUntil(page, 'Tab', /^by-keyboard$/);
  await press('ControlOrMeta+a');
  await page.keyboard.type('Renamed');
  await press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
  await name.focus();
  await page.keyboard.type('!');
  await pressUntil(page, 'Shift+Tab', /Sign out/);
  await page.getByRole('button', { name: 'Delete …' }).focus();
  await press('Enter');
  await page.keyboard.type('by-keyboard');
  // The changed name does not matter any more, so nothing is asked.
  await press('Enter');
  await page.getByText('Deleted by-keyboard').waitFor();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Groups');
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
  await signIn(page, gateway.token);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
});

test('a part of the console that is gone after an update says so, and reloading the page helps', async () => {
  const { page, assertFlawless } = await openConsole(gateway, '/console', {
    expectedProblems: [/404/, /A part of the console could not be loaded/],
  });
  const isDocsConfig = /\/assets\/docs-config-/;
  await page.route(isDocsConfig, (route) => route.fulfill({ status: 404 }));
  const { secret } = await gateway.issue({ scopes: ['groups:read'] });
  await page.evaluate(`sessionStorage.setItem('user-group-gateway.api-token /', '${secret}')`);
  await page.reload();
  await page.getByRole('link', { name: 'Docs configuration' }).click();
  await page.getByText('A part of the console could not be loaded').waitFor();
  await assertFlawless();
  await page.unroute(isDocsConfig);
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await page.getByRole('heading', { level: 1, name: 'Docs configuration' }).waitFor();
});
