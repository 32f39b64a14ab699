import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type OpenPage, openPage, phone } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const open = (options?: Parameters<typeof openPage>[1], query = ''): Promise<OpenPage> =>
  openPage(`${gateway.url}/graphql${query}`, options);

test('a person pastes an API token, runs the first example, and a user group is stored', async () => {
  const { page, assertFlawless } = await open();
  await page.getByLabel('API token').fill(gateway.token);
  await page.getByText('"providedId"').waitFor(); // the variables of the example
  await page.getByRole('button', { name: /^Execute query/ }).click();
  const response = page.getByRole('region', { name: 'Result Window' });
  await response.getByText('"created"').waitFor();
  expect(await gateway.database.prisma.userGroup.findMany({ select: { providedId: true, name: true } })).toEqual([
    { providedId: 'acme', name: 'ACME' },
  ]);
  await assertFlawless();
});

test('the API token, and what was edited, survive a reload, and are not kept outside of the tab', async () => {
  const { page } = await open();
  await page.getByLabel('API token').fill(gateway.token);
  const editor = page.getByRole('region', { name: 'Query Editor' });
  await editor.locator('.CodeMirror').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('query Mine { caller { name } }');
  await expect.poll(() => page.evaluate(`sessionStorage.getItem('graphiql:tabState')`)).toContain('Mine');
  await page.reload();
  expect(await page.getByLabel('API token').inputValue()).toBe(gateway.token);
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('"caller"').waitFor();
  expect(await page.evaluate('localStorage.length')).toBe(0);

  await page.getByRole('button', { name: 'Forget' }).click();
  expect(await page.evaluate('Object.values(sessionStorage).join()')).not.toContain(gateway.token);
});

test('a browser that blocks the storage of pages runs an operation', async () => {
  const { page } = await open();
  const blocked = await page.context().newPage();
  onTestFinished(() => blocked.close());
  await blocked.addInitScript(
    "for (const name of ['sessionStorage', 'localStorage']) Object.defineProperty(window, name, { get() { throw new Error('blocked'); } })",
  );
  await blocked.goto(page.url());
  await blocked.getByLabel('API token').fill(gateway.token);
  await blocked.getByText('"providedId"').waitFor();
  await blocked.getByRole('button', { name: /^Execute query/ }).click();
  await blocked.getByRole('region', { name: 'Result Window' }).getByText('"created"').waitFor();
});

test('a link opens a document', async () => {
  const { page } = await open({}, `?${new URLSearchParams({ query: 'query Linked { caller { name } }' })}`);
  await page.getByRole('list', { name: 'Documents' }).getByRole('button', { name: 'Linked', exact: true }).waitFor();
  await page.getByRole('region', { name: 'Query Editor' }).getByText('Linked').waitFor();
  expect(new URL(page.url()).search).toBe('');
});

test('the documentation of a field is found by its name', async () => {
  const { page, assertFlawless } = await open();
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  expect(await page.getByRole('button', { name: /^$/ }).count()).toBe(0);
  await page.getByRole('combobox').fill('rotateUserGroup');
  await page
    .getByRole('option', { name: /rotateUserGroupToken/ })
    .first()
    .click();
  await page.getByText('RotateUserGroupTokenInput').first().waitFor();
  await assertFlawless();
});

test('on a phone everything is in one column', async () => {
  const { page, assertFitsPhone } = await open({ viewport: phone, expectedProblems: [/status of 401/] });
  await page.getByRole('region', { name: 'Result Window' }).locator('.CodeMirror').waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('UNAUTHENTICATED').waitFor();
  await assertFitsPhone();
});

test('the first visit takes at most 1.5 MB', async () => {
  const { page } = await open({ isFirstVisit: true });
  await page.getByRole('button', { name: 'GetOrCreate', exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  const sizes = `['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type)).map((entry) => entry.transferSize)`;
  const bytes = (await page.evaluate<number[]>(sizes)).reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(1_500_000);
});
