import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { loseNextResponse, lostResponse, openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';
import { createWebhook } from '../support/webhooks.ts';

let gateway: TestGateway;
let secret: string;
let receiver: Receiver;
const succeed = (response: ServerResponse) => void response.writeHead(204).end();
let respond = succeed;
beforeAll(async () => {
  gateway = await startGateway(undefined, { introspection: true, webhooksAllowedNetworks: ['127.0.0.0/8'] });
  ({ secret } = await gateway.issue({ environment: null, scopes: ['admin'] }));
  receiver = await startReceiver((response) => respond(response));
});
afterEach(async () => {
  respond = succeed;
  await gateway.database.pool.query('truncate webhook, webhook_delivery');
  receiver.received.length = 0;
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

const open = async (path: string, expectedProblems: RegExp[] = []) => {
  const { page } = await openConsole(gateway, path, { secret, expectedProblems });
  return { page, dialog: page.getByRole('dialog'), click: (name: string) => page.getByRole('button', { name }).first().click() };
};

test('a person creates a webhook, tries it out, sends events again, rotates its secret, and deletes it', async () => {
  const { page, dialog, click } = await open('/console/webhooks');
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  await click('New webhook');
  await dialog.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/hooks`);
  await dialog.getByRole('textbox', { name: 'Description' }).fill('search index');
  await dialog.getByRole('checkbox', { name: 'All, also those of later versions' }).uncheck();
  expect(await dialog.getByRole('button', { name: 'Create the webhook' }).isDisabled()).toBe(true);
  await dialog.getByRole('checkbox', { name: 'user_group.created' }).check();
  await dialog.getByRole('checkbox', { name: 'All, Customer among them' }).uncheck();
  await dialog.getByRole('checkbox', { name: 'Testing' }).check();
  await click('Create the webhook');
  const created = (await dialog.getByText(/^whsec_/).textContent()) ?? '';
  await click('I have stored it');
  await page.getByRole('heading', { level: 1, name: /^Webhook \d+ enabled/ }).waitFor();
  expect(await page.content()).not.toContain(created);
  const stored = await gateway.database.prisma.webhook.findFirstOrThrow();
  expect(stored).toMatchObject({ url: `${receiver.url}/hooks`, types: ['user_group.created'], environments: ['Testing'] });

  await click('Send test event');
  await page.getByRole('row', { name: /webhook\.test.*delivered.*204/ }).waitFor();
  const verify = (key: string) => {
    const { body = '', headers = {} } = receiver.received.at(-1) ?? {};
    return new Webhook(key).verify(body, headers as Record<string, string>);
  };
  expect(verify(created)).toMatchObject({ type: 'webhook.test' });

  for (const providedId of ['first', 'second']) await mutate(gateway, 'getOrCreateUserGroup', { providedId });
  await expect.poll(() => receiver.received.length).toBe(3);
  await click('Refresh');
  const delivered = page.getByRole('row', { name: /user_group\.created.*delivered/ });
  await expect.poll(() => delivered.count()).toBe(2);
  await delivered.first().getByRole('button', { name: 'Details of user_group.created' }).click();
  expect(await dialog.textContent()).toMatch(/"provided_id": "second".*Response 204/s);
  await dialog.getByRole('button', { name: 'Redeliver' }).click();
  await expect.poll(() => delivered.count()).toBe(3);
  await page.getByRole('checkbox', { name: 'Select every delivery on this page' }).check();
  await page.getByRole('region', { name: 'Selected deliveries' }).getByRole('button', { name: 'Redeliver' }).click();
  // Each event once, of which one was delivered twice.
  await expect.poll(() => delivered.count()).toBe(5);
  expect(new Set(receiver.received.slice(1).map(({ headers }) => headers['webhook-id'])).size).toBe(2);

  await click('Rotate the secret …');
  await dialog.getByLabel('How long does the current secret still work?').selectOption('For 1 hour');
  await click('Replace the secret');
  const rotated = (await dialog.getByText(/^whsec_/).textContent()) ?? '';
  expect(await dialog.textContent()).toContain('signed with the previous secret for 1 hour');
  await click('I have stored it');
  await page.getByText('also signs until').waitFor();
  await click('Send test event');
  await expect.poll(() => receiver.received.length).toBe(7);
  for (const key of [created, rotated]) verify(key);

  await click('Delete …');
  await dialog.getByRole('textbox').fill(String(stored.id));
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  expect(await gateway.database.prisma.webhook.count()).toBe(0);
});

test('a person sees why deliveries fail, and that the gateway disabled the webhook, and enables it again', async () => {
  respond = (response) => void response.writeHead(500).end('<b>out of order</b>');
  const { webhook } = await createWebhook(gateway, secret, { url: receiver.url, types: ['USER_GROUP_DELETED'] });
  const { page, click } = await open(`/console/webhook?id=${webhook.id}`);
  await click('Send test event');
  await page.getByRole('row', { name: /webhook\.test.*pending.*500 <b>out of order<\/b>.*in less than a minute/ }).waitFor();
  // Its second attempt would come after five seconds, and get the response to the next event.
  await gateway.database.prisma.webhookDelivery.updateMany({ data: { nextAttemptAt: new Date('2100-01-01') } });
  await page.getByRole('heading', { level: 1, name: /failing/ }).waitFor();
  respond = (response) => void response.writeHead(410).end();
  await click('Send test event');
  await expect.poll(() => gateway.database.prisma.webhook.count({ where: { enabled: false } })).toBe(1);
  await click('Refresh');
  const notice = page.getByText('Disabled', { exact: true }).locator('..');
  expect(await notice.textContent()).toMatch(/410.*Nothing is sent until it is enabled again/);
  await page.getByLabel('Status').selectOption('Delivered');
  await page.getByRole('heading', { name: 'No delivery matches' }).waitFor();
  respond = succeed;
  await click('Enable …');
  await click('Enable the webhook');
  await page.getByRole('heading', { level: 1, name: /enabled/ }).waitFor();
  // What was pending is sent.
  await expect.poll(() => gateway.database.prisma.webhookDelivery.count({ where: { status: 'DELIVERED' } })).toBe(2);
  await click('Disable …');
  await click('Disable the webhook');
  await page.getByText('Disabled by an administrator').waitFor();
});

test('a change of a webhook sends only what was changed, a mistake is shown at its field, and the audit log has all of it', async () => {
  const { webhook } = await createWebhook(gateway, secret, { types: ['USER_GROUP_UPDATED'], description: 'before' });
  const { page, dialog, click } = await open(`/console/webhook?id=${webhook.id}`);
  await click('Edit …');
  const url = dialog.getByRole('textbox', { name: 'URL' });
  await url.fill('ftp://example.com');
  await click('Save');
  await dialog.locator('.field-error', { hasText: 'must be an https URL' }).waitFor();
  // Somebody else changes what is not changed here.
  await gateway.database.prisma.webhook.updateMany({ data: { types: ['user_group.deleted'] } });
  await url.fill('https://example.com/secret-path');
  await dialog.getByRole('textbox', { name: 'Description' }).fill('');
  await click('Save');
  await page.getByText('https://example.com/secret-path').waitFor();
  const stored = await gateway.database.prisma.webhook.findFirst();
  expect(stored).toMatchObject({ description: null, types: ['user_group.deleted'] });
  await page.getByRole('link', { name: 'Audit log' }).click();
  const events = page.getByRole('main').getByRole('listitem').filter({ hasText: 'webhook.updated' });
  const event = events.filter({ hasText: `Webhook ${webhook.number} by test` });
  await event.waitFor();
  expect(await event.getByRole('row').allTextContents()).toEqual([
    'FieldBeforeAfter',
    'url"https://hooks.invalid""https://example.com"',
    'description"before"null',
  ]);
});

test('a webhook that is created again after a response is lost is one', async () => {
  const { page, dialog, click } = await open('/console/webhooks', [lostResponse]);
  await click('New webhook');
  await dialog.getByRole('textbox', { name: 'URL' }).fill('https://hooks.invalid/once');
  await loseNextResponse(page, 'CreateWebhook');
  await click('Create the webhook');
  await dialog.getByText('It is not known whether the change was made').waitFor();
  for (const field of await dialog.locator('input').all()) expect(await field.isDisabled()).toBe(true);
  await click('Create the webhook');
  await dialog.getByText(/^whsec_/).waitFor();
  expect(await gateway.database.prisma.webhook.count()).toBe(1);
  await click('I have stored it');
});

test('a webhook that another person has deleted is not shown any longer', async () => {
  const { webhook } = await createWebhook(gateway, secret);
  const { page, click } = await open(`/console/webhook?id=${webhook.id}`, [/status of 400/]);
  await page.getByRole('button', { name: 'Delete …' }).waitFor();
  await gateway.database.prisma.webhook.deleteMany();
  await click('Delete …');
  await page.getByRole('heading', { name: 'There is no such webhook' }).waitFor();
});
