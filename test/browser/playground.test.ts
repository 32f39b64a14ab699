import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type OpenPage, openPage, phone } from '../support/browser.ts';
import { holdRequests, loseNextResponse, lostResponse } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** GraphiQL's own: tabs have buttons inside of them, and editors are scrolled by their own keys. */
const expectedFindings = [/nested-interactive/, /scrollable-region-focusable/];

const open = (options?: Parameters<typeof openPage>[1], query = ''): Promise<OpenPage> =>
  openPage(`${gateway.url}/graphql${query}`, { expectedFindings, ...options });

/** The names of the tabs, and of the one that is shown. */
const tabsOf = async ({ page }: OpenPage) => ({
  all: (await page.getByRole('tab').allInnerTexts()).join(' '),
  shown: await page.getByRole('tab', { selected: true }).allInnerTexts(),
});

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

test('a shortcut that is held executes the operation once', async () => {
  const { page } = await open();
  await page.getByLabel('API token').fill(gateway.token);
  await page.getByText('"providedId"').waitFor(); // the variables of the example
  let executed = 0;
  page.on('request', (request) => {
    if (request.postData()?.includes('mutation GetOrCreate')) executed += 1;
  });
  await page.getByRole('textbox', { name: 'Document', exact: true }).focus();
  await page.keyboard.down('ControlOrMeta');
  for (let times = 0; times < 3; times += 1) await page.keyboard.down('Enter'); // the browser repeats the second and the third
  await page.keyboard.up('Enter');
  await page.keyboard.up('ControlOrMeta');
  const response = page.getByRole('region', { name: 'Result Window' });
  await response.getByText('"created"').waitFor();
  await expect.poll(() => executed).toBe(1);
  // Of the button, too.
  const execute = page.getByRole('button', { name: /^Execute query/ });
  await execute.focus();
  for (let times = 0; times < 3; times += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await expect.poll(() => executed).toBe(2);
  await response.getByText('"created"').waitFor();
  await execute.click({ clickCount: 2, delay: 200 }); // so that the first click is answered before the second
  await response.getByText('"created"').waitFor();
  await expect.poll(() => executed).toBe(3);
});

/** Whether the browser asks before the page is left. */
const asksBeforeReload = (page: Page) => page.evaluate('!dispatchEvent(new Event("beforeunload", { cancelable: true }))');

test('a mutation has a key, which stays the same until there is a result, and a reload asks; several are sent again without one', async () => {
  const create = 'getOrCreateUserGroup(input: { providedId: "with\\u002dkey" }) { __typename }';
  const { page } = await open(
    { expectedProblems: [lostResponse, /400 \(Bad Request\)/, /status of (503|409|429|504)/] },
    `?query=${encodeURIComponent(`# One change\nmutation One { a: ${create} } mutation Two { a: ${create} b: ${create} }`)}`,
  );
  await page.getByLabel('API token').fill(gateway.token);
  const keys: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.postData()?.includes('"operationName":"')) keys.push(request.headers()['idempotency-key']);
  });
  const response = page.getByRole('region', { name: 'Result Window' });
  const execute = async (operation: string, text: string) => {
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await page.getByRole('menuitem', { name: operation, exact: true }).click();
    await response.getByText(text).first().waitFor();
  };
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).waitFor();
  keys.length = 0; // of the schema
  const error = (code: string, message: string) => ({ errors: [{ message, extensions: { code } }] });
  for (const [status, json, text] of [
    [503, error('UNAVAILABLE', 'A change may have been made. Repeat it with an Idempotency-Key.'), 'may have been made'],
    [409, error('IDEMPOTENCY_KEY_IN_USE', 'Being executed.'), 'Being executed'],
    [429, error('RATE_LIMITED', 'Too many.'), 'Too many'],
    [504, { message: 'The proxy timed out.' }, 'The proxy timed out'],
  ] as const) {
    await page.route('**/graphql', (route) => route.fulfill({ status, json }), { times: 1 });
    await execute('One', text);
    expect(await asksBeforeReload(page), text).toBe(true);
  }
  await loseNextResponse(page, 'One');
  await execute('One', 'Failed to fetch');
  expect(await asksBeforeReload(page)).toBe(true);
  await execute('One', 'Payload');
  expect(await asksBeforeReload(page)).toBe(false);
  const own = expect.stringMatching(/^[\w-]{20,}$/);
  expect(keys).toEqual([own, ...Array(5).fill(keys[0])]);
  await response.getByText('is not executed again').waitFor();
  // A result of another one is between them.
  await loseNextResponse(page, 'One');
  await execute('One', 'Failed to fetch');
  await execute('Two', '"b"');
  await execute('One', 'Payload');
  await expect.poll(() => keys.length).toBe(10);
  expect(keys.slice(6)).toEqual([own, own, undefined, keys[6]]);
  expect(new Set(keys).size).toBe(4);
});

