import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer, countRequests, holdRequests, loseNextResponse, lostResponse, openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let secret: string;
beforeAll(async () => {
  gateway = await startGateway();
  ({ secret } = await gateway.issue({ environment: null, scopes: ['admin'] }));
});
afterAll(() => gateway.close());

const callerOf = async (token: string) =>
  (await gateway.graphql('{ caller { name environmentTag scopes } }', {}, { token })).json.data?.caller;

/** Issues an API token with this name. @returns changes what is stored of it, and reads it. */
async function issueNamed(name: string, expiresAt: Date | null = null) {
  const { id } = await gateway.issue({ expiresAt });
  const stored = (data = {}) => gateway.database.prisma.apiToken.update({ where: { id }, data });
  await stored({ name });
  return { id, stored };
}

/** Fills in the dialog for a new API token. */
async function enterNew(page: Page, name: string): Promise<Locator> {
  await page.getByRole('button', { name: 'New API token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
  await dialog.getByRole('combobox', { name: 'Environment' }).selectOption('Testing');
  await dialog.getByRole('checkbox', { name: 'groups:read' }).check();
  return dialog;
}

const secretIn = async (dialog: Locator) => (await dialog.getByText(/^ugk_/).textContent()) ?? '';

test('a person creates an API token, rotates it with an overlap, limits and disables it, and revokes it', async () => {
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret });
  const dialog = await enterNew(page, 'nightly sync');
  await dialog.getByRole('button', { name: 'Create the API token' }).click();
  const created = await secretIn(dialog);
  const expected = { name: 'nightly sync', environmentTag: 'TESTING', scopes: ['GROUPS_READ'] };
  expect(await callerOf(created)).toEqual(expected);
  const isStored = page.getByRole('button', { name: 'I have stored it' });
  await isStored.click();
  expect(await page.content()).not.toContain(created);

  await page.getByRole('button', { name: 'Rotate nightly sync' }).click();
  await dialog.getByLabel('How long does the current secret still work?').selectOption('For 1 day');
  await dialog.getByRole('button', { name: 'Replace the secret' }).click();
  const rotated = await secretIn(dialog);
  // Both, because the API token may expire first.
  expect(await dialog.textContent()).toMatch(/previous secret works for 1 day.*API token expires/);
  expect([await callerOf(rotated), await callerOf(created)]).toEqual([expected, expected]);
  await isStored.click();

  const edit = page.getByRole('button', { name: 'Edit nightly sync' });
  await edit.click();
  const limit = dialog.getByRole('textbox', { name: 'Requests in 60 seconds' });
  await limit.fill('1.000'); // a separator of thousands, in some countries
  await dialog.getByRole('button', { name: 'Save' }).click();
  expect(await dialog.locator('input:invalid').count()).toBe(1);
  await limit.fill('600');
  await dialog.getByRole('checkbox', { name: 'Enabled' }).uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /nightly sync.*disabled.*600 requests/ }).waitFor();
  expect([await callerOf(rotated), await callerOf(created)]).toEqual([undefined, undefined]);
  await edit.click();
  await dialog.getByRole('checkbox', { name: 'Enabled' }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await callerOf(rotated)).toEqual(expected);

  await page.getByRole('button', { name: 'Revoke nightly sync' }).click();
  const id = /its number, (\d+),/.exec((await dialog.textContent()) ?? '')?.[1] ?? '';
  await dialog.getByRole('textbox').fill(id);
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke nightly sync' }).waitFor({ state: 'detached' });
  expect([await callerOf(rotated), await callerOf(created)]).toEqual([undefined, undefined]);
  await page.getByLabel('Show revoked API tokens').check();
  await page.getByRole('row', { name: /nightly sync.*revoked/ }).waitFor();
});

test('a change of an API token sends only what was changed: one that was disabled meanwhile stays so', async () => {
  const { stored } = await issueNamed('to be edited');
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret });
  await page.getByRole('button', { name: 'Edit to be edited' }).click();
  await stored({ enabled: false, rateLimit: 7 });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('edited');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /edited.*disabled.*7 requests/ }).waitFor();
  expect(await stored()).toMatchObject({ name: 'edited', enabled: false, rateLimit: 7 });
});

