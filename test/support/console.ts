import { text } from 'node:stream/consumers';
import type { Download, Locator } from 'playwright-core';
import { type OpenPage, openPage, type PageOptions } from './browser.ts';
import type { TestGateway } from './gateway.ts';

/** Opens a page of the console and signs in as a person does. @param secret the API token; the gateway's own one by default. */
export async function openConsole(
  gateway: TestGateway,
  path: string,
  { secret = gateway.token, ...options }: PageOptions & { readonly secret?: string } = {},
): Promise<OpenPage> {
  const opened = await openPage(gateway.url + path, options);
  await opened.page.getByLabel('API token', { exact: true }).fill(secret);
  await opened.page.getByRole('button', { name: 'Sign in' }).click();
  await opened.page.getByRole('button', { name: 'Sign out' }).waitFor();
  return opened;
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
