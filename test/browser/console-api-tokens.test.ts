import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRequests, loseNextResponse, lostResponse, openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('a person creates an API token, rotates it with an overlap, and revokes it', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/api-tokens', { secret: admin });
  await page.getByRole('button', { name: 'New API token' }).click();
  let dialog = page.getByRole('dialog', { name: 'New API token' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('nightly sync');
  await dialog.getByRole('combobox', { name: 'Environment' }).selectOption('Testing');
  await dialog.getByRole('checkbox', { name: 'groups:read' }).check();
  await assertFlawless();
  await dialog.getByRole('button', { name: 'Create the API token' }).click();

  dialog = page.getByRole('dialog', { name: 'The API token was created' });
  const created = (await dialog.getByText(/^ugk_/).textContent()) ?? '';
  const scopesOf = async (token: string) =>
    (await gateway.graphql('{ caller { name environmentTag scopes } }', {}, { token })).json.data?.caller;
  const expected = { name: 'nightly sync', environmentTag: 'TESTING', scopes: ['GROUPS_READ'] };
  expect(await scopesOf(created)).toEqual(expected);
  // Escape does not lose the secret, which is shown only once.
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  expect(await page.content()).not.toContain(created);

  await page.getByRole('button', { name: 'Rotate nightly sync' }).click();
  dialog = page.getByRole('dialog', { name: 'Rotate nightly sync' });
  await dialog.getByLabel('How long does the current secret still work?').selectOption('For 1 day');
  await dialog.getByRole('button', { name: 'Replace the secret' }).click();
  dialog = page.getByRole('dialog', { name: 'The secret was replaced' });
  const rotated = (await dialog.getByText(/^ugk_/).textContent()) ?? '';
  // Both, because the API token may expire first.
  expect(await dialog.textContent()).toMatch(/previous secret works for 1 day.*API token expires/);
  expect([await scopesOf(rotated), await scopesOf(created)]).toEqual([expected, expected]);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();

  await page.getByRole('button', { name: 'Edit nightly sync' }).click();
  dialog = page.getByRole('dialog', { name: 'Edit nightly sync' });
  await dialog.getByRole('textbox', { name: 'Requests in 60 seconds' }).fill('600');
  await dialog.getByRole('checkbox', { name: 'Enabled' }).uncheck();
  await assertFlawless();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /nightly sync.*disabled.*600 requests/ }).waitFor();
  expect([await scopesOf(rotated), await scopesOf(created)]).toEqual([undefined, undefined]);
  await page.getByRole('button', { name: 'Edit nightly sync' }).click();
  await dialog.getByRole('checkbox', { name: 'Enabled' }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await scopesOf(rotated)).toEqual(expected);

  await page.getByRole('button', { name: 'Revoke nightly sync' }).click();
  dialog = page.getByRole('dialog', { name: 'Revoke nightly sync' });
  const id = /its number, (\d+),/.exec((await dialog.textContent()) ?? '')?.[1] ?? '';
  await dialog.getByRole('textbox').fill(id);
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke nightly sync' }).waitFor({ state: 'detached' });
  expect([await scopesOf(rotated), await scopesOf(created)]).toEqual([undefined, undefined]);
  await page.getByLabel('Show revoked API tokens').check();
  await page.getByRole('row', { name: /nightly sync.*revoked/ }).waitFor();
  await assertFlawless();
  await assertFitsPhone();
});

test('a change of an API token sends only what was changed: one that was disabled meanwhile stays so', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { id } = await gateway.issue();
  const stored = (data = {}) => gateway.database.prisma.apiToken.update({ where: { id }, data });
  await stored({ name: 'to be edited' });
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret: admin });
  await page.getByRole('button', { name: 'Edit to be edited' }).click();
  await stored({ enabled: false, rateLimit: 7 });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('edited');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /edited.*disabled.*7 requests/ }).waitFor();
  expect(await stored()).toMatchObject({ name: 'edited', enabled: false, rateLimit: 7 });
  // Without a change, there is nothing to save.
  await page.getByRole('button', { name: 'Edit edited' }).click();
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
});

test('a rate limit with a separator of thousands is not taken for another number', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { id } = await gateway.issue();
  const stored = (data = {}) => gateway.database.prisma.apiToken.update({ where: { id }, data });
  await stored({ name: 'limited' });
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret: admin });
  await page.getByRole('button', { name: 'Edit limited' }).click();
  const dialog = page.getByRole('dialog');
  const limit = dialog.getByRole('textbox', { name: 'Requests in 60 seconds' });
  for (const text of ['1.000', '1,000', '1e3']) {
    await limit.fill(text);
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect(await dialog.locator('input:invalid').count(), text).toBe(1);
  }
  await limit.fill('1000');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await stored()).toMatchObject({ rateLimit: 1_000 });
});

