import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { failRequests, openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';
import { createWebhook } from '../support/webhooks.ts';

// What axe finds, and the width on a phone, are checked here; violations of the Content-Security-Policy and errors in the
// browser's console fail every test.
let gateway: TestGateway;
let secret: string;
let group: string;
let webhook: string;
beforeAll(async () => {
  gateway = await startGateway();
  const { secret: admin, id } = await gateway.issue({ scopes: ['admin'] });
  secret = admin;
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { name: 'operator' } });
  const attributes = { properties: { plan: 'gold' }, mapping: [{ schemaId: 'sales', dataSource: 'pg-1' }] };
  group = (await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'acme', ...attributes })).userGroup.id;
  webhook = (await createWebhook(gateway, secret)).webhook.id;
});
afterAll(() => gateway.close());

test.each(['/', '/docs/api', '/docs/errors/CONFLICT', '/docs/docs-config/hex-color', '/console', '/no/such/page'])(
  'the page %s is accessible and fits a phone',
  async (path) => {
    const { page, assertFlawless, assertFitsPhone } = await openPage(gateway.url + path, { expectedProblems: [/status of 404/] });
    await page.getByRole('heading').first().waitFor();
    await assertFlawless();
    await assertFitsPhone();
  },
);

test.each<[path: string, ...dialogs: string[]]>([
  [''],
  ['/groups', 'New group', 'Export'],
  ['/group?id={group}', 'Rotate …', 'Suspend …', 'Move …', 'Delete …'],
  ['/api-tokens', 'New API token', 'Edit operator', 'Rotate operator', 'Revoke operator'],
  ['/audit-log'],
  ['/webhooks', 'New webhook'],
  ['/webhook?id={webhook}', 'Edit …', 'Rotate the secret …', 'Disable …', 'Delete …'],
  ['/docs-config'],
  ['/nowhere'],
])('the page /console%s and its dialogs are accessible and fit a phone', async (path, ...dialogs) => {
  const address = `/console${path.replace('{group}', group).replace('{webhook}', webhook)}`;
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, address, { secret });
  await page.waitForLoadState('networkidle');
  await assertFlawless();
  for (const name of dialogs) {
    await page.getByRole('button', { name }).first().click();
    await page.getByRole('dialog').waitFor();
    await assertFlawless();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await assertFitsPhone();
});

test('the playground and its settings are accessible and fit a phone', async () => {
  // GraphiQL's own: tabs have buttons inside of them, and editors are scrolled by their own keys.
  const expectedFindings = [/nested-interactive/, /scrollable-region-focusable/];
  const { page, assertFlawless, assertFitsPhone } = await openPage(`${gateway.url}/graphql`, { expectedFindings });
  await page.getByText('"providedId"').waitFor();
  await page.getByRole('button', { name: 'Open settings dialog' }).click();
  await page.getByRole('dialog').waitFor();
  await assertFlawless();
  await page.keyboard.press('Escape');
  await assertFitsPhone();
});

test('a failure says what to do, with its code and request id; an empty list says how to create the first group', async () => {
  const { secret: customer } = await gateway.issue({ environment: 'Customer' });
  const { page, assertFlawless } = await openConsole(gateway, '/console/groups', {
    secret: customer,
    expectedProblems: [/status of 503/],
  });
  await page.getByText('No groups yet').waitFor();
  expect(await page.getByRole('main').textContent()).toContain(`curl -X GET ${gateway.url}/api/user`);
  await failRequests(page);
  await page.getByRole('searchbox').fill('x');
  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  expect(await alert.textContent()).toMatch(/No database[\s\S]*try again[\s\S]*UNAVAILABLE[\s\S]*the-request-id/);
  expect(await page.getByRole('table').count()).toBe(0);
  await assertFlawless();
  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No group matches').waitFor();
});

test('the overview shows the requests of the last hour, the version and the database', async () => {
  const { page } = await openConsole(gateway, '/console', { secret });
  const instance = page.getByRole('region', { name: 'This instance' });
  await instance.getByText('PostgreSQL').waitFor();
  expect(await instance.textContent()).toMatch(/Version\d+\.\d+\.\d+.*PostgreSQL \d+.*MB/);
  const requests = page.getByRole('region', { name: 'Requests of the last hour' });
  await requests.getByText('Latency, 99%').waitFor();
  expect(await requests.textContent()).toMatch(/Requests\d+.*at most [\d.]+ ms/);
});

test('a person finds the remedy of an error from a page that does not exist', async () => {
  const { page } = await openPage(`${gateway.url}/no/such/page`, { expectedProblems: [/status of 404/] });
  await page.getByRole('link', { name: 'NOT_FOUND' }).click();
  await page.waitForURL('**/docs/errors/NOT_FOUND');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('NOT_FOUND');
});

test.each(['/console', '/graphql'])('browsers do not translate %s: scripts that change its texts would fail', async (path) => {
  const { page } = await openPage(gateway.url + path);
  expect(await page.evaluate('document.documentElement.translate')).toBe(false);
  expect(await page.locator('meta[name=google]').getAttribute('content')).toBe('notranslate');
});
