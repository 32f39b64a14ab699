import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addSchema, openConsole, save, textOf, untilSaved } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { enlargeStored } from '../support/large-groups.ts';
import { mutate } from '../support/user-group-mutations.ts';
import { createWebhook } from '../support/webhooks.ts';

let gateway: TestGateway;
let secret: string;
beforeAll(async () => {
  gateway = await startGateway();
  ({ secret } = await gateway.issue({ scopes: ['admin'] }));
});
afterAll(() => gateway.close());

const script = '"><img src=x onerror="document.title=1"><script>document.title=1</script>';

test('markup in names, ids, properties and URLs is text', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', {
    providedId: `id ${script}`,
    name: `name ${script}`,
    properties: { [script]: script },
    mapping: [{ schemaId: script, dataSource: 'javascript:document.title=1' }],
  });
  const { page } = await openConsole(gateway, '/console/groups', { secret, expectedProblems: [/status of 400/] });
  const open = async (path: string, text: string) => {
    await page.goto(gateway.url + path);
    await page.getByText(text).first().waitFor();
    expect(await page.title()).not.toBe('1');
    expect(await page.evaluate('document.querySelectorAll("main img, main script, [onerror], [href^=javascript]").length')).toBe(
      0,
    );
  };
  await open('/console/groups', `name ${script}`);
  await open(`/console/group?id=${userGroup.id}`, `name ${script}`);
  await open('/console/audit-log', `id ${script}`);
  const { webhook } = await createWebhook(gateway, secret, { url: 'https://hooks.invalid/?%22%3E<b>', description: script });
  await gateway.database.prisma.webhook.updateMany({
    data: { url: `https://${script}`, enabled: false, disabledReason: script },
  });
  const answer = { type: script, status: 'FAILED', responseStatus: 500, responseBody: `body ${script}`, error: script } as const;
  await gateway.database.prisma.webhookDelivery.create({
    data: { webhookId: webhook.number, eventId: script, body: script, nextAttemptAt: new Date(), ...answer },
  });
  await open('/console/webhooks', script);
  await open(`/console/webhook?id=${webhook.id}`, `https://${script}`);
  // Its own creation may have been sent to it, too.
  await page.getByRole('button', { name: `Details of ${script}` }).click();
  await page.getByText(`body ${script}`).waitFor();
  expect(await page.locator('dialog :is(img, script)').count()).toBe(0);
  // As JSON, in which the quotation marks are escaped.
  await open('/console/audit-log?type=WEBHOOK_CREATED', '<script>document.title=1</script>');
  const hostile = encodeURIComponent(script);
  await open(`/console/groups?search=${hostile}&property=${hostile}%3D1&sort=${hostile}&size=${hostile}`, 'No group matches');
  await open(`/console/audit-log?type=${hostile}#${hostile}`, 'The audit log could not be loaded');
  await open(`/console/group?id=${hostile}#${hostile}`, 'There is no such group');
  await open(`/console/webhook?id=${hostile}#${hostile}`, 'There is no such webhook');
  await open(`/console/webhook?id=${webhook.id}&status=${hostile}`, 'The webhook could not be loaded');
  await open('/console/nowhere', 'There is no such page');
});

