import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { differencesIn, lostResponse, openConsole, propertiesIn, save, typeOver } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

// Several people, or tabs, change one group; and a change whose outcome is not known.
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const initial = {
  name: 'ACME',
  properties: { plan: 'gold', region: 'eu', limits: { rows: 10, days: 30 } },
  mapping: [
    { schemaId: 'sales', dataSource: 'pg-1' },
    { schemaId: 'stock', dataSource: 'pg-2' },
  ],
};

/** Opens the page of a new group. `change` is what somebody else makes of it meanwhile. */
async function openGroup(providedId: string, secret?: string) {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId, ...initial });
  const path = `/console/group?id=${userGroup.id}`;
  const options = { expectedProblems: [/status of 504/, lostResponse], ...(secret !== undefined && { secret }) };
  const { page, assertFlawless } = await openConsole(gateway, path, options);
  await propertiesIn(page).getByText('gold').waitFor();
  const by = { providedId };
  const change = (fields: object) => mutate(gateway, 'updateUserGroup', { by, ...fields });
  return { page, assertFlawless, path, by, token: userGroup.token, change };
}

async function read(by: object) {
  const query = `query ($by: UserGroupBy!) { userGroup(by: $by) {
    name properties mapping { schemaId dataSource } environmentTag status version } }`;
  return (await gateway.graphql(query, { by })).json.data.userGroup;
}

/** The parts of the form: how a person enters a value, and what somebody else stores. */
const parts = {
  name: {
    enter: (page: Page, value: string) => page.getByLabel('Display name').fill(value),
    of: (value: string) => ({ name: value }),
    label: 'Display name',
  },
  mapping: {
    enter: (page: Page, value: string) => page.getByLabel('Data source of sales').fill(value),
    of: (value: string) => ({ mapping: [{ schemaId: 'sales', dataSource: value }, ...initial.mapping.slice(1)] }),
    label: 'sales',
  },
  properties: {
    enter: (page: Page, value: string) => typeOver(propertiesIn(page), JSON.stringify({ ...initial.properties, plan: value })),
    of: (value: string) => ({ properties: { ...initial.properties, plan: value } }),
    label: 'plan',
  },
};
const partNames = ['name', 'mapping', 'properties'] as const;

test('two tabs save different properties of a group, and different schemas, and lose nothing', async () => {
  const { page: first, path, by } = await openGroup('apart');
  const second = await first.context().newPage(); // signed in by the first one
  onTestFinished(() => second.close());
  await second.goto(gateway.url + path);
  await propertiesIn(second).getByText('gold').waitFor();
  const { region, ...others } = initial.properties;
  await typeOver(propertiesIn(first), JSON.stringify({ ...initial.properties, plan: 'silver', limits: { rows: 20, days: 30 } }));
  await save(first, 'Save the properties');
  await typeOver(propertiesIn(second), JSON.stringify({ ...others, limits: { rows: 10, days: 60 }, seats: 5 }));
  await save(second, 'Save the properties');
  await second.getByText('Saved. The group has other changes, too: the page shows it as it is now').waitFor();
  await propertiesIn(second).getByText('silver').waitFor();
  await first.getByLabel('Data source of sales').fill('pg-8');
  await save(first, 'Save the mapping');
  await second.getByRole('button', { name: 'Remove stock' }).click();
  await save(second, 'Save the mapping');
  const { properties, mapping } = await read(by);
  expect({ properties, mapping }).toEqual({
    properties: { plan: 'silver', limits: { rows: 20, days: 60 }, seats: 5 },
    mapping: [{ schemaId: 'sales', dataSource: 'pg-8' }],
  });
});

