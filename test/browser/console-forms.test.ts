import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('the form of a new group says that spaces around a provided id are a part of it', async () => {
  const { page, assertFlawless } = await openConsole(gateway, '/console/groups');
  await page.getByRole('button', { name: 'New group' }).first().click();
  const field = page.getByRole('dialog').getByLabel('Provided id');
  const hint = page.getByText('begins or ends with a space');
  await field.fill('acme');
  expect(await hint.count()).toBe(0);
  await field.fill('  acme ');
  await hint.waitFor();
  await assertFlawless();
});