const dayMs = 86_400_000;

/** Issues an API token that has expired for a day, and another one that expires in two days. */
async function issueExpiring(names: { readonly expired: string; readonly valid: string }) {
  for (const [name, days] of [
    [names.expired, -1],
    [names.valid, 2],
  ] as const) {
    const { id } = await gateway.issue({ expiresAt: new Date(Date.now() + days * dayMs) });
    await gateway.database.prisma.apiToken.update({ where: { id }, data: { name } });
  }
}

test('a browser whose clock is a year ahead shows when API tokens expire by the time of the gateway', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  await issueExpiring({ expired: 'over', valid: 'valid' });
  const { page } = await openConsole(gateway, '/console', { secret: admin });
  await page.evaluate(`const now = Date.now; Date.now = () => now() + 366 * ${dayMs}; undefined`);
  await page.getByRole('link', { name: 'API tokens', exact: true }).click();
  await page.getByRole('row', { name: /valid.*expires soon.*in 2 days/ }).waitFor();
  await page.getByRole('row', { name: /over.*expired.*yesterday/ }).waitFor();
});

test('a gateway whose clock is three days behind: API tokens are created and shown as expired by the time of the database', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const startedMs = Date.now();
  await issueExpiring({ expired: 'expired yesterday', valid: 'of tomorrow' });
  const { page } = await openConsole(gateway, '/console', { secret: admin });
  // Its clock is in what it responds; Node.js takes that from no clock that a test can set.
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch();
    const date = new Date(startedMs - 3 * dayMs).toUTCString();
    await route.fulfill({ response, headers: { ...response.headers(), date } });
  });
  await page.getByRole('link', { name: 'API tokens', exact: true }).click();
  await page.getByRole('button', { name: 'Rotate of tomorrow' }).waitFor();
  // What is expired can only be revoked.
  const expired = page.getByRole('row', { name: /expired yesterday/ });
  expect(await expired.getByRole('button').allTextContents()).toEqual(['Revoke']);

  await page.getByRole('button', { name: 'New API token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('for a month');
  await dialog.getByRole('combobox', { name: 'Environment' }).selectOption('Testing');
  await dialog.getByRole('checkbox', { name: 'groups:read' }).check();
  await dialog.getByRole('combobox', { name: 'Expires' }).selectOption('In 30 days');
  await dialog.getByRole('button', { name: 'Create the API token' }).click();
  await dialog.getByText(/^ugk_/).waitFor();
  const created = await gateway.database.prisma.apiToken.findFirstOrThrow({ where: { name: 'for a month' } });
  expect(Math.round((Number(created.expiresAt) - startedMs) / dayMs)).toBe(30);
  await page.getByRole('button', { name: 'I have stored it' }).click();
});

test('changes whose responses are lost are not said to have failed; trying again makes them once, and shows the secrets', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { page, assertFlawless } = await openConsole(gateway, '/console/api-tokens', {
    secret: admin,
    expectedProblems: [lostResponse],
  });
  /** Submits the dialog twice: the first response is lost. @returns the secret. */
  const submitTwice = async (operation: string, button: string) => {
    await loseNextResponse(page, operation);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: button }).click();
    const alert = dialog.getByRole('alert').filter({ hasText: 'It is not known whether the change was made' });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/Trying again is safe/);
    expect(await alert.textContent()).not.toMatch(/was not|could not/);
    expect(await alert.evaluate((element) => element.getBoundingClientRect().top >= 0)).toBe(true);
    // Another change would be a second one, and the first would stay.
    await expect.poll(() => dialog.locator('[aria-disabled]').count()).toBe(0);
    for (const field of await dialog.locator('input, select').all()) expect(await field.isDisabled()).toBe(true);
    await assertFlawless();
    await dialog.getByRole('button', { name: button }).click();
    return (await dialog.getByText(/^ugk_/).textContent()) ?? '';
  };
  const nameOf = async (token: string) => (await gateway.graphql('{ caller { name } }', {}, { token })).json.data?.caller.name;
  await page.getByRole('button', { name: 'New API token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('lost');
  await dialog.getByRole('combobox', { name: 'Environment' }).selectOption('Testing');
  await dialog.getByRole('checkbox', { name: 'groups:read' }).check();
  const created = await submitTwice('CreateApiToken', 'Create the API token');
  expect(await nameOf(created)).toBe('lost');
  expect(await gateway.database.prisma.apiToken.count({ where: { name: 'lost' } })).toBe(1);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Rotate lost' }).click();
  await dialog.getByLabel('How long does the current secret still work?').selectOption('It stops working at once');
  expect(await nameOf(await submitTwice('RotateApiToken', 'Replace the secret'))).toBe('lost');
  const { id } = await gateway.database.prisma.apiToken.findFirstOrThrow({ where: { name: 'lost' } });
  const rotations = { type: 'api_token.rotated', subjectApiTokenId: id };
  expect(await gateway.database.prisma.event.count({ where: rotations })).toBe(1);
});

