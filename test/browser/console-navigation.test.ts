import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { phone } from '../support/browser.ts';
import { answer, loseNextResponse, lostResponse, openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const isSuspended = async (providedId: string) =>
  (await gateway.database.prisma.userGroup.findFirst({ where: { providedId } }))?.suspended;

/** Opens the page of a new group by the list, so that there is a page to go back to. */
async function openGroup(name: string, expectedProblems: RegExp[] = []): Promise<Page> {
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: name, name });
  const { page } = await openConsole(gateway, '/console/groups', { expectedProblems });
  await page.getByRole('link', { name }).click();
  await page.getByLabel('Display name').waitFor();
  return page;
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
  const page = await openGroup('back');
  const name = page.getByLabel('Display name');
  await name.fill('ACME Ltd');
  // Twice, because the first answer must not have changed the history.
  for (let times = 0; times < 2; times += 1) {
    const asked = answer(page, false);
    await page.goBack();
    await asked;
    await expect.poll(() => page.url()).toContain('/console/group?id=');
    expect(await name.inputValue()).toBe('ACME Ltd');
  }
  const asked = answer(page, true);
  await page.goBack();
  await asked;
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  await page.goForward();
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe('back');
});

test('leaving is asked about once something was entered in a dialog, and while it is not known whether a change was made', async () => {
  const page = await openGroup('entered', [lostResponse]);
  const staysAsked = async () => {
    const asked = answer(page, false);
    await page.goBack();
    await asked;
  };
  await page.getByRole('button', { name: 'Suspend …' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('unpaid');
  await staysAsked();
  await loseNextResponse(page, 'SuspendGroup');
  const suspend = page.getByRole('button', { name: 'Suspend the group' });
  await suspend.click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await staysAsked();
  await suspend.click();
  await page.getByText('Reason: unpaid').waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  expect(await isSuspended('entered')).toBe(true);
});

test('an Enter that is held does not confirm the dialog that it has opened', async () => {
  const page = await openGroup('held');
  await page.getByRole('button', { name: 'Suspend …' }).focus();
  await page.keyboard.down('Enter');
  const dialog = page.getByRole('dialog', { name: 'Suspend' });
  await dialog.getByRole('textbox').waitFor();
  await page.keyboard.down('Enter'); // again, without an end: the browser repeats it
  await page.keyboard.up('Enter');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await isSuspended('held')).toBe(false);
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
  await page.getByLabel('Display name').waitFor();
  // A person who used the keyboard for a link continues at the beginning of the new page.
  await pressUntil(page, 'Tab', /^by-keyboard$/);
  await press('ControlOrMeta+a');
  await page.keyboard.type('Renamed');
  await press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
  await page.getByRole('button', { name: 'Delete …' }).focus();
  await press('Enter');
  await page.keyboard.type('by-keyboard');
  await press('Enter');
  await page.getByText('Deleted by-keyboard').waitFor();
  expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'by-keyboard' } })).toBe(0);
});

test('a part of the console that is gone after an update says so, and reloading the page helps', async () => {
  const { page } = await openConsole(gateway, '/console', {
    expectedProblems: [/404/, /A part of the console could not be loaded/],
  });
  const isDocsConfig = /\/assets\/docs-config-/;
  await page.route(isDocsConfig, (route) => route.fulfill({ status: 404 }));
  await page.evaluate(`sessionStorage.setItem('user-group-gateway.api-token /', '${gateway.token}')`);
  await page.reload();
  await page.getByRole('link', { name: 'Docs configuration' }).click();
  await page.getByText('A part of the console could not be loaded').waitFor();
  await page.unroute(isDocsConfig);
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await page.getByRole('heading', { level: 1, name: 'Docs configuration' }).waitFor();
});
