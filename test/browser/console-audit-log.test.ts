import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('a person finds who changed a group, and what was there before', async () => {
  for (const providedId of ['acme', 'other']) {
    await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: 'Before' });
  }
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'acme' }, name: 'After', properties: { plan: 'gold' } });
  const { secret } = await gateway.issue({ scopes: ['audit:read', 'groups:read'] });
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/audit-log', { secret });
  const events = page.getByRole('main').getByRole('listitem');
  await page.getByLabel('Type', { exact: true }).selectOption('user_group.updated');
  await events.filter({ hasText: 'user_group.created' }).first().waitFor({ state: 'detached' });
  expect(await events.getByRole('row', { name: /^name/ }).textContent()).toBe('nameBeforeAfter');
  expect(await events.first().textContent()).toMatch(/by test/);
  await assertFlawless();

  await page.getByLabel('Type', { exact: true }).selectOption('');
  await events.getByRole('link', { name: 'other' }).click();
  await events.filter({ hasText: 'acme' }).first().waitFor({ state: 'detached' });
  await expect.poll(() => events.filter({ hasText: 'user_group.created' }).count()).toBe(1);
  await assertFitsPhone();
});