test('a mutation that the browser sends again, because its connection was reset, is made once', async () => {
  let sent = 0;
  const proxy = createServer((client) => {
    const upstream = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    let isReset = false;
    client.on('data', (bytes) => {
      if (bytes.includes('mutation Reset')) {
        sent += 1;
        isReset = sent === 1;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (isReset) client.resetAndDestroy();
      else client.write(bytes);
    });
    for (const [socket, other] of [[client, upstream] as const, [upstream, client] as const])
      socket.on('error', () => {}).on('close', () => other.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const document =
    'mutation Reset { getOrCreateUserGroup(input: { providedId: "reset" }) { ... on GetOrCreateUserGroupPayload { created } } }';
  const { page } = await openPage(
    `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/graphql?query=${encodeURIComponent(document)}`,
    { expectedFindings },
  );
  await page.getByLabel('API token').fill(gateway.token);
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).waitFor();
  await page.waitForLoadState('networkidle'); // the browser sends again what was sent on a connection that had been used
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('true').waitFor(); // false if it was made a second time
  expect(sent).toBe(2);
});

test('undo in a tab does not bring the text of another one, and a shortcut runs an operation of its own', async () => {
  const own = 'query Look { __typename }\nmutation Change { getOrCreateUserGroup(input: { providedId: "undo" }) { __typename } }';
  const { page } = await open(
    { expectedProblems: [/400 \(Bad Request\)/] },
    `?query=${encodeURIComponent(own)}&variables=${encodeURIComponent('{ "own": 1 }')}`,
  );
  await page.getByLabel('API token').fill(gateway.token);
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.postDataJSON()?.operationName));
  await page.getByText('mutation Change').first().waitFor();
  const variables = page.getByRole('textbox', { name: 'Variables', exact: true });
  await page.getByRole('tab', { name: 'Update', exact: true }).click();
  await page.getByText('mutation Update').first().waitFor();
  await variables.focus();
  for (let steps = 0; steps < 3; steps += 1) await page.keyboard.press('ControlOrMeta+z');
  expect(await page.getByText('"own"').count()).toBe(0);
  // The second operation is selected there.
  const document = 'query First { __typename } query Second { __typename }';
  await page.evaluate(`document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.setValue('${document}')`);
  await page.getByRole('tab', { selected: true }).filter({ hasText: 'First' }).waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByRole('menuitem', { name: 'Second', exact: true }).click();
  await expect.poll(() => sent.at(-1)).toBe('Second');
  await page.getByRole('tab', { name: 'Look', exact: true }).click();
  await page.getByText('mutation Change').first().waitFor();
  const execute = "document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror";
  await page.evaluate(`${execute}.focus(); ${execute}.setCursor(1, 12)`);
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect.poll(() => sent.at(-1)).toBe('Change');
});

test('closing a tab that is not shown shows no other', async () => {
  const opened = await open();
  const { page } = opened;
  for (const name of ['Document', 'Variables']) await page.getByRole('textbox', { name, exact: true }).waitFor();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  expect((await tabsOf(opened)).shown).toEqual(['Search']);
  const last = page.getByRole('tab').last();
  await last.hover();
  await last.getByRole('button', { name: 'Close Tab' }).click();
  await expect.poll(async () => (await tabsOf(opened)).shown).toEqual(['Search']);
  await page.getByRole('region', { name: 'Query Editor' }).getByText('query Search').waitFor();
  // One that is shown is followed by another one.
  const shown = page.getByRole('tab', { selected: true });
  await shown.getByRole('button', { name: 'Close Tab' }).click();
  await expect.poll(async () => (await tabsOf(opened)).shown).not.toEqual(['Search']);
});

test('closing a tab asks while its response has not been shown', async () => {
  const { page } = await open({}, `?query=${encodeURIComponent('query Held { __typename }')}`);
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void (dialogs.length < 3 ? dialog.dismiss() : dialog.accept());
  });
  const tab = page.getByRole('tab', { name: 'Held' });
  const close = async () => {
    await tab.hover();
    await tab.getByRole('button', { name: 'Close Tab' }).click();
  };
  await page.getByRole('region', { name: 'Query Editor' }).getByText('query Held').waitFor();
  const execute = async () => {
    const release = await holdRequests(page, 'Held');
    const sent = page.waitForRequest((request) => request.postData()?.includes('Held') === true);
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await sent;
    return release;
  };
  const tabs = page.getByRole('tab');
  /** The response comes while the neighbor is open. */
  const releaseBeside = async (release: () => Promise<void>) => {
    await tabs.nth((await tabs.allTextContents()).findIndex((text) => text.includes('Held')) + 1).click();
    await release();
    await expect.poll(() => asksBeforeReload(page)).toBe(true);
  };
  const release = await execute();
  await close();
  await expect.poll(() => dialogs).toEqual([expect.stringContaining('has not been shown')]);
  await releaseBeside(release);
  // GraphiQL opens another tab for a moment when the last one is closed.
  const count = await tabs.count();
  await tabs.last().hover();
  await tabs.last().getByRole('button', { name: 'Close Tab' }).click();
  await expect.poll(() => tabs.count()).toBe(count - 1);
  expect(await asksBeforeReload(page)).toBe(true);
  await close();
  await expect.poll(() => dialogs.length).toBe(2);
  await tab.click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('__typename').waitFor();
  expect(await asksBeforeReload(page)).toBe(false);
  // One that is closed nevertheless takes its response with it.
  await releaseBeside(await execute());
  await close();
  await expect.poll(() => tab.count()).toBe(0);
  expect(await asksBeforeReload(page)).toBe(false);
});

