import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRequests, loseNextResponse, lostResponse, openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  ({ secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] }));
});
afterAll(() => gateway.close());

const isSuspended = async (providedId: string) =>
  (await gateway.database.prisma.userGroup.findFirst({ where: { providedId } }))?.suspended;

/** The second click of a double click, for which the browser does not mind what the first one has hit. */
async function clickAgain(button: Locator): Promise<void> {
  const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 };
  const { mouse } = button.page();
  await mouse.move(x + 9, y + 9);
  await mouse.down({ clickCount: 2 });
  await mouse.up({ clickCount: 2 });
}

test('the second click of a double click does not close the secret that the first one has brought', async () => {
  await gateway.database.prisma.apiToken.update({ where: { id: (await gateway.issue()).id }, data: { name: 'clicked twice' } });
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret: admin });
  await page.getByRole('button', { name: 'Rotate clicked twice' }).click();
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  const stored = page.getByRole('button', { name: 'I have stored it' });
  await clickAgain(stored);
  await page.getByRole('dialog').getByText(/^ugk_/).waitFor();
  await stored.click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('the second click of a double click sends nothing again, also if the first has been answered', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'sent' });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, { secret: admin });
  let sent = 0;
  page.on('request', (request) => {
    if (request.postData()?.includes('mutation CreateEmbedToken')) sent += 1;
  });
  const create = page.getByRole('button', { name: 'Create an embed token' });
  await create.click();
  await page.getByText(/^ey/).waitFor();
  await clickAgain(create);
  await page.evaluate('new Promise(requestAnimationFrame)');
  expect(sent).toBe(1);
});

test('a double click on the button that removes a row does not remove the next one', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'rows' });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`);
  for (let times = 0; times < 2; times += 1) await page.getByRole('button', { name: 'Add a schema' }).click();
  const remove = page.getByRole('button', { name: /^Remove schema/ });
  await expect.poll(() => remove.count()).toBe(2);
  await remove.first().dblclick();
  await page.getByRole('button', { name: 'Discard' }).hover();
  expect(await remove.count()).toBe(1);
});

test('an Enter that is held does not confirm the dialog that it has opened', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'held' });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`);
  await page.getByRole('button', { name: 'Suspend …' }).focus();
  await page.keyboard.down('Enter');
  const dialog = page.getByRole('dialog', { name: 'Suspend' });
  await dialog.getByRole('textbox').waitFor();
  await page.keyboard.down('Enter'); // again, without an end: the browser repeats it
  await page.keyboard.up('Enter');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await isSuspended('held')).toBe(false);
  await page.getByRole('button', { name: 'Suspend …' }).press('Enter');
  await dialog.getByRole('textbox').press('Enter');
  await expect.poll(() => isSuspended('held')).toBe(true);
});

test('an Enter that is held in a form creates one embed token, and in an editor begins new lines', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', {
    providedId: 'held-in-form',
    properties: { plan: 'gold' },
  });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, { secret: admin });
  let sent = 0;
  page.on('request', (request) => {
    if (request.postData()?.includes('mutation CreateEmbedToken')) sent += 1;
  });
  const hold = async (first: () => Promise<unknown>) => {
    for (let times = 0; times < 4; times += 1) {
      await page.keyboard.down('Enter'); // the browser repeats all but the first
      if (times === 0) await first();
    }
    await page.keyboard.up('Enter');
  };
  await page.getByLabel('Audience (optional)').focus();
  await hold(() => page.getByText(/^ey/).waitFor());
  await page.evaluate('new Promise(requestAnimationFrame)');
  expect(sent).toBe(1);
  const editor = page.getByRole('textbox', { name: 'Properties as JSON' });
  await editor.focus();
  const lines = page.locator('.cm-line');
  const before = await lines.count();
  await hold(async () => {});
  expect((await lines.count()) - before).toBe(4);
});

test('a person who signs out in another tab ends the deletion of several groups', async () => {
  const ids = ['half-1', 'half-2', 'half-3'];
  for (const providedId of ids) await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: providedId });
  const { page } = await openConsole(gateway, '/console/groups?search=half');
  for (const name of ids) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByLabel('Type 3 to confirm').fill('3');
  const release = await holdRequests(page, 'DeleteGroup');
  const deleting = page.waitForRequest((request) => request.postData()?.includes('DeleteGroup') === true);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await deleting;
  const other = await page.context().newPage();
  await other.goto(`${gateway.url}/console/groups`);
  await other.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  await other.close();
  let sent = 0;
  page.on('request', (request) => {
    if (request.postData()?.includes('DeleteGroup')) sent += 1;
  });
  await release();
  await page.evaluate(() => fetch('/livez')); // what follows from the response has begun before
  expect(sent).toBe(0);
  expect(await gateway.database.prisma.userGroup.count({ where: { providedId: { in: ids } } })).toBe(2);
});

test('leaving is asked about while it is not known whether a change without fields was made', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'resumed' });
  await mutate(gateway, 'suspendUserGroup', { by: { id: userGroup.id } });
  const { page } = await openConsole(gateway, '/console/groups', { expectedProblems: [lostResponse] });
  await page.getByRole('row', { name: 'resumed' }).getByRole('link').click();
  await page.getByRole('button', { name: 'Resume …' }).click();
  await loseNextResponse(page, 'ResumeGroup');
  await page.getByRole('button', { name: 'Resume the group' }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
  const asked = page.waitForEvent('dialog').then((question) => question.dismiss());
  await page.goBack();
  await asked;
  await page.getByRole('button', { name: 'Resume the group' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
});
