import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole, propertiesIn, save } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
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
  const { webhook } = await createWebhook(gateway, secret, { url: 'https://hooks.invalid/?%22%3E<b>', description: script });
  await gateway.database.prisma.webhook.updateMany({
    data: { url: `https://${script}`, enabled: false, disabledReason: script },
  });
  const answer = { type: script, status: 'FAILED', responseStatus: 500, responseBody: `body ${script}`, error: script } as const;
  await gateway.database.prisma.webhookDelivery.create({
    data: { webhookId: webhook.number, eventId: script, body: script, nextAttemptAt: new Date(), ...answer },
  });
  const { page } = await openConsole(gateway, '/console', { secret, expectedProblems: [/status of 400/] });
  const query = encodeURIComponent(script);
  for (const [path, text] of [
    ['groups', `name ${script}`],
    [`group?id=${userGroup.id}`, `name ${script}`],
    ['audit-log', `id ${script}`],
    ['audit-log?type=WEBHOOK_CREATED', '<script>document.title=1</script>'], // as JSON, which escapes quotation marks
    ['webhooks', script],
    [`webhook?id=${webhook.id}`, `https://${script}`],
    [`groups?search=${query}&property=${query}%3D1&sort=${query}&size=${query}`, 'No group matches'],
    [`audit-log?type=${query}#${query}`, 'The audit log could not be loaded'],
    [`group?id=${query}#${query}`, 'There is no such group'],
  ] as const) {
    await page.goto(`${gateway.url}/console/${path}`);
    await page.getByText(text).first().waitFor();
    if (path.startsWith('webhook?')) {
      await page.getByRole('button', { name: `Details of ${script}` }).click();
      await page.getByText(`body ${script}`).waitFor();
    }
    expect(await page.title(), path).not.toBe('1');
    const active = ':is(main, dialog) :is(img, script, [onerror], [href^=javascript])';
    expect(await page.locator(active).count(), path).toBe(0);
  }
});

test('characters that reverse the text after them are visible in the editor, and do not reverse what the console says', async () => {
  const hostile = 'a\u202eb';
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', {
    providedId: 'stored',
    properties: { [hostile]: hostile },
  });
  await gateway.database.prisma.userGroup.updateMany({ where: { providedId: 'stored' }, data: { providedId: hostile } });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, { secret });
  await page.locator('.cm-specialChar').first().waitFor();
  await page.waitForLoadState('networkidle'); // what is loaded last moves the button
  await page.getByRole('button', { name: 'Delete …' }).click();
  expect(await page.getByRole('dialog').locator('label code').textContent()).toBe(hostile);
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
  await page.goto(`${gateway.url}/console/groups`);
  await page.getByRole('checkbox', { name: `Select ${hostile}` }).check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('dialog').waitFor();
  expect(await reversed()).toEqual(['alone']);
});

test('spaces and line breaks are shown as what they are, and stay', async () => {
  const mapping = [
    { schemaId: 'sales', dataSource: 'pg-1' },
    { schemaId: 'line 1\nline 2', dataSource: 'pg\r\n2' },
  ];
  const providedId = '  two  spaces  ';
  await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: ' ', mapping });
  const { page } = await openConsole(gateway, '/console/groups?search=two', { secret });
  await page.getByRole('link', { name: 'two spaces' }).click();
  // A field cannot have line breaks, and would drop them with the next key.
  const field = page.getByLabel('Schema id 2');
  expect([await field.inputValue(), await field.isEditable()]).toEqual(['"line 1\\nline 2"', false]);
  await page.getByLabel('Data source of sales').fill('pg-10');
  await save(page, 'Save the mapping');
  const stored = await gateway.database.prisma.userGroup.findFirst({ where: { providedId } });
  expect(stored?.mapping).toEqual({ sales: 'pg-10', 'line 1\nline 2': 'pg\r\n2' });
});

test.each([
  ['groups?enviroment=Customer', 'enviroment=Customer'],
  ['groups?property=plan', 'property=plan'],
  ['groups?updated-to=2026-02-31', 'updated-to=2026-02-31'],
  [`groups?search=ugt_${'a'.repeat(36)}`, 'search=…'],
  ['audit-log?group=a&provided-id=b', 'provided-id=b'],
  ['audit-log?from=2020-13-45', 'INVALID_INPUT'],
  ['api-tokens?revoked=TRUE', 'revoked=TRUE'],
  ['webhooks?status=DISABLED', 'status=DISABLED'],
  [`audit-log?after=${'x'.repeat(6_000)}`, 'INVALID_INPUT'],
])(
  'a filter in a URL that there is none of is named, and no list is shown until a person asks for it: %s',
  async (path, named) => {
    const { page } = await openConsole(gateway, `/console/${path}`, { secret, expectedProblems: [/status of 400/] });
    const notice = page.getByRole('alert').filter({ hasText: named });
    await notice.waitFor();
    expect(await page.getByRole('main').locator('table, .events').count()).toBe(0);
    await page.getByRole('button', { name: 'Show the whole list' }).click();
    await notice.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
  },
);

test('a thousand mapping entries and 50 KiB of properties can be edited', async () => {
  const properties = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`property-${index}`, 'x'.repeat(85)]));
  const mapping = Array.from({ length: 1_000 }, (_, index) => ({ schemaId: `schema-${index}`, dataSource: `source-${index}` }));
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'large', properties, mapping });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, { secret });
  await page.getByLabel('Data source of schema-999').fill('changed');
  await save(page, 'Save the mapping');
  await propertiesIn(page).click();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.insertText('"added": 1,');
  await save(page, 'Save the properties');
  const stored = await gateway.database.prisma.userGroup.findFirst({ where: { providedId: 'large' } });
  expect(stored).toMatchObject({ properties: { added: 1, ...properties }, mapping: { 'schema-999': 'changed' } });
});

test('a response that is not one of the gateway, such as a page of a proxy, is explained', async () => {
  const { page } = await openConsole(gateway, '/console/groups', { secret, expectedProblems: [/status of 5/] });
  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  for (const response of [
    { status: 502, body: '<h1>Bad gateway</h1>' },
    { status: 504, body: '{"errors": [{"message": "timed out", "extensions": {"code": "GATEWAY_TIMEOUT"}}]}' },
    { status: 522, body: '{"errors": []}' },
    { status: 200, body: '{"data": null}' },
  ]) {
    await page.route('**/graphql', (route) => route.fulfill(response));
    await page.getByRole('searchbox').fill(response.body);
    await alert.getByText(`status ${response.status}, is not one of the gateway`).waitFor();
  }
});
