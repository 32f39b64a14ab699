import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { countRequests, holdRequests, loseNextResponse, lostResponse } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const useToken = (page: Page) => page.getByLabel('API token').fill(gateway.token);
const run = (page: Page) => page.getByRole('button', { name: /^Execute query/ }).click();
const response = (page: Page) => page.getByRole('region', { name: 'Result Window' });

/** Opens the playground, with the first example or the document of a link. */
async function open(link?: Record<string, string>, expectedProblems: RegExp[] = []): Promise<Page> {
  const query = link ? `?${new URLSearchParams(link)}` : '';
  const { page } = await openPage(`${gateway.url}/graphql${query}`, { expectedProblems });
  if (!link) await page.getByText('"providedId"').waitFor(); // the variables of the example
  await useToken(page);
  return page;
}

test('a person pastes an API token, runs the first example, and a user group is stored', async () => {
  const page = await open();
  await run(page);
  await response(page).getByText('"created"').waitFor();
  expect(await gateway.database.prisma.userGroup.findMany({ select: { providedId: true, name: true } })).toEqual([
    { providedId: 'acme', name: 'ACME' },
  ]);
});

test('a shortcut that is held executes the operation once', async () => {
  const page = await open();
  const executed = countRequests(page, 'GetOrCreate');
  await page.getByRole('textbox', { name: 'Document', exact: true }).focus();
  await page.keyboard.down('ControlOrMeta');
  for (let times = 0; times < 3; times += 1) await page.keyboard.down('Enter'); // the browser repeats the second and the third
  await page.keyboard.up('Enter');
  await page.keyboard.up('ControlOrMeta');
  await response(page).getByText('"created"').waitFor();
  expect(executed()).toBe(1);
});

test('a mutation has a key, which stays the same until there is a result, and a reload asks; several mutations have none', async () => {
  const create = 'getOrCreateUserGroup(input: { providedId: "with-key" }) { __typename }';
  const query = `mutation One { a: ${create} } mutation Two { a: ${create} b: ${create} }`;
  const page = await open({ query }, [lostResponse, /status of (400|504)/]);
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).waitFor();
  const keys: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.postData()?.includes('"operationName":"')) keys.push(request.headers()['idempotency-key']);
  });
  const execute = async (operation: string, text: string, asks: boolean) => {
    await run(page);
    await page.getByRole('menuitem', { name: operation, exact: true }).click();
    await response(page).getByText(text).first().waitFor();
    const isAsked = '!dispatchEvent(new Event("beforeunload", { cancelable: true }))';
    expect(await page.evaluate(isAsked), text).toBe(asks);
  };
  const json = { message: 'The proxy timed out.' };
  await page.route('**/graphql', (route) => route.fulfill({ status: 504, json }), { times: 1 });
  await execute('One', 'The proxy timed out', true);
  await loseNextResponse(page, 'One');
  await execute('One', 'Failed to fetch', true);
  await execute('One', 'Payload', false);
  await execute('Two', '"b"', false);
  await execute('One', 'Payload', false);
  const own = expect.stringMatching(/^[\w-]{20,}$/);
  // Several mutations are sent again without the key that the gateway refuses.
  expect(keys).toEqual([own, keys[0], keys[0], own, undefined, own]);
  expect(new Set(keys).size).toBe(4);
});

test('a response is shown in the tab whose operation it is of', async () => {
  const page = await open();
  const show = async (tab: string) => {
    await page.getByRole('button', { name: tab, exact: true }).click();
    // GraphiQL knows a moment later which operation the tab has.
    const operation = "document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.operationName";
    await expect.poll(() => page.evaluate(operation)).toBe(tab);
  };
  await show('GetOrCreate');
  const { release, count } = await holdRequests(page, 'GetOrCreate');
  await run(page);
  await expect.poll(count).toBe(1);
  await show('Search');
  await page.getByRole('textbox', { name: 'Document', exact: true }).press('ControlOrMeta+Enter');
  await response(page).getByText('"userGroups"').waitFor();
  await release();
  await page.evaluate('new Promise(requestAnimationFrame)');
  expect(await response(page).textContent()).toMatch(/^(?!.*"created").*"userGroups"/);
  await show('GetOrCreate');
  await response(page).getByText('"created"').waitFor();
});

test('the API token and what was edited survive a reload, and are not kept outside of the tab', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  const write = async (name: string, text: string) => {
    await page.getByRole('textbox', { name, exact: true }).press('Control+A');
    await page.keyboard.insertText(text);
  };
  await write('Variables', '{ "filter": { "search": "mine" } }');
  await write('Document', 'query Mine($filter: UserGroupFilter) { userGroups(filter: $filter) { nodes { name } } }');
  await page.getByRole('button', { name: 'Mine', exact: true }).waitFor();
  await page.reload();
  await page.getByRole('region', { name: 'Query Editor' }).getByText('Mine').waitFor();
  await page.getByText('"mine"').waitFor();
  expect(await page.getByLabel('API token').inputValue()).toBe(gateway.token);
  await run(page);
  await response(page).getByText('"userGroups"').waitFor();
  expect(await page.evaluate('localStorage.length')).toBe(0);
  await page.getByRole('button', { name: 'Forget' }).click();
  expect(await page.evaluate('Object.values(sessionStorage).join()')).not.toContain(gateway.token);
});

test('a link opens a document, whose variables are sent as they are shown', async () => {
  const query = 'query Linked($v: JSON!) { userGroups(filter: { properties: [{ path: ["p"], equals: $v }] }) { totalCount } }';
  const page = await open({ query, variables: '{"v": 12345678901234567890}' }, [/status of 400/]);
  await page.getByRole('region', { name: 'Query Editor' }).getByText('Linked').waitFor();
  expect(new URL(page.url()).search).toBe('');
  await run(page);
  // JavaScript would have rounded the number.
  await response(page)
    .getByText(/exactly/)
    .first()
    .waitFor();
  await page.locator('.graphiql-editor-tool .CodeMirror').first().click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('{"v": {"a": 1.0}}');
  await run(page);
  await response(page).getByText('"totalCount"').first().waitFor();
});

test('the documentation of a field is found by its name', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.getByRole('combobox').fill('rotateUserGroup');
  await page
    .getByRole('option', { name: /rotateUserGroupToken/ })
    .first()
    .click();
  await page.getByText('RotateUserGroupTokenInput').first().waitFor();
});

test('a browser that blocks the storage of pages runs an operation, and the first visit takes at most 1.5 MB', async () => {
  const { page } = await openPage(`${gateway.url}/livez`);
  const block = await page.addInitScript(
    "for (const name of ['sessionStorage', 'localStorage']) Object.defineProperty(window, name, { get() { throw new Error('blocked'); } })",
  );
  onTestFinished(() => block.dispose());
  const devTools = await page.context().newCDPSession(page);
  onTestFinished(() => devTools.detach());
  await devTools.send('Network.enable');
  await devTools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.goto(`${gateway.url}/graphql`);
  await page.getByText('"providedId"').waitFor();
  const sizes = `['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type)).map((entry) => entry.transferSize)`;
  const bytes = (await page.evaluate<number[]>(sizes)).reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(1_500_000);
  await useToken(page);
  await run(page);
  await response(page).getByText('"created"').waitFor();
});
