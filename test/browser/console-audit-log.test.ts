import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
let secret: string;
beforeAll(async () => {
  gateway = await startGateway();
  ({ secret } = await gateway.issue({ scopes: ['audit:read', 'groups:read'] }));
});
afterAll(() => gateway.close());

const create = async (providedId: string, more: object = {}) =>
  (await mutate(gateway, 'getOrCreateUserGroup', { providedId, ...more })).userGroup.id as string;

async function open(query = '', token = secret) {
  const { page } = await openConsole(gateway, `/console/audit-log${query}`, { secret: token });
  return { page, events: page.getByRole('main').locator('.events > li') };
}

test('a person finds who changed a group, and what was there before', async () => {
  const by = { id: await create('acme', { name: 'Before' }) };
  await create('other');
  await mutate(gateway, 'updateUserGroup', { by, name: 'After' });
  const { page, events } = await open();
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'user_group.updated' });
  await events.filter({ hasText: 'user_group.created' }).first().waitFor({ state: 'detached' });
  expect(await events.getByRole('row', { name: /^name/ }).textContent()).toBe('name"Before""After"');
  expect(await events.first().textContent()).toMatch(/by test/);
  await page.getByLabel('Type', { exact: true }).selectOption('');
  await events.getByRole('link', { name: 'other' }).click();
  await events.filter({ hasText: 'acme' }).first().waitFor({ state: 'detached' });
  await expect.poll(() => events.count()).toBe(1);
});

test('the changes of a group say exactly what was there before and after', async () => {
  const long = 'a'.repeat(400);
  const by = { id: await create('exact', { properties: null }) };
  for (const properties of [{}, { plan: null }, { plan: '5' }, { plan: 5 }, { plan: `${long}1` }, { plan: `${long}2` }, {}])
    await mutate(gateway, 'updateUserGroup', { by, properties });
  const { page } = await open(`?group=${by.id}&type=USER_GROUP_UPDATED`);
  const rows = page.getByRole('main').locator('tbody tr');
  await rows.first().waitFor();
  const shown = await Promise.all((await rows.all()).map((row) => row.locator('th, td').allTextContents()));
  expect(shown.reverse()).toEqual([
    ['properties', 'null', '{}'],
    ['properties.plan', '', 'null'],
    ['properties.plan', 'null', '"5"'],
    ['properties.plan', '"5"', '5'],
    ['properties.plan', '5', expect.stringMatching(/^"a{299}…$/)],
    ['properties.plan', expect.stringMatching(/^…a+1"$/), expect.stringMatching(/^…a+2"$/)],
    ['properties.plan', expect.stringMatching(/^"a{299}…$/), ''],
  ]);
});

test('an event with a thousand changes shows the first of them, and all when a person asks for them', async () => {
  const mapping = Array.from({ length: 1_000 }, (_, index) => ({ schemaId: `schema-${index}`, dataSource: 'pg' }));
  const { events } = await open(`?group=${await create('long', { mapping })}`);
  await events.waitFor();
  expect(await events.getByRole('row').count()).toBe(11);
  await events.getByRole('button', { name: 'Show all 1,001 changes' }).click();
  expect(await events.getByRole('row').count()).toBe(1_002);
});

test('the filter by group finds exactly the id that is typed, and sends no token', async () => {
  await create('spaced');
  await create(' spaced');
  const { page, events } = await open();
  const field = page.getByRole('textbox', { name: 'Group' });
  await field.fill(' spaced');
  await field.press('Enter');
  await expect.poll(() => events.count()).toBe(1);
  await field.fill(`ugt_${'a'.repeat(36)}`);
  await field.press('Enter');
  await page.getByText('This is a token.').waitFor();
  expect(page.url()).not.toContain('ugt_');
});

test('the number of an API token leads to its changes, and back to all of them', async () => {
  const { secret: admin, id } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { page } = await openConsole(gateway, '/console/api-tokens', { secret: admin });
  await page.getByRole('link', { name: `#${id}`, exact: true }).click();
  const types = page.getByRole('main').locator('.events > li strong');
  await expect.poll(() => types.allTextContents()).toEqual(['api_token.created']);
  await page.getByRole('button', { name: 'Show every API token' }).click();
  await expect.poll(() => types.count()).toBeGreaterThan(1);
});
