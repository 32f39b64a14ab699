import { text } from 'node:stream/consumers';
import type { Download } from 'playwright-core';
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