test('characters that reverse the text after them are visible in the editor, and do not reverse what the console says', async () => {
  const hostile = 'a\u202eb';
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'stored', properties: { plan: hostile } });
  await gateway.database.prisma.userGroup.updateMany({ where: { providedId: 'stored' }, data: { providedId: hostile } });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, { secret });
  await page.locator('.cm-specialChar').waitFor();
  // What is loaded last moves the button.
  await page.getByText('user_group.created').waitFor();
  await page.getByRole('button', { name: 'Delete …' }).click();
  const label = page.getByRole('dialog').locator('label');
  expect(await label.textContent()).toBe(`Type ${hostile} to confirm`);
  expect(await label.locator('code').textContent()).toBe(hostile);
  await mutate(gateway, 'updateUserGroup', { by: { id: userGroup.id }, mergeProperties: { [hostile]: hostile } });
  await page.goto(`${gateway.url}/console/audit-log?type=USER_GROUP_UPDATED`);
  const row = page.getByRole('row', { name: 'properties.' });
  await row.waitFor();
  expect(await row.locator('th, td').allTextContents()).toEqual(['properties.a\\u202eb', '', '"a\\u202eb"']);

  const reversed = () =>
    page.evaluate(() => {
      const found: string[] = [];
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        if (!text.textContent?.includes('\u202e')) continue;
        let element = text.parentElement;
        while (element && getComputedStyle(element).unicodeBidi === 'normal') element = element.parentElement;
        found.push(element?.textContent === text.textContent ? 'alone' : `with ${element?.textContent}`);
      }
      return [...new Set(found)];
    });
  expect(await reversed()).toEqual(['alone']);
  await gateway.database.prisma.userGroup.updateMany({ where: { providedId: hostile }, data: { name: hostile } });
  await page.goto(`${gateway.url}/console/groups?search=${userGroup.teamId}`);
  await page.getByText('The group with the team id').waitFor();
  expect(await reversed()).toEqual(['alone']);
  await page.goto(`${gateway.url}/console/groups`);
  await page.getByRole('checkbox', { name: `Select ${hostile}` }).check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('dialog').waitFor();
  expect(await reversed()).toEqual(['alone']);
});

test('a name of spaces has a link all the same, and an id with spaces is shown as it has to be typed', async () => {
  const providedId = '  two  spaces  ';
  await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: ' ' });
  const { page } = await openConsole(gateway, '/console/groups?search=two', { secret });
  await page.getByRole('link', { name: 'two spaces' }).click();
  await page.getByRole('heading', { level: 1, name: 'two spaces' }).waitFor();
  // What is loaded last moves the button.
  await page.getByText('user_group.created').waitFor();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.locator('dialog label code').waitFor();
  expect(await page.evaluate('getComputedStyle(document.querySelector("dialog label code")).whiteSpace')).toBe('pre-wrap');
});