test('only properties that were changed are sent, unless a patch cannot make the change', async () => {
  const { page, by } = await openGroup('sent');
  const { region, ...rest } = initial.properties;
  const turned = { limits: { days: 30, rows: 10 }, plan: 'tin' };
  for (const [text, sent] of [
    [JSON.stringify({ ...rest, plan: 'silver' }), { mergeProperties: { plan: 'silver', region: null } }],
    [JSON.stringify(turned), { properties: turned }], // a patch changes no order
    [JSON.stringify({ ...turned, plan: null }), { properties: { ...turned, plan: null } }],
    ['{"seats": 1.0}', { properties: { seats: 1 } }], // JavaScript would write it as 1
    [' ', { properties: null }],
  ] as const) {
    const request = page.waitForRequest((candidate) => candidate.postData()?.includes('mutation UpdateGroup') === true);
    await typeOver(propertiesIn(page), text);
    await save(page, 'Save the properties');
    const { by: _, expectedVersion, ...change } = (await request).postDataJSON().variables.input;
    expect([change, expectedVersion]).toEqual([sent, expect.any(Number)]);
  }
  expect(await read(by)).toMatchObject({ properties: null });
});

test.each(partNames)(
  'a %s that two people change is shown with both values; the person keeps their own, or takes the stored one',
  async (part) => {
    const { enter, of, label } = parts[part];
    const { page, change, by, assertFlawless } = await openGroup(`both-${part}`);
    const saveButton = page.getByRole('button', { name: `Save the ${part}` });
    await change(of('theirs'));
    await enter(page, 'mine');
    await saveButton.click();
    expect(await differencesIn(page)).toEqual([[label, 'mine', 'theirs']]);
    expect(await read(by)).toMatchObject(of('theirs'));
    await assertFlawless();
    // Meanwhile it is changed again.
    await change(of('latest'));
    await page.getByRole('button', { name: 'Save mine' }).click();
    await expect.poll(() => differencesIn(page)).toEqual([[label, 'mine', 'latest']]);
    await save(page, `Save the ${part}`, 'Save mine');
    expect(await read(by)).toMatchObject(of('mine'));

    await change(of('theirs'));
    await enter(page, 'other');
    await saveButton.click();
    await differencesIn(page);
    await page.getByRole('button', { name: 'Take what is stored' }).click();
    await page.getByRole('region', { name: 'What differs' }).waitFor({ state: 'detached' });
    expect(await saveButton.isDisabled()).toBe(true);
    expect(await read(by)).toMatchObject(of('theirs'));
  },
);

test.each<[opener: string, button: string, after: object | null]>([
  ['Suspend …', 'Suspend the group', { status: 'SUSPENDED', name: 'theirs' }],
  ['Rotate …', 'Rotate the token', { version: 3 }],
  ['Move …', 'Move the group', null],
  ['Delete …', 'Delete the group', null],
])(
  '%s of a group that was changed meanwhile needs another confirmation, which shows the change',
  async (opener, button, after) => {
    const { secret } = await gateway.issue({ scopes: ['admin'] });
    const id = button.replaceAll(' ', '-');
    const { page, change, by } = await openGroup(id, secret);
    await page.waitForLoadState('networkidle'); // what is loaded last moves the buttons
    await page.getByRole('button', { name: opener }).click();
    const dialog = page.getByRole('dialog');
    const confirm = async () => {
      if (opener === 'Move …') await page.getByLabel('New environment').selectOption('Customer');
      if (opener === 'Delete …') await dialog.getByLabel(`Type ${id} to confirm`).fill(id);
      await dialog.getByRole('button', { name: button }).click();
    };
    await dialog.waitFor();
    await change({ name: 'theirs' });
    await confirm();
    expect(await differencesIn(page)).toEqual([['Display name', 'ACME', 'theirs']]);
    expect(await read(by)).toMatchObject({ version: 2, status: 'ACTIVE', environmentTag: 'TESTING' });
    await confirm();
    if (after) await expect.poll(() => read(by)).toMatchObject(after);
    else await expect.poll(() => read(by)).toBeNull(); // elsewhere, for this caller
  },
);