test('a reload asks before headers are lost', async () => {
  const { page } = await open();
  await page.getByRole('textbox', { name: 'Document', exact: true }).waitFor();
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await page.reload();
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'Headers', exact: true }).click();
  await page.getByRole('textbox', { name: 'Headers', exact: true }).press('End');
  await page.keyboard.insertText('{"authorization": "Token x"}');
  await expect.poll(() => asksBeforeReload(page)).toBe(true);
  await page.reload();
  expect(asked).toEqual(['beforeunload']);
});

test('a response is shown in the tab whose operation it is of, also if it comes while another tab is open or has sent one', async () => {
  const opened = await open();
  const { page } = opened;
  await page.getByLabel('API token').fill(gateway.token);
  await page.getByText('"providedId"').waitFor(); // the variables of the example
  const response = page.getByRole('region', { name: 'Result Window' });
  const show = async (tab: string) => {
    await page.getByRole('button', { name: tab, exact: true }).click();
    // GraphiQL knows a moment later which operation the tab has.
    const operation = "document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.operationName";
    await expect.poll(() => page.evaluate(operation)).toBe(tab);
  };
  for (const isOpenAgain of [false, true]) {
    await show('GetOrCreate');
    const release = await holdRequests(page, 'GetOrCreate');
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await expect.poll(() => response.textContent()).not.toContain('created');
    await show('Search');
    await page.getByRole('textbox', { name: 'Document', exact: true }).press('ControlOrMeta+Enter');
    await response.getByText('"userGroups"').waitFor();
    if (isOpenAgain) await show('GetOrCreate');
    await release();
    if (!isOpenAgain) {
      await page.evaluate('new Promise(requestAnimationFrame)');
      expect(await response.textContent()).toMatch(/^(?!.*"created").*"userGroups"/);
      await show('GetOrCreate');
    }
    await response.getByText('"created"').waitFor();
    expect(await response.textContent()).not.toContain('"userGroups"');
    await page.unrouteAll({ behavior: 'wait' });
  }
});

test('the API token, an example, and what was edited survive a reload, and are not kept outside of the tab', async () => {
  const opened = await open();
  const { page } = opened;
  await page.getByText('"providedId"').waitFor(); // the variables of the example
  const untouched = await tabsOf(opened);
  await page.reload();
  await page.getByText('"providedId"').waitFor();
  expect(await tabsOf(opened)).toEqual(untouched);
  await page.getByLabel('API token').fill(gateway.token);
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  const write = async (name: string, text: string) => {
    await page.getByRole('textbox', { name, exact: true }).press('Control+A');
    await page.keyboard.insertText(text);
  };
  await write('Variables', '{ "filter": { "search": "mine" } }');
  await write('Document', 'query Mine($filter: UserGroupFilter) { userGroups(filter: $filter) { nodes { name } } }');
  await page.getByRole('button', { name: 'Mine', exact: true }).waitFor();
  const tabs = await tabsOf(opened);
  expect(tabs).toEqual({ all: expect.stringMatching(/^GetOrCreate .* Mine /), shown: ['Mine'] });

  for (let reload = 0; reload < 2; reload += 1) {
    await page.reload();
    await page.getByRole('region', { name: 'Query Editor' }).getByText('Mine').waitFor();
    expect(await tabsOf(opened)).toEqual(tabs);
    await page.getByText('"mine"').waitFor();
  }
  expect(await page.getByLabel('API token').inputValue()).toBe(gateway.token);
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('"userGroups"').waitFor();
  expect(await page.evaluate('localStorage.length')).toBe(0);

  await page.getByRole('button', { name: 'Forget' }).click();
  expect(await page.evaluate('Object.values(sessionStorage).join()')).not.toContain(gateway.token);
});

