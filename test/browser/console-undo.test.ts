import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole, save } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const undo = 'ControlOrMeta+z';

test.each(['properties', 'name'])('undoing after saving the %s does not undo what somebody else has stored', async (saved) => {
  const by = { providedId: `undone-${saved}` };
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { ...by, properties: { plan: 'free', seats: 5 } });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`);
  const editor = page.getByRole('textbox', { name: 'Properties as JSON' });
  await editor.getByText('free').waitFor();
  await mutate(gateway, 'updateUserGroup', { by, mergeProperties: { plan: 'gold' } });
  if (saved === 'properties') {
    await editor.click();
    for (const key of ['ControlOrMeta+End', 'ArrowUp', 'End', 'Backspace', '6']) await editor.press(key);
    await save(page, 'Save the properties');
  } else {
    await page.getByLabel('Display name').fill('ACME');
    await save(page, 'Save the name');
  }
  await editor.getByText('gold').waitFor();
  const shown = await editor.textContent();
  await editor.click();
  await editor.press(undo);
  expect(await editor.textContent()).toBe(shown);
  expect(await page.getByRole('button', { name: 'Save the properties' }).isDisabled()).toBe(true);
  // What the person types is undone as ever.
  await editor.press('ControlOrMeta+End');
  await page.keyboard.type('x');
  await editor.press(undo);
  expect(await editor.textContent()).toBe(shown);
});

test('undoing does not bring the text of one file under the name of another', async () => {
  const { secret } = await gateway.issue({ scopes: ['groups:read'] });
  const { page } = await openConsole(gateway, '/console/docs-config', { secret });
  const editor = page.getByRole('textbox', { name: 'Configuration file' });
  await editor.waitFor();
  const open = async (name: string) => {
    const file = { name: `${name}.json`, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify({ name })) };
    await page.getByLabel('Configuration file to open').setInputFiles(file);
    await editor.getByText(name).waitFor();
  };
  await open('first');
  await open('second');
  await page.getByRole('button', { name: 'Format' }).click();
  await expect.poll(() => editor.textContent()).toBe('{  "name": "second"}');
  await editor.click();
  // Formatting is a change of the text.
  for (let times = 0; times < 2; times += 1) await editor.press(undo);
  expect(await editor.textContent()).toBe('{"name":"second"}');
});
