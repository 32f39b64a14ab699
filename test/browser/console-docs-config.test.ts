import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer, openConsole, textOf, typeOver } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function open() {
  const { page } = await openConsole(gateway, '/console/docs-config');
  return {
    page,
    editor: page.getByRole('textbox', { name: 'Configuration file' }),
    results: page.getByRole('region', { name: 'Result' }),
    choose: (name: string, content: string | Buffer) =>
      page
        .getByLabel('Configuration file to open')
        .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content as string) }),
    async formatted() {
      await page.getByRole('button', { name: 'Format' }).click();
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      return textOf(await downloading);
    },
  };
}

const document = {
  name: 'ACME',
  favicon: '/favicon.svg',
  colors: { primary: '#0D9373' },
  navigation: [{ group: 'Start', pages: ['a'] }],
};

test('a person pastes a file, corrects it, formats the text and downloads it', async () => {
  const { page, editor, results, formatted } = await open();
  await typeOver(editor, JSON.stringify(document).replace('#', ''));
  await results.getByText('1 error').waitFor();
  expect(await page.locator('.cm-lintRange-error').textContent()).toBe('"0D9373"');
  await results.getByText('Write "#0D9373".').waitFor();
  // Leaving would lose the text: the person is asked, and stays.
  const asked = answer(page, false);
  await page.getByRole('link', { name: 'Overview' }).click();
  await asked;
  await typeOver(editor, JSON.stringify(document));
  await results.getByText('No errors, no warnings').waitFor();
  expect(await formatted()).toBe(`${JSON.stringify(document, null, 2)}\n`);
  // Saved, so nothing is asked.
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});

test('formatting changes nothing but white space', async () => {
  const { editor, formatted } = await open();
  await typeOver(editor, '{"name": "a\\u0041 {[,:\\"", "name":"b", "n":[9007199254740993 ,1.0],"none":{ }}');
  const lines = ['{', '  "name": "a\\u0041 {[,:\\"",', '  "name": "b",', '  "n": [', '    9007199254740993,'];
  expect(await formatted()).toBe([...lines, '    1.0', '  ],', '  "none": {}', '}', ''].join('\n'));
});

test('a file that is too large or not UTF-8 is not opened; another one replaces what is typed only if the person agrees', async () => {
  const { page, editor, choose } = await open();
  await editor.waitFor();
  const large = JSON.stringify({ ...document, name: 'a'.repeat(256 * 1_024) });
  await choose('mint.json', large);
  await page.getByText('mint.json is too large: a file may have 256 KiB.').waitFor();
  await choose('latin.json', Buffer.from('{"name": "Zürich"}', 'latin1'));
  await page.getByText('latin.json is not UTF-8, or could not be read.').waitFor();
  await typeOver(editor, '{"name": "typed"}');
  for (const [agrees, text] of [
    [false, '{"name": "typed"}'],
    [true, '{"name": "opened"}'],
  ] as const) {
    const asked = answer(page, agrees);
    await choose('other.json', '{"name": "opened"}');
    await asked;
    await expect.poll(() => editor.textContent()).toBe(text);
  }
});