test('each editor has a name, dialogs may have styles, and one clears what is stored of the documents', async () => {
  const opened = await open();
  const { page } = opened;
  for (const name of ['Document', 'Variables', 'Response']) await page.getByRole('textbox', { name, exact: true }).waitFor();
  await page.getByRole('button', { name: 'Update', exact: true }).click();
  await page.getByRole('tab', { selected: true }).filter({ hasText: 'Update' }).waitFor();
  await page.getByRole('button', { name: 'Open settings dialog' }).click();
  await page.getByRole('dialog').waitFor();
  await opened.assertFlawless();
  await page.getByRole('button', { name: 'Clear data' }).click();
  await page.getByRole('button', { name: 'Cleared data' }).waitFor();
  await page.reload();
  await page.getByText('"providedId"').waitFor();
  expect((await tabsOf(opened)).shown).toEqual(['GetOrCreate']);
});

test('a browser that blocks the storage of pages runs an operation', async () => {
  const { page } = await openPage(`${gateway.url}/livez`);
  const block = await page.addInitScript(
    "for (const name of ['sessionStorage', 'localStorage']) Object.defineProperty(window, name, { get() { throw new Error('blocked'); } })",
  );
  onTestFinished(() => block.dispose());
  await page.goto(`${gateway.url}/graphql`);
  await page.getByLabel('API token').fill(gateway.token);
  await page.getByText('"providedId"').waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('"created"').waitFor();
});

test('documents that the browser has no space for are opened and run', async () => {
  const { page } = await open();
  await page.evaluate(`for (let length = 5_000_000; length > 1; length /= 2) {
    try { sessionStorage.setItem('full ' + length, 'x'.repeat(length)); } catch {}
  }`);
  await page.getByRole('button', { name: 'Update', exact: true }).click();
  await page.getByRole('tab', { selected: true }).filter({ hasText: 'Update' }).waitFor();
  await page.getByRole('tab', { name: 'GetOrCreate', exact: true }).click();
  await page.getByLabel('API token').fill(gateway.token);
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('"created"').waitFor();
});

test('a link opens a document, whose variables are sent as they are shown', async () => {
  const query = 'query Linked($v: JSON!) { userGroups(filter: { properties: [{ path: ["p"], equals: $v }] }) { totalCount } }';
  const variables = (value: string) => `{"v": ${value}}`;
  const { page } = await open(
    { expectedProblems: [/status of 400/] },
    `?${new URLSearchParams({ query, variables: variables('12345678901234567890') })}`,
  );
  await page.getByRole('button', { name: 'Linked', exact: true }).waitFor();
  await page.getByRole('region', { name: 'Query Editor' }).getByText('Linked').waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.getByLabel('API token').fill(gateway.token);
  const response = page.getByRole('region', { name: 'Result Window' });
  const run = () => page.getByRole('button', { name: /^Execute query/ }).click();
  await run();
  // JavaScript would have rounded the number.
  await response
    .getByText(/exactly/)
    .first()
    .waitFor();
  for (const [value, expected] of [
    ['{"a": 1, "a": 2}', /duplicate/],
    ['{"a": 1.0}', /"totalCount"/],
  ] as const) {
    await page.locator('.graphiql-editor-tool .CodeMirror').first().click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(variables(value));
    await run();
    await response.getByText(expected).first().waitFor();
  }
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

test('on a phone the page is not wider than its screen', async () => {
  const { page, assertFitsPhone } = await open({ viewport: phone, expectedProblems: [/status of 401/] });
  await page.getByRole('region', { name: 'Result Window' }).locator('.CodeMirror').waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByRole('region', { name: 'Result Window' }).getByText('UNAUTHENTICATED').waitFor();
  await assertFitsPhone();
});

test('the first visit takes at most 1.5 MB', async () => {
  const { page } = await openPage(`${gateway.url}/livez`);
  const devTools = await page.context().newCDPSession(page);
  onTestFinished(() => devTools.detach());
  await devTools.send('Network.enable');
  await devTools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.goto(`${gateway.url}/graphql`);
  await page.getByRole('button', { name: 'GetOrCreate', exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  const sizes = `['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type)).map((entry) => entry.transferSize)`;
  const bytes = (await page.evaluate<number[]>(sizes)).reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(1_500_000);
});
