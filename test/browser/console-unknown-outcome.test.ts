import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole, save, typeOver } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const initial = {
  name: 'ACME',
  mapping: [{ schemaId: 'sales', dataSource: 'pg-1' }],
  properties: { plan: 'gold', limits: { rows: 10, days: 30 } },
};

/** Opens the page of a new group. */
async function openGroup(providedId: string) {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId, ...initial });
  const opened = await openConsole(gateway, `/console/group?id=${userGroup.id}`, { expectedProblems: [/status of 504/] });
  await editorOf(opened.page).getByText('gold').waitFor();
  return opened;
}

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Properties as JSON' });

/**
 * From the next change on, a proxy responds that it has waited for too long, also when the page reads the group again.
 *
 * @param made whether the gateway makes the change all the same.
 * @returns ends it.
 */
async function timeOut(page: Page, made: boolean): Promise<() => Promise<void>> {
  await page.route('**/graphql', async (route) => {
    if (made && route.request().postDataJSON().query.includes('mutation UpdateGroup')) await route.fetch();
    await route.fulfill({ status: 504, json: { errors: [{ message: 'upstream timed out' }] } });
  });
  return () => page.unroute('**/graphql');
}

async function read(providedId: string) {
  const query = 'query ($by: UserGroupBy!) { userGroup(by: $by) { name properties mapping { schemaId dataSource } } }';
  return (await gateway.graphql(query, { by: { providedId } })).json.data.userGroup;
}

const sections = {
  name: {
    mine: 'mine',
    back: initial.name,
    enter: (page: Page, text: string) => page.getByLabel('Display name').fill(text),
    shown: (page: Page) => page.getByLabel('Display name').inputValue(),
  },
  mapping: {
    mine: 'pg-2',
    back: 'pg-1',
    enter: (page: Page, text: string) => page.getByLabel('Data source of sales').fill(text),
    shown: (page: Page) => page.getByLabel('Data source of sales').inputValue(),
  },
  properties: {
    mine: JSON.stringify({ ...initial.properties, plan: 'silver' }),
    back: JSON.stringify(initial.properties, null, 2),
    enter: (page: Page, text: string) => typeOver(editorOf(page), text),
    shown: async (page: Page) => JSON.stringify(JSON.parse((await editorOf(page).textContent()) ?? ''), null, 2),
  },
} as const;

test.each([
  ['name', true],
  ['name', false],
  ['mapping', true],
  ['mapping', false],
  ['properties', true],
  ['properties', false],
] as const)('the %s that may have been changed can be set back to what it was (changed: %s)', async (part, made) => {
  const { mine, back, enter, shown } = sections[part];
  const { page } = await openGroup(`${part}-${made}`);
  const endTimeOut = await timeOut(page, made);
  await enter(page, mine);
  await page.getByRole('button', { name: `Save the ${part}` }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await endTimeOut();
  await enter(page, back);
  expect(await page.getByRole('button', { name: `Save the ${part}` }).isEnabled()).toBe(true);
  await save(page, `Save the ${part}`);
  expect(await shown(page)).toBe(back);
  expect(await read(`${part}-${made}`)).toEqual(initial);
  // What others change from then on is shown again.
  await enter(page, mine);
  await enter(page, back);
  expect(await page.getByRole('button', { name: `Save the ${part}` }).isDisabled()).toBe(true);
});

test('of a change that may have been made, a property that is set back is not taken for one that somebody else has changed', async () => {
  const { page } = await openGroup('partly');
  const endTimeOut = await timeOut(page, true);
  const enter = (value: unknown) => typeOver(editorOf(page), JSON.stringify(value));
  await enter({ plan: 'silver', limits: { rows: 20, days: 30 } });
  await page.getByRole('button', { name: 'Save the properties' }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await endTimeOut();
  const by = { providedId: 'partly' };
  await mutate(gateway, 'updateUserGroup', { by, mergeProperties: { region: 'eu', limits: { days: 60 } } });
  await enter({ plan: 'gold', limits: { rows: 10, days: 30 }, seats: 5 });
  await save(page, 'Save the properties');
  const merged = { plan: 'gold', limits: { rows: 10, days: 60 }, region: 'eu', seats: 5 };
  expect((await read('partly')).properties).toEqual(merged);
  // Somebody else has changed the same: the person chooses.
  const release = await timeOut(page, false);
  await page.getByLabel('Display name').fill('mine');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await release();
  await mutate(gateway, 'updateUserGroup', { by, name: 'theirs' });
  await page.getByLabel('Display name').fill('ACME');
  await page.getByRole('button', { name: 'Save the name' }).click();
  const differences = page.getByRole('region', { name: 'What differs' }).locator('tbody');
  await differences.first().waitFor();
  expect(await differences.locator('td').allTextContents()).toEqual(['ACME', 'theirs']);
  await page.getByRole('button', { name: 'Take what is stored' }).click();
  expect(await page.getByLabel('Display name').inputValue()).toBe('theirs');
  expect((await read('partly')).name).toBe('theirs');
});
