import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { createWebhook } from '../support/webhooks.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('what is chosen and taken back is not sent', async () => {
  const { secret } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { webhook } = await createWebhook(gateway, secret, { types: ['USER_GROUP_CREATED', 'USER_GROUP_DELETED'] });
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, { secret });
  const save = async (change: () => Promise<void>) => {
    await page.getByRole('button', { name: 'Edit …' }).click();
    const dialog = page.getByRole('dialog');
    await change();
    const sent = page.waitForRequest((request) => request.postData()?.includes('mutation UpdateWebhook') === true);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { id, ...changes } = (await sent).postDataJSON().variables.input;
    return changes;
  };
  const toggle = (name: string) => page.getByRole('checkbox', { name }).click();
  const takenBack = await save(async () => {
    await page.getByRole('textbox', { name: 'Description' }).fill('another');
    for (let times = 0; times < 2; times += 1) await toggle('user_group.created');
    for (let times = 0; times < 2; times += 1) await toggle('All, Customer among them');
  });
  expect(takenBack).toEqual({ description: 'another' });
  expect(await save(() => toggle('user_group.created'))).toEqual({ types: ['USER_GROUP_DELETED'] });
});

test('the form of a new group says that spaces around a provided id are a part of it', async () => {
  const { page, assertFlawless } = await openConsole(gateway, '/console/groups');
  await page.getByRole('button', { name: 'New group' }).first().click();
  const field = page.getByRole('dialog').getByLabel('Provided id');
  const hint = page.getByText('begins or ends with a space');
  await field.fill('acme');
  expect(await hint.count()).toBe(0);
  await field.fill('  acme ');
  await hint.waitFor();
  await assertFlawless();
});
