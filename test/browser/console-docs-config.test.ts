import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole, textOf, typeOver } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let secret: string;
beforeAll(async () => {
  gateway = await startGateway();
  ({ secret } = await gateway.issue({ scopes: ['groups:read'] }));
});
afterAll(() => gateway.close());

const document = {
  name: 'ACME',
  favicon: '/favicon.svg',
  colors: { primary: '0D9373' },
  navigation: [{ group: 'Start', pages: ['a'] }],
};

test('a person pastes a file, corrects it, formats the text and downloads it', async () => {
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/docs-config', { secret });
  const editor = page.getByRole('textbox', { name: 'Configuration file' });
  await typeOver(editor, JSON.stringify(document));
  const results = page.getByRole('region', { name: 'Result' });
  await results.getByText('1 error').waitFor();
  // Leaving would lose the text: the person is asked, and stays. An option of the check loses nothing.
  const asked = page.waitForEvent('dialog').then((dialog) => dialog.dismiss());
  await page.getByRole('link', { name: 'Overview' }).click();
  await asked;
  await page.getByLabel('Strict').check();
  await results.getByText('1 error').waitFor();
  expect(await page.locator('.cm-lintRange-error').textContent()).toBe('"0D9373"');
  await results.getByText('Write "#0D9373".').waitFor();
  await typeOver(editor, JSON.stringify({ ...document, colors: { primary: '#0D9373' } }));
  await results.getByText('No errors, no warnings').waitFor();
  await page.getByRole('button', { name: 'Format' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  const text = await textOf(await downloading);
  expect(text).toBe(`${JSON.stringify({ ...document, colors: { primary: '#0D9373' } }, null, 2)}\n`);
  await assertFlawless();
  await assertFitsPhone();
  // Saved, so nothing is asked.
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});

test('a file of more than 256 KiB is not opened, and a text of that size is not sent', async () => {
  const { page } = await openConsole(gateway, '/console/docs-config', { secret });
  const editor = page.getByRole('textbox', { name: 'Configuration file' });
  await editor.waitFor();
  const text = JSON.stringify({ ...document, name: 'a'.repeat(256 * 1_024) });
  const file = { name: 'mint.json', mimeType: 'application/json', buffer: Buffer.from(text) };
  await page.getByLabel('Configuration file to open').setInputFiles(file);
  await page.getByText('mint.json is too large: a file may have 256 KiB.').waitFor();
  await typeOver(editor, text);
  await page.getByText('The file has more than 256 KiB. Check it with the command docs-config.').waitFor();
});

test('the result of the text before is not that of a text that could not be checked', async () => {
  const { page } = await openConsole(gateway, '/console/docs-config', { secret, expectedProblems: [/status of 503/] });
  const editor = page.getByRole('textbox', { name: 'Configuration file' });
  const results = page.getByRole('region', { name: 'Result' });
  await typeOver(editor, JSON.stringify({ ...document, colors: { primary: '#0D9373' } }));
  await results.getByText('No errors, no warnings').waitFor();
  await page.route('**/graphql', (route) =>
    route.fulfill({ status: 503, json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] } }),
  );
  await typeOver(editor, '{}');
  await results.getByText('The file could not be checked').waitFor();
  expect(await results.getByText('No errors, no warnings').count()).toBe(0);
});

test('a file that is not UTF-8 is not opened; what is typed instead is formatted, which changes nothing but white space', async () => {
  const { page } = await openConsole(gateway, '/console/docs-config', { secret });
  const editor = page.getByRole('textbox', { name: 'Configuration file' });
  await editor.waitFor();
  const file = { name: 'latin.json', mimeType: 'application/json', buffer: Buffer.from('{"name": "Zürich"}', 'latin1') };
  await page.getByLabel('Configuration file to open').setInputFiles(file);
  await page.getByText('latin.json is not UTF-8, or could not be read.').waitFor();
  expect(await page.getByRole('button', { name: 'Download' }).isDisabled()).toBe(true);
  // As the command says of it.
  const marked = { name: 'marked.json', mimeType: 'application/json', buffer: Buffer.from('\ufeff{"name": "Docs"}') };
  await page.getByLabel('Configuration file to open').setInputFiles(marked);
  await page.getByText('json-syntax').first().waitFor();

  await typeOver(editor, '{"name": "a\\u0041 {[,:\\"", "name":"b", "n":[9007199254740993 ,1.0],"none":{ }, "empty": [ ]}');
  await page.getByRole('button', { name: 'Format' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  expect(await textOf(await downloading)).toBe(`{
  "name": "a\\u0041 {[,:\\"",
  "name": "b",
  "n": [
    9007199254740993,
    1.0
  ],
  "none": {},
  "empty": []
}
`);
});

test('of several files that are dropped none is opened', async () => {
  const { page } = await openConsole(gateway, '/console/docs-config', { secret });
  const editor = page.getByRole('textbox', { name: 'Configuration file' });
  const before = await editor.textContent();
  const drop = async (...names: string[]) => {
    const dataTransfer = await page.evaluateHandle((names) => {
      const transfer = new DataTransfer();
      for (const name of names) transfer.items.add(new File([JSON.stringify({ name })], name));
      return transfer;
    }, names);
    await editor.dispatchEvent('drop', { dataTransfer });
  };
  await drop('first', 'second');
  await page.getByText('Several files were dropped, and none was opened.').waitFor();
  expect(await editor.textContent()).toBe(before);
  await drop('single');
  await editor.getByText('single').waitFor();
});

test('a file replaces a text that is not saved only if the person agrees', async () => {
  const { page } = await openConsole(gateway, '/console/docs-config', { secret });
  const editor = page.getByRole('textbox', { name: 'Configuration file' });
  const file = { name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{"name": "opened"}') };
  const open = () => page.getByLabel('Configuration file to open').setInputFiles(file);
  await typeOver(editor, '{"name": "typed"}');
  let asked = page.waitForEvent('dialog').then((question) => question.dismiss());
  await open();
  await asked;
  expect(await editor.textContent()).toBe('{"name": "typed"}');
  asked = page.waitForEvent('dialog').then((question) => question.accept());
  await open();
  await asked;
  await expect.poll(() => editor.textContent()).toBe('{"name": "opened"}');
});