test.each(['groups?after=', 'audit-log?after=', 'api-tokens?before=', 'webhooks?after='])(
  'a cursor in a URL that is not valid, as long as a URL may be, is explained, with a way out: %s',
  async (path) => {
    const { page } = await openConsole(gateway, `/console/${path}${'x'.repeat(6_000)}`, {
      secret,
      expectedProblems: [/status of 400/],
    });
    await page.getByRole('alert').filter({ hasText: 'INVALID_INPUT' }).waitFor();
    await page.getByRole('button', { name: 'Show the whole list' }).click();
    await page.getByRole('navigation', { name: 'Pages of the list' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
  },
);

test.each([
  ['audit-log?typ=USER_GROUP_DELETED', 'typ=USER_GROUP_DELETED'],
  ['audit-log?type=USER_GROUP_CREATED&type=USER_GROUP_DELETED', 'type=USER_GROUP_DELETED'],
  ['audit-log?provided-id=a&provided-id=b', 'provided-id=b'],
  ['audit-log?group=a&provided-id=b', 'provided-id=b'],
  ['api-tokens?revoked=yes', 'revoked=yes'],
  ['api-tokens?revoked=TRUE', 'revoked=TRUE'],
  ['api-tokens?search=foo', 'search=foo'],
  ['webhooks?status=DISABLED', 'status=DISABLED'],
  ['webhook?id={webhook}&type=x', 'type=x'],
  ['webhook?id={webhook}&status=FAILED&status=PENDING', 'status=PENDING'],
  ['docs-config?strict=yes', 'strict=yes'],
  [`groups?search=${'x'.repeat(256)}`, `search=${'x'.repeat(256)}`],
])('a filter in a URL that there is none of is named, and nothing is shown as if it were used: %s', async (path, named) => {
  const { webhook } = await createWebhook(gateway, secret);
  const { page } = await openConsole(gateway, `/console/${path.replace('{webhook}', webhook.id)}`, { secret });
  const notice = page.getByRole('alert').filter({ hasText: `filters that cannot be used: ${named}.` });
  await notice.waitFor();
  const main = page.getByRole('main');
  expect(
    await main
      .getByRole('table')
      .or(main.getByRole('listitem').filter({ hasText: ' by ' }))
      .count(),
  ).toBe(0);
  await notice.getByRole('button').click();
  await notice.waitFor({ state: 'detached' });
  const left = path.startsWith('webhook?') ? `?id=${encodeURIComponent(webhook.id)}` : '';
  expect(new URL(page.url()).search).toBe(left);
});

/** Clicks twice before the page has a chance to show that the first click has started something. */
const clickTwice = (page: Page, button: string) =>
  page.getByRole('button', { name: button, exact: true }).evaluate((element) => {
    const { click } = element as unknown as { click(): void };
    click.call(element);
    click.call(element);
  });

test('two clicks at once create, replace and delete once', async () => {
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret });
  const mutations: string[] = [];
  page.on('request', (request) => {
    const name = /mutation (\w+)/.exec(request.postData() ?? '')?.[1];
    if (name) mutations.push(name);
  });
  await page.getByRole('button', { name: 'New API token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('twice');
  await dialog.getByRole('combobox', { name: 'Environment' }).selectOption('Testing');
  await dialog.getByRole('checkbox', { name: 'groups:read' }).check();
  await clickTwice(page, 'Create the API token');
  // The secret cannot be read again, so neither Escape, however often, nor the click outside closes it.
  const created = page.getByRole('dialog', { name: 'The API token was created' });
  await created.waitFor();
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  expect(await created.getByText(/^ugk_/).isVisible()).toBe(true);
  await clickTwice(page, 'I have stored it');
  await page.getByRole('button', { name: 'Rotate twice' }).click();
  await clickTwice(page, 'Replace the secret');
  await page.getByRole('dialog', { name: 'The secret was replaced' }).waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  expect(mutations).toEqual(['CreateApiToken', 'RotateApiToken']);
});

test('a group shows what is stored, also when the response to the first of two changes comes last', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'reversed', name: 'before' });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, { secret });
  const held: (() => void)[] = [];
  await page.route('**/graphql', async (route) => {
    if (!route.request().postData()?.includes('"name"')) return route.continue();
    const response = await route.fetch();
    await new Promise<void>((release) => held.push(release));
    return route.fulfill({ response });
  });
  await page.getByLabel('Display name').fill('after');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await expect.poll(() => held.length).toBe(1);
  await addSchema(page, 1, 'sales');
  await page.getByLabel('Data source of sales').fill('pg-1');
  await save(page, 'Save the mapping');
  held[0]?.();
  await untilSaved(page, 'Save the name');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('after');
  expect(await page.getByRole('button', { name: 'Save the mapping' }).isDisabled()).toBe(true);
});

test('a thousand mapping entries and 64 KiB of properties can be edited, also when no response is stored for an Idempotency-Key', async () => {
  const properties = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`property-${index}`, 'x'.repeat(85)]));
  const mapping = Array.from({ length: 1_000 }, (_, index) => ({
    schemaId: `schema-${index}`,
    dataSource: `source-${index}`.padEnd(28, '"'),
  }));
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', {
    providedId: 'large',
    name: 'Large',
    properties,
    mapping,
  });
  const { page, assertFitsPhone } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, {
    secret,
    expectedProblems: [/status of 400/],
  });
  const json = { errors: [{ message: 'Too much is stored.', extensions: { code: 'QUERY_TOO_COSTLY' } }] };
  await page.route('**/graphql', (route) =>
    route.request().headers()['idempotency-key'] ? route.fulfill({ status: 400, json }) : route.continue(),
  );
  await page.getByLabel('Data source of schema-999').fill('changed');
  await save(page, 'Save the mapping');
  const editor = page.getByRole('textbox', { name: 'Properties as JSON' });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.insertText('"added": 1,');
  await save(page, 'Save the properties');
  const query = 'query ($by: UserGroupBy!) { userGroup(by: $by) { properties mapping { dataSource } } }';
  const stored = (await gateway.graphql(query, { by: { id: userGroup.id } })).json.data.userGroup;
  expect(stored.properties).toEqual({ added: 1, ...properties });
  expect(stored.mapping.at(-1)).toEqual({ dataSource: 'changed' });
  await assertFitsPhone();
});

