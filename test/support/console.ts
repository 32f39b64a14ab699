import { text } from 'node:stream/consumers';
import type { Download, Locator, Page } from 'playwright-core';
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

/** The text of a file that the browser has saved. */
export async function textOf(download: Download): Promise<string> {
  return text(await download.createReadStream());
}

/**
 * Replaces the text of an editor as a person does. `fill` would have Chromium edit the elements, and write styles that the
 * Content-Security-Policy blocks, before the editor notices.
 */
export async function typeOver(editor: Locator, value: string): Promise<void> {
  await editor.click();
  await editor.press('ControlOrMeta+a');
  await editor.page().keyboard.insertText(value);
}

/**
 * Saves a section of a form, and waits until nothing is left to save.
 *
 * @param label of its button. While it saves, the button is disabled for people alone, with `aria-disabled`.
 */
export async function save(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: label }).click();
  await untilSaved(page, label);
}

/** Waits until a section of a form has nothing left to save. @param label of its button. */
export async function untilSaved(page: Page, label: string): Promise<void> {
  await page.locator('button[disabled]', { hasText: label }).waitFor();
}

/**
 * Adds a row to the mapping, and fills in its schema id once the page has moved the focus there: it does so a frame later, and
 * would take it away from what is filled in next.
 *
 * @param number of the row, from 1 on.
 */
export async function addSchema(page: Page, number: number, schemaId: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a schema' }).click();
  const field = page.getByLabel(`Schema id ${number}`);
  await field.and(page.locator(':focus')).waitFor();
  await field.fill(schemaId);
}

/** The text of an input, or of an editor of which it is one line. */
export async function textIn(field: Locator): Promise<string> {
  return field.evaluate((element) => (element instanceof HTMLInputElement ? element.value : (element.textContent ?? '')));
}

/** Loses the response to the next request of an operation, after the gateway has executed it. */
export async function loseNextResponse(page: Page, operation: string): Promise<void> {
  let isLost = false;
  await page.route('**/graphql', async (route) => {
    if (isLost || !new RegExp(`(query|mutation) ${operation}\\b`).test(route.request().postDataJSON().query))
      return route.fallback();
    isLost = true;
    await route.fetch();
    return route.abort('connectionreset');
  });
}

/** The problem that a browser reports for it. */
export const lostResponse = /ERR_CONNECTION_RESET/;

/** Holds the requests of an operation until they are released. @returns releases them, and waits for their responses. */
export async function holdRequests(page: Page, operation: string): Promise<() => Promise<void>> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/graphql', async (route) => {
    if (new RegExp(`(query|mutation) ${operation}`).test(route.request().postDataJSON().query)) await held;
    await route.continue();
  });
  return async () => {
    const answered = page.waitForResponse((response) => response.request().postData()?.includes(operation) === true);
    release();
    await (await answered).finished();
  };
}