test('a browser whose clock is a year ahead shows when API tokens expire by the time of the gateway', async () => {
  const dayMs = 86_400_000;
  await issueNamed('over', new Date(Date.now() - dayMs));
  await issueNamed('valid', new Date(Date.now() + 2 * dayMs));
  const { page } = await openConsole(gateway, '/console', { secret });
  await page.evaluate(`const now = Date.now; Date.now = () => now() + 366 * ${dayMs}; undefined`);
  await page.getByRole('link', { name: 'API tokens', exact: true }).click();
  await page.getByRole('row', { name: /valid.*expires soon.*in 2 days/ }).waitFor();
  // What is expired can only be revoked.
  const expired = page.getByRole('row', { name: /over.*expired.*yesterday/ });
  expect(await expired.getByRole('button').allTextContents()).toEqual(['Revoke']);
});

test('changes whose responses are lost are not said to have failed; trying again makes them once, and shows the secrets', async () => {
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret, expectedProblems: [lostResponse] });
  const dialog = page.getByRole('dialog');
  /** Submits the dialog twice: the first response is lost. @returns the secret. */
  const submitTwice = async (operation: string, button: string) => {
    await loseNextResponse(page, operation);
    await dialog.getByRole('button', { name: button }).click();
    const alert = dialog.getByRole('alert').filter({ hasText: 'It is not known whether the change was made' });
    expect(await alert.textContent()).toMatch(/Trying again is safe/);
    expect(await alert.textContent()).not.toMatch(/was not|could not/);
    // Another change would be a second one, and the first would stay.
    for (const field of await dialog.locator('input, select').all()) expect(await field.isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: button }).click();
    return secretIn(dialog);
  };
  await enterNew(page, 'lost');
  expect(await callerOf(await submitTwice('CreateApiToken', 'Create the API token'))).toMatchObject({ name: 'lost' });
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Rotate lost' }).click();
  expect(await callerOf(await submitTwice('RotateApiToken', 'Replace the secret'))).toMatchObject({ name: 'lost' });
  const tokens = await gateway.database.prisma.apiToken.findMany({ where: { name: 'lost' } });
  expect(tokens).toHaveLength(1);
  const rotations = { type: 'api_token.rotated', subjectApiTokenId: tokens[0]?.id ?? 0 };
  expect(await gateway.database.prisma.event.count({ where: rotations })).toBe(1);
});

test('two clicks at once create once; neither Escape nor a click closes the secret, which cannot be read again', async () => {
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret });
  const created = countRequests(page, 'CreateApiToken');
  const dialog = await enterNew(page, 'twice');
  // Before the page has a chance to show that the first click has started something.
  await dialog.getByRole('button', { name: 'Create the API token' }).evaluate((element) => {
    for (let times = 0; times < 2; times += 1) (element as unknown as { click(): void }).click();
  });
  await secretIn(dialog);
  for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  // The second click of a double click, for which the browser does not mind what the first one has hit.
  const { x = 0, y = 0 } = (await page.getByRole('button', { name: 'I have stored it' }).boundingBox()) ?? {};
  await page.mouse.move(x + 9, y + 9);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  expect(await dialog.getByText(/^ugk_/).isVisible()).toBe(true);
  expect(created()).toBe(1);
  await page.getByRole('button', { name: 'I have stored it' }).click();
});

test('the secret of an API token that is being rotated cannot be lost: nothing closes the dialog, and leaving is asked about', async () => {
  await issueNamed('to be rotated');
  const { page } = await openConsole(gateway, '/console/groups', { secret });
  await page.getByRole('link', { name: 'API tokens' }).click();
  await page.getByRole('button', { name: 'Rotate to be rotated' }).click();
  const dialog = page.getByRole('dialog');
  const { release } = await holdRequests(page, 'RotateApiToken');
  await dialog.getByRole('button', { name: 'Replace the secret' }).click();
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
  for (let times = 0; times < 2; times += 1) await page.keyboard.press('Escape');
  const goBack = async () => {
    const asked = answer(page, false);
    await page.goBack();
    await asked;
    await expect.poll(() => page.url()).toContain('/console/api-tokens');
  };
  await goBack();
  await release();
  await secretIn(dialog);
  await goBack();
  await page.getByRole('button', { name: 'I have stored it' }).click();
});