test('items that together are too large for a response are shown and exported in smaller pages, and hide no others', async () => {
  const count = 18;
  for (let index = 0; index < count; index += 1) await mutate(gateway, 'getOrCreateUserGroup', { providedId: `heavy-${index}` });
  await enlargeStored(gateway);
  const { page } = await openConsole(gateway, '/console/audit-log?type=USER_GROUP_CREATED', {
    secret,
    expectedProblems: [/status of 400/],
  });
  await page.getByText('heavy-17').first().waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('heavy-7').first().waitFor();

  await page.goto(`${gateway.url}/console/groups?search=heavy`);
  await page.getByRole('button', { name: 'Export' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  const lines = (await textOf(await downloading)).trimEnd().split('\n');
  const ids = lines.map((line) => JSON.parse(line).user_group_id);
  // The newest first.
  expect(ids).toEqual(Array.from({ length: count }, (_, index) => `heavy-${count - 1 - index}`));
});

test('a response that is not one of the gateway, such as a page of a proxy, is explained', async () => {
  const { page } = await openConsole(gateway, '/console/groups', { secret, expectedProblems: [/status of 5/] });
  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  for (const response of [
    { status: 502, body: '<h1>Bad gateway</h1>' },
    { status: 504, body: '{"message": "Gateway timeout"}' },
    { status: 503, body: '{"errors": [{"message": "upstream timed out"}]}' },
    { status: 504, body: '{"errors": [{"message": "timed out", "extensions": {"code": "GATEWAY_TIMEOUT"}}]}' },
    { status: 520, body: '{"errors": {"message": "upstream timed out"}}' },
    { status: 522, body: '{"errors": []}' },
    { status: 200, body: '{"data": null}' },
  ]) {
    await page.route('**/graphql', (route) => route.fulfill(response));
    await page.getByRole('searchbox').fill(response.body);
    await alert.getByText(`status ${response.status}, is not one of the gateway`).waitFor();
  }
});

test('a failure of the whole overview is shown once, and trying again loads every part', async () => {
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret, expectedProblems: [/status of 503/] });
  await page.route('**/graphql', (route) =>
    route.fulfill({ status: 503, json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] } }),
  );
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('The overview could not be loaded').waitFor();
  await expect.poll(() => page.getByText('Not known.').count()).toBe(2);
  expect(await page.getByText('UNAVAILABLE').count()).toBe(1);
  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('PostgreSQL').waitFor();
  await page.getByText('Requests per second').waitFor();
  await page.getByText('The overview could not be loaded').waitFor({ state: 'detached' });
});

test('the overview shows the version, the database, its migrations and its replicas', async () => {
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console', { secret });
  const instance = page.getByRole('region', { name: 'This instance' });
  await instance.getByText('PostgreSQL').waitFor();
  await page
    .getByRole('region', { name: 'Signed in with' })
    .getByText(/^#\d+$/)
    .waitFor();
  expect(await instance.textContent()).toMatch(
    /Version\d+\.\d+\.\d+.*PostgreSQL \d+.*external.*reachable.*\d+ applied.*Replicas/,
  );
  await assertFlawless();
  await assertFitsPhone();
});