test('of several groups, those that were changed since the list was loaded are deleted after another confirmation', async () => {
  for (const providedId of ['several-1', 'several-2']) await mutate(gateway, 'getOrCreateUserGroup', { providedId });
  const { page } = await openConsole(gateway, '/console/groups?search=several');
  for (const number of [1, 2]) await page.getByLabel(`Select several-${number}`).check();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'several-1' }, name: 'renamed' });
  await page.getByRole('button', { name: 'Delete …' }).click();
  const confirm = async () => {
    await page.getByLabel('Type 2 to confirm').fill('2');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  };
  await confirm();
  expect(await differencesIn(page)).toEqual([['several-1.name', 'several-1', 'renamed']]);
  await expect.poll(() => read({ providedId: 'several-2' })).toBeNull();
  expect(await read({ providedId: 'several-1' })).not.toBeNull();
  await confirm();
  await page.getByText('Deleted 2 groups').waitFor();
  expect(await read({ providedId: 'several-1' })).toBeNull();
});

test('undoing after a save does not undo what somebody else has stored', async () => {
  const { page, change, by } = await openGroup('undone');
  await change({ mergeProperties: { region: 'us' } });
  await typeOver(propertiesIn(page), JSON.stringify({ ...initial.properties, seats: 5 }));
  await save(page, 'Save the properties');
  await propertiesIn(page).getByText('us').waitFor();
  await propertiesIn(page).press('ControlOrMeta+z');
  expect(await page.getByRole('button', { name: 'Save the properties' }).isDisabled()).toBe(true);
  expect((await read(by)).properties).toEqual({ ...initial.properties, region: 'us', seats: 5 });
});

/**
 * From the next change on, a proxy responds that it has waited for too long, also when the page reads the group again.
 *
 * @param made whether the gateway makes the change all the same.
 */
const timeOut = (page: Page, made: boolean) =>
  page.route('**/graphql', async (route) => {
    if (made && route.request().postDataJSON().query.includes('mutation UpdateGroup')) await route.fetch();
    await route.fulfill({ status: 504, json: { errors: [{ message: 'upstream timed out' }] } });
  });

const cases = partNames.flatMap((part) => [true, false].map((made) => [part, made] as const));

test.each(cases)(
  'after a save of the %s without a response, the form is locked until saving again tells the outcome (saved: %s)',
  async (part, made) => {
    const { enter, of } = parts[part];
    const { page, by } = await openGroup(`lost-${part}-${made}`);
    await timeOut(page, made);
    await enter(page, 'mine');
    await page.getByRole('button', { name: `Save the ${part}` }).click();
    await page.getByText('It is not known whether the change was made').waitFor();
    await page.getByText('Nothing can be edited here').waitFor();
    expect(await page.getByLabel('Display name').isEditable()).toBe(part !== 'name');
    await page.unroute('**/graphql');
    await save(page, `Save the ${part}`);
    expect(await read(by)).toMatchObject({ ...initial, ...of('mine'), version: 2 });
  },
);

test.each([
  [true, 'gold'],
  [false, 'silver'],
])('what somebody else has set back, after it was saved without a response, stays so (saved: %s)', async (made, plan) => {
  const { page, change, by } = await openGroup(`reverted-${made}`);
  await timeOut(page, made);
  await parts.properties.enter(page, 'silver');
  await page.getByRole('button', { name: 'Save the properties' }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await page.unroute('**/graphql');
  if (made) await change({ mergeProperties: { plan: 'gold' } });
  else await change({ mergeProperties: { access: { seats: 5 } } });
  await save(page, 'Save the properties');
  await expect.poll(async () => (await read(by)).properties.plan).toBe(plan);
  if (!made) expect((await read(by)).properties).toMatchObject({ access: { seats: 5 } });
});

test('a person who gives up a change without a response sees what is stored', async () => {
  const { page } = await openGroup('given-up');
  await timeOut(page, true);
  await page.getByLabel('Display name').fill('made');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe('made');
  await page.getByRole('heading', { level: 1, name: 'made' }).waitFor();
});
