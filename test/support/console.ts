import { buffer } from 'node:stream/consumers';
import type { Download, Locator, Page, Request } from 'playwright-core';
import { type OpenPage, openPage, type PageOptions } from './browser.ts';
import type { TestGateway } from './gateway.ts';

/** Opens a page of the console in a tab that is signed in. @param secret the API token; the gateway's own one by default. */
export async function openConsole(
  gateway: TestGateway,
  path: string,
  { secret = gateway.token, ...options }: PageOptions & { readonly secret?: string } = {},
): Promise<OpenPage> {
  const opened = await openPage(gateway.url + path, { ...options, stored: { 'user-group-gateway.api-token /': secret } });
  await opened.page.getByRole('button', { name: 'Sign out' }).waitFor();
  return opened;
}

/** Signs in to the console as a person does. */
export async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('API token', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** The text of a file that the browser has saved, with its byte order mark. */
export const textOf = async (download: Download): Promise<string> => String(await buffer(await download.createReadStream()));

/** Replaces the text of an editor. `fill` writes styles that the Content-Security-Policy blocks. */
export async function typeOver(editor: Locator, value: string): Promise<void> {
  await editor.click();
  await editor.press('ControlOrMeta+a');
  await editor.page().keyboard.insertText(value);
}

/** The editor of the properties of a group. */
export const propertiesIn = (page: Page): Locator => page.getByRole('textbox', { name: 'Properties as JSON' });

/** Saves a section of a form, by its button or another one, and waits until nothing is left to save. */
export async function save(page: Page, label: string, button = label): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await page.locator('button[disabled]', { hasText: label }).waitFor();
}

/** Answers the next question of the browser whether to leave the page. @returns resolves when it was asked. */
export const answer = (page: Page, isLeaving: boolean): Promise<void> =>
  page.waitForEvent('dialog').then((dialog) => (isLeaving ? dialog.accept() : dialog.dismiss()));

/** Both values of what differs, as a person reads them. */
export async function differencesIn(page: Page): Promise<string[][]> {
  const rows = page.getByRole('region', { name: 'What differs' }).locator('tbody');
  await rows.first().waitFor();
  return Promise.all((await rows.all()).map((row) => row.locator('th, td').allTextContents()));
}

const isOf = (operation: string, request: Request): boolean =>
  new RegExp(`(query|mutation) ${operation}\\b`).test(request.postData() ?? '');

/** Counts the requests of an operation. @returns how many there were so far. */
export function countRequests(page: Page, operation: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (isOf(operation, request)) count += 1;
  });
  return () => count;
}

/** Loses the response to the next request of an operation, after the gateway has executed it. */
export async function loseNextResponse(page: Page, operation: string): Promise<void> {
  let isLost = false;
  await page.route('**/graphql', async (route) => {
    if (isLost || !isOf(operation, route.request())) return route.fallback();
    isLost = true;
    await route.fetch();
    return route.abort('connectionreset');
  });
}

/** The problem that a browser reports for it. */
export const lostResponse = /ERR_CONNECTION_RESET/;

/** Has the requests of an operation fail, as without a database. `page.unroute('**\/graphql')` ends it. */
export const failRequests = (page: Page, operation = '\\w+'): Promise<unknown> =>
  page.route('**/graphql', (route) =>
    isOf(operation, route.request())
      ? route.fulfill({
          status: 503,
          headers: { 'x-request-id': 'the-request-id' },
          json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] },
        })
      : route.fallback(),
  );

/** Holds the requests of an operation. @returns releases them, and waits for a response; and how many are held. */
export async function holdRequests(page: Page, operation: string) {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let count = 0;
  await page.route('**/graphql', async (route) => {
    if (isOf(operation, route.request())) {
      count += 1;
      await held;
    }
    await route.continue();
  });
  return {
    count: () => count,
    async release() {
      const answered = page.waitForResponse((response) => isOf(operation, response.request()));
      release();
      await (await answered).finished();
    },
  };
}