test('what a rotation makes of the secrets is said, also for a disabled API token, and for one that is in use here', async () => {
  const { secret: admin, id } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { id: other } = await gateway.issue();
  const change = (of: number, data: object) => gateway.database.prisma.apiToken.update({ where: { id: of }, data });
  await change(id, { name: 'in use' });
  await change(other, { name: 'switched off', enabled: false });
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret: admin, expectedProblems: [lostResponse] });
  const dialog = page.getByRole('dialog');
  const rotate = async (name: string) => {
    await page.getByRole('button', { name: `Rotate ${name}` }).click();
    await dialog.getByRole('button', { name: 'Replace the secret' }).click();
  };
  await rotate('switched off');
  await dialog.getByText('The API token is disabled: neither this secret nor the previous one works').waitFor();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await loseNextResponse(page, 'RotateApiToken');
  await rotate('in use');
  await dialog.getByText('Try again while the current secret works').waitFor();
});

test('after a mistake in a field, which Enter submitted, the field has the focus', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { id } = await gateway.issue();
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { name: 'mistaken' } });
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret: admin });
  await page.getByRole('button', { name: 'Edit mistaken' }).click();
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' });
  await name.fill('x'.repeat(256));
  await name.press('Enter');
  await page.getByRole('dialog').locator('.field-error').waitFor();
  expect(await name.evaluate((element) => element === document.activeElement)).toBe(true);
});

test('the dialog that revokes an API token says when it was last used, also if that was after the list was read', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { id } = await gateway.issue();
  const stored = (data = {}) => gateway.database.prisma.apiToken.update({ where: { id }, data });
  await stored({ name: 'used late' });
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret: admin });
  await page.getByRole('row', { name: /used late.*never/ }).waitFor();
  await stored({ lastUsedAt: new Date() });
  const release = await holdRequests(page, 'ApiTokenList');
  await page.getByRole('button', { name: 'Revoke used late' }).click();
  await page.getByRole('dialog').getByText('It is not known when it was last used.').waitFor();
  await release();
  await page.getByRole('dialog').getByText('It was last used').waitFor();
});

test('leaving is asked about once something was entered in a dialog', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { page } = await openConsole(gateway, '/console/webhooks', { secret: admin });
  await page.getByRole('link', { name: 'API tokens', exact: true }).click();
  await page.getByRole('button', { name: 'New API token' }).click();
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' });
  await name.fill('entered');
  const asked = page.waitForEvent('dialog').then((question) => question.dismiss());
  await page.goBack();
  await asked;
  await expect.poll(() => page.url()).toContain('/console/api-tokens');
  expect(await name.inputValue()).toBe('entered');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  const opener = page.getByRole('button', { name: 'New API token' });
  expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
});

test('the secret of an API token that is being rotated cannot be lost: nothing closes the dialog, and leaving is asked about', async () => {
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { id } = await gateway.issue();
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { name: 'to be rotated' } });
  const { page } = await openConsole(gateway, '/console/groups', { secret: admin });
  await page.getByRole('link', { name: 'API tokens' }).click();
  await page.getByRole('button', { name: 'Rotate to be rotated' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate to be rotated' });
  const release = await holdRequests(page, 'RotateApiToken');
  await dialog.getByRole('button', { name: 'Replace the secret' }).click();
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
  expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  const goBack = async () => {
    const asked = page.waitForEvent('dialog').then((question) => question.dismiss());
    await page.goBack();
    await asked;
    await expect.poll(() => page.url()).toContain('/console/api-tokens');
  };
  await goBack();
  await release();
  await page.getByRole('dialog', { name: 'The secret was replaced' }).getByText(/^ugk_/).waitFor();
  await goBack();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
});
