import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test.each(['/', '/docs/api', '/docs/errors', '/docs/errors/CONFLICT', '/docs/docs-config', '/docs/docs-config/hex-color'])(
  'the page %s is accessible and fits a phone',
  async (path) => {
    const { assertFlawless, assertFitsPhone } = await openPage(gateway.url + path);
    await assertFlawless();
    await assertFitsPhone();
  },
);

test.each(['/console', '/graphql'])('browsers do not translate %s: scripts that change its texts would fail', async (path) => {
  const { page } = await openPage(gateway.url + path);
  expect(await page.evaluate('document.documentElement.translate')).toBe(false);
  expect(await page.locator('meta[name=google]').getAttribute('content')).toBe('notranslate');
});

test('a person finds the remedy of an error from a page that does not exist', async () => {
  const { page, assertFlawless } = await openPage(`${gateway.url}/no/such/page`, { expectedProblems: [/status of 404/] });
  await assertFlawless();
  await page.getByRole('link', { name: 'NOT_FOUND' }).click();
  await page.waitForURL('**/docs/errors/NOT_FOUND');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('NOT_FOUND');
});
