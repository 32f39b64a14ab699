import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { holdRequests, loseNextResponse, lostResponse, openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';
import { createWebhook } from '../support/webhooks.ts';

let gateway: TestGateway;
let admin: string;
let receiver: Receiver;
let respond: (response: ServerResponse) => void;
beforeAll(async () => {
  gateway = await startGateway(undefined, { introspection: true, webhooksAllowedNetworks: ['127.0.0.0/8'] });
  ({ secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] }));
  receiver = await startReceiver((response) => respond(response));
});
afterEach(async () => {
  await gateway.database.pool.query('truncate webhook, webhook_delivery');
  receiver.received.length = 0;
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

const succeed = (response: ServerResponse) => void response.writeHead(204).end();

/** How long a gateway without webhooks may take to notice that there is one. */
const noticed = { timeout: 20_000 };

test('a person creates a webhook, tries it out, sends events again, rotates its secret, and deletes it', async () => {
  respond = succeed;
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/groups', { secret: admin });
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  await assertFlawless();
  await page.getByRole('button', { name: 'New webhook' }).click();
  let dialog = page.getByRole('dialog', { name: 'New webhook' });
  await dialog.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/hooks`);
  await dialog.getByRole('textbox', { name: 'Description' }).fill('search index');
  await dialog.getByRole('checkbox', { name: 'All, also those of later versions' }).uncheck();
  const create = dialog.getByRole('button', { name: 'Create the webhook' });
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByRole('checkbox', { name: 'user_group.created' }).check();
  await dialog.getByRole('checkbox', { name: 'All, Customer among them' }).uncheck();
  await dialog.getByRole('checkbox', { name: 'Testing' }).check();
  await assertFlawless();
  await create.click();

  dialog = page.getByRole('dialog', { name: 'The webhook was created' });
  const secret = (await dialog.getByText(/^whsec_/).textContent()) ?? '';
  await page.keyboard.press('Escape');
  await assertFlawless();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  const heading = page.getByRole('heading', { level: 1, name: /^Webhook \d+ enabled/ });
  await heading.waitFor();
  expect(await page.content()).not.toContain(secret);
  const [stored] = await gateway.database.prisma.webhook.findMany();
  expect(stored).toMatchObject({ url: `${receiver.url}/hooks`, types: ['user_group.created'], environments: ['Testing'] });

  await page.getByRole('button', { name: 'Send test event' }).click();
  const tested = page.getByRole('row', { name: /webhook\.test.*delivered.*204/ });
  await tested.waitFor(noticed);
  const [{ body, headers } = { body: '', headers: {} }] = receiver.received;
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ type: 'webhook.test' });
  expect(await tested.getByRole('checkbox').count()).toBe(0);

  for (const providedId of ['first', 'second']) await mutate(gateway, 'getOrCreateUserGroup', { providedId });
  await expect.poll(() => receiver.received.length, noticed).toBe(3);
  await page.getByRole('button', { name: 'Refresh' }).click();
  const created = page.getByRole('row', { name: /user_group\.created.*delivered/ });
  await expect.poll(() => created.count()).toBe(2);
  await created.first().getByRole('button', { name: 'Details of user_group.created' }).click();
  dialog = page.getByRole('dialog', { name: 'Delivery of user_group.created' });
  expect(await dialog.textContent()).toMatch(/"provided_id": "second".*Response 204/s);
  await assertFlawless();
  await dialog.getByRole('button', { name: 'Redeliver' }).click();
  await expect.poll(() => created.count()).toBe(3);
  await page.getByRole('checkbox', { name: 'Select every delivery on this page' }).check();
  const selection = page.getByRole('region', { name: 'Selected deliveries' });
  expect(await selection.textContent()).toContain('3 selected');
  await assertFlawless();
  await selection.getByRole('button', { name: 'Redeliver' }).click();
  // Each event once, of which one was delivered twice.
  await expect.poll(() => created.count()).toBe(5);
  const ids = receiver.received.slice(1).map((delivery) => delivery.headers['webhook-id']);
  expect([ids.length, new Set(ids).size]).toEqual([5, 2]);

  await page.getByRole('button', { name: 'Rotate the secret …' }).click();
  dialog = page.getByRole('dialog', { name: /^Rotate the secret/ });
  await dialog.getByLabel('How long does the current secret still work?').selectOption('For 1 hour');
  await dialog.getByRole('button', { name: 'Replace the secret' }).click();
  dialog = page.getByRole('dialog', { name: 'The secret was replaced' });
  const rotated = (await dialog.getByText(/^whsec_/).textContent()) ?? '';
  expect(await dialog.textContent()).toContain('signed with the previous secret for 1 hour');
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('also signs until').waitFor();
  await page.getByRole('button', { name: 'Send test event' }).click();
  await expect.poll(() => receiver.received.length).toBe(7);
  const last = receiver.received.at(-1);
  for (const key of [secret, rotated]) new Webhook(key).verify(last?.body ?? '', last?.headers as Record<string, string>);
  await assertFlawless();
  await assertFitsPhone();

  await page.getByRole('button', { name: 'Delete …' }).click();
  dialog = page.getByRole('dialog', { name: /^Delete webhook/ });
  await dialog.getByRole('textbox').fill(String(stored?.id));
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  expect(await gateway.database.prisma.webhook.count()).toBe(0);
});

test('a person sees why deliveries fail, and that the gateway disabled the webhook, and enables it again', async () => {
  respond = (response) => void response.writeHead(500).end('<b>out of order</b>');
  const { webhook } = await createWebhook(gateway, admin, {
    url: receiver.url,
    description: 'search index',
    types: ['USER_GROUP_DELETED'],
  });
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/webhooks', { secret: admin });
  await page.getByRole('row', { name: /search index.*enabled.*user_group\.deleted.*All.*never/ }).waitFor();
  await page.getByRole('link', { name: receiver.url }).click();
  await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
  await assertFlawless();
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page
    .getByRole('row', { name: /webhook\.test.*pending.*500 <b>out of order<\/b>.*in less than a minute/ })
    .waitFor(noticed);
  // Its second attempt would come after five seconds, and get the response to the next event.
  await gateway.database.prisma.webhookDelivery.updateMany({ data: { nextAttemptAt: new Date('2100-01-01') } });
  await page.getByText('Every attempt has failed since').waitFor();
  await page.getByRole('heading', { level: 1, name: /failing/ }).waitFor();

  respond = (response) => void response.writeHead(410).end();
  await page.getByRole('button', { name: 'Send test event' }).click();
  await expect.poll(() => gateway.database.prisma.webhook.count({ where: { enabled: false } })).toBe(1);
  await page.getByRole('button', { name: 'Refresh' }).click();
  const notice = page.getByText('Disabled', { exact: true }).locator('..');
  expect(await notice.textContent()).toMatch(/410.*Nothing is sent until it is enabled again/);
  expect(await page.getByRole('button', { name: 'Send test event' }).isDisabled()).toBe(true);
  // As after the last attempt.
  await gateway.database.prisma.webhookDelivery.updateMany({ where: { responseStatus: 410 }, data: { status: 'FAILED' } });
  await page.getByLabel('Status').selectOption('Failed');
  const failed = page.getByRole('row', { name: /webhook\.test.*failed.*410/ });
  await page
    .getByRole('row', { name: /pending/ })
    .first()
    .waitFor({ state: 'detached' });
  expect(await failed.count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('status')).toBe('FAILED');
  await assertFlawless();
  await page.getByLabel('Status').selectOption('Delivered');
  await page.getByRole('heading', { name: 'No delivery matches' }).waitFor();

  respond = succeed;
  await page.getByRole('button', { name: 'Enable …' }).click();
  const dialog = page.getByRole('dialog', { name: `Enable webhook ${webhook.number}` });
  await dialog.getByText('then the events since it was disabled').waitFor();
  await assertFlawless();
  await dialog.getByRole('button', { name: 'Enable the webhook' }).click();
  await page.getByRole('heading', { level: 1, name: /enabled/ }).waitFor();
  await page.getByLabel('Status').selectOption('Every status');
  // What was pending is sent.
  await expect.poll(() => gateway.database.prisma.webhookDelivery.count({ where: { status: 'DELIVERED' } }), noticed).toBe(1);

  await page.getByRole('button', { name: 'Disable …' }).click();
  await page.getByRole('dialog').getByText('Then it gets the events of that time, too.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable the webhook' }).click();
  await page.getByText('Disabled by an administrator').waitFor();
  await assertFlawless();
  await assertFitsPhone();
  await page.goto(`${gateway.url}/console/audit-log?type=WEBHOOK_DISABLED`);
  const event = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ hasText: `Webhook ${webhook.number} by the gateway` });
  expect(await event.getByRole('row', { name: /^disabledReason/ }).textContent()).toContain('410');
});

test('a change of a webhook sends only what was changed, a mistake is shown at its field, and the audit log has all of it', async () => {
  const { webhook } = await createWebhook(gateway, admin, { types: ['USER_GROUP_UPDATED'], description: 'before' });
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, {
    secret: admin,
  });
  await page.getByRole('button', { name: 'Edit …' }).click();
  const dialog = page.getByRole('dialog', { name: `Edit webhook ${webhook.number}` });
  await dialog.getByRole('textbox', { name: 'URL' }).fill('ftp://example.com');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.locator('.field-error', { hasText: 'must be an https URL' }).waitFor();
  await assertFlawless();
  // Somebody else changes what is not changed here.
  await gateway.database.prisma.webhook.updateMany({ data: { types: ['user_group.deleted'] } });
  await dialog.getByRole('textbox', { name: 'URL' }).fill('https://example.com/secret-path');
  await dialog.getByRole('textbox', { name: 'Description' }).fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('https://example.com/secret-path').waitFor();
  const [stored] = await gateway.database.prisma.webhook.findMany();
  expect(stored).toMatchObject({ description: null, types: ['user_group.deleted'] });

  await page.getByRole('link', { name: 'Audit log' }).click();
  const events = page.getByRole('main').getByRole('listitem');
  const event = events.filter({ hasText: 'webhook.updated' }).filter({ hasText: `Webhook ${webhook.number} by test` });
  await event.waitFor();
  expect(await event.getByRole('row').allTextContents()).toEqual([
    'FieldBeforeAfter',
    'url"https://hooks.invalid""https://example.com"',
    'description"before"null',
  ]);
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'webhook.created' });
  await event.waitFor({ state: 'detached' });
  const first = events.filter({ hasText: `Webhook ${webhook.number} by test` });
  expect(await first.getByRole('row', { name: /^types/ }).textContent()).toContain('user_group.updated');
  await assertFlawless();
  await assertFitsPhone();
});

test('the dialog that disables a webhook does not come to mean the opposite when another person disables it', async () => {
  const held: ServerResponse[] = [];
  respond = (response) => void held.push(response);
  const { webhook } = await createWebhook(gateway, admin, { url: receiver.url });
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, { secret: admin });
  // The page is loaded again each second while something is being sent.
  await page.getByRole('button', { name: 'Send test event' }).click();
  await expect.poll(() => held.length, noticed).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Disable …' }).click();
  const dialog = page.getByRole('dialog', { name: /^Disable webhook/ });
  await dialog.waitFor();
  await gateway.database.prisma.webhook.updateMany({ data: { enabled: false } });
  await page.locator('h1', { hasText: 'disabled' }).waitFor();
  await dialog.getByRole('button', { name: 'Disable the webhook' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await gateway.database.prisma.webhook.findFirstOrThrow()).enabled).toBe(false);
  respond = succeed;
  held.forEach(succeed);
});

test('a webhook that is created again after a response is lost is one, and its fields stay as they were sent', async () => {
  const { page } = await openConsole(gateway, '/console/webhooks', { secret: admin, expectedProblems: [lostResponse] });
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'URL' }).fill('https://hooks.invalid/once');
  await loseNextResponse(page, 'CreateWebhook');
  await dialog.getByRole('button', { name: 'Create the webhook' }).click();
  await dialog.getByText('It is not known whether the change was made').waitFor();
  for (const field of await dialog.locator('input').all()) expect(await field.isDisabled()).toBe(true);
  await dialog.getByRole('button', { name: 'Create the webhook' }).click();
  await dialog.getByText(/^whsec_/).waitFor();
  expect(await gateway.database.prisma.webhook.count()).toBe(1);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
});

test('the dialog that replaces a secret says that another one still signs, also if it was replaced after the page was read', async () => {
  const { webhook } = await createWebhook(gateway, admin);
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, { secret: admin });
  await page.getByRole('button', { name: 'Rotate the secret …' }).waitFor();
  const mutation = `mutation { rotateWebhookSecret(input: { id: "${webhook.id}", overlapSeconds: 3600 }) { __typename } }`;
  await gateway.graphql(mutation, {}, { token: admin });
  await page.getByRole('button', { name: 'Rotate the secret …' }).click();
  await page.getByRole('dialog').getByText('The secret that was replaced before this one stops working at once.').waitFor();
});

test('a test event whose response comes late leaves a secret that is shown meanwhile', async () => {
  const { webhook } = await createWebhook(gateway, admin);
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}&status=FAILED`, {
    secret: admin,
    expectedProblems: [lostResponse],
  });
  const release = await holdRequests(page, 'SendTestEvent');
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByRole('button', { name: 'Rotate the secret …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click();
  const shown = page.getByRole('dialog').getByText(/^whsec_/);
  await shown.waitFor();
  await loseNextResponse(page, 'Webhook');
  await release();
  await page.getByText('A test event is sent').waitFor();
  await page.getByText('The webhook could not be loaded').first().waitFor();
  expect(await shown.isVisible()).toBe(true);
});

test('a webhook that another person has deleted since is not shown any longer', async () => {
  const { webhook } = await createWebhook(gateway, admin);
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, {
    secret: admin,
    expectedProblems: [/status of 400/],
  });
  await page.getByRole('button', { name: 'Delete …' }).waitFor();
  await gateway.database.prisma.webhook.deleteMany();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('heading', { name: 'There is no such webhook' }).waitFor();
});

test.each(['Delete …', 'Disable …'])(
  'the dialog of %s names the endpoint of now, also if it was changed after the page was read',
  async (name) => {
    const { webhook } = await createWebhook(gateway, admin, { types: ['USER_GROUP_DELETED'] }); // nothing is sent
    const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, {
      secret: admin,
      expectedProblems: [lostResponse],
    });
    await page.getByRole('button', { name }).waitFor();
    const url = 'https://example.com/of-another-person';
    await gateway.graphql(
      `mutation { updateWebhook(input: { id: "${webhook.id}", url: "${url}" }) { __typename } }`,
      {},
      { token: admin },
    );
    await loseNextResponse(page, 'Webhook');
    await page.getByRole('button', { name }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The webhook could not be loaded').waitFor();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText(url).waitFor();
  },
);

test('an event that was redelivered without a response is sent again when it is redelivered after another one', async () => {
  respond = succeed;
  const { webhook } = await createWebhook(gateway, admin, { url: receiver.url, types: ['USER_GROUP_CREATED'] });
  for (const providedId of ['one', 'other']) await mutate(gateway, 'getOrCreateUserGroup', { providedId });
  await expect.poll(() => receiver.received.length, noticed).toBe(2);
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, {
    secret: admin,
    expectedProblems: [lostResponse],
  });
  const details = page.getByRole('button', { name: 'Details of user_group.created' });
  const dialog = page.getByRole('dialog');
  /** Redelivers an event, by its first delivery: the newest are listed first. */
  const redeliver = async (fromEnd: number) => {
    await details.nth((await details.count()) - fromEnd).click();
    await dialog.getByRole('button', { name: 'Redeliver' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await loseNextResponse(page, 'RedeliverEvents');
  await redeliver(1);
  await page.getByText('It is not known whether the change was made').waitFor();
  await expect.poll(() => receiver.received.length).toBe(3);
  await redeliver(2);
  await expect.poll(() => receiver.received.length).toBe(4);
  await expect.poll(() => details.count()).toBe(4);
  await redeliver(1);
  await expect.poll(() => receiver.received.length).toBe(5);
});

test('the dialog of a delivery says that the list no longer shows it', async () => {
  const { webhook } = await createWebhook(gateway, admin);
  const { id: webhookId } = await gateway.database.prisma.webhook.findFirstOrThrow();
  const late = { webhookId, eventId: 'of-a-test', type: 'user_group.created', body: '{}', nextAttemptAt: new Date('2100-01-01') };
  await gateway.database.prisma.webhookDelivery.create({ data: late });
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, { secret: admin });
  await page.getByRole('button', { name: 'Details of user_group.created' }).click();
  const notice = page.getByRole('dialog').getByText('The list no longer shows it');
  await page.getByRole('dialog').getByText('pending').waitFor();
  expect(await notice.count()).toBe(0);
  await gateway.database.prisma.webhookDelivery.deleteMany();
  await notice.waitFor();
});

test('a test event is sent with each click, also after one without a response, and its failure ends with an edit', async () => {
  respond = succeed;
  const { webhook } = await createWebhook(gateway, admin, { url: receiver.url, types: ['USER_GROUP_CREATED'] });
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, {
    secret: admin,
    expectedProblems: [lostResponse],
  });
  const sendTest = page.getByRole('button', { name: 'Send test event' });
  await loseNextResponse(page, 'SendTestEvent');
  await sendTest.click();
  const failure = page.getByText('It is not known whether the test event was sent');
  await failure.waitFor();
  await page.getByRole('button', { name: 'Edit …' }).click();
  await page.getByLabel('Description').fill('edited');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('edited').waitFor();
  expect(await failure.count()).toBe(0);
  await sendTest.focus();
  for (let times = 0; times < 3; times += 1) await page.keyboard.down('Enter'); // the browser repeats the second and the third
  await page.keyboard.up('Enter');
  await page.getByText('A test event is sent').waitFor();
  await expect.poll(() => receiver.received.length, noticed).toBe(2);
});

test('an event is not redelivered while another one is: its button waits', async () => {
  respond = succeed;
  const { webhook } = await createWebhook(gateway, admin, { url: receiver.url, types: ['USER_GROUP_CREATED'] });
  for (const providedId of ['sent-first', 'sent-second']) await mutate(gateway, 'getOrCreateUserGroup', { providedId });
  await expect.poll(() => receiver.received.length, noticed).toBe(2);
  const { page } = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, { secret: admin });
  const details = page.getByRole('button', { name: 'Details of user_group.created' });
  const redeliver = page.getByRole('dialog').getByRole('button', { name: 'Redeliver' });
  const release = await holdRequests(page, 'RedeliverEvents');
  await details.nth(0).click();
  await redeliver.click();
  await details.nth(1).click();
  expect(await redeliver.getAttribute('aria-disabled')).toBe('true');
  await release();
  await redeliver.and(page.locator(':not([aria-disabled])')).click();
  await expect.poll(() => receiver.received.length, noticed).toBe(4);
});

test('a person without the scope, a webhook that does not exist, and a failure are explained', async () => {
  const expectedProblems = [/status of (400|503)/];
  const { page, assertFlawless } = await openConsole(gateway, '/console/webhooks', { expectedProblems });
  await page.getByText('This page requires the scope').waitFor();
  const { webhook } = await createWebhook(gateway, admin);
  await gateway.database.prisma.webhook.deleteMany();
  const opened = await openConsole(gateway, `/console/webhook?id=${webhook.id}`, { secret: admin, expectedProblems });
  await opened.page.getByRole('heading', { name: 'There is no such webhook' }).waitFor();
  await opened.page.goto(`${gateway.url}/console/webhook?id=nonsense`);
  await opened.page.getByRole('heading', { name: 'There is no such webhook' }).waitFor();
  await opened.assertFlawless();
  await opened.page.route('**/graphql', (route) =>
    route.request().postData()?.includes('WebhookList')
      ? route.fulfill({ status: 503, json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] } })
      : route.continue(),
  );
  await opened.page.getByRole('link', { name: 'All webhooks' }).click();
  await opened.page.getByText('The webhooks could not be loaded').waitFor();
  await assertFlawless();
});
