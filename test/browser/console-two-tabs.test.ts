import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  addSchema,
  holdRequests,
  loseNextResponse,
  lostResponse,
  openConsole,
  save,
  typeOver,
  untilSaved,
} from '../support/console.ts';
import { changeSilently } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/process.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const properties = { plan: 'gold', region: 'eu', limits: { rows: 10, days: 30 } };
const mapping = [
  { schemaId: 'sales', dataSource: 'pg-1' },
  { schemaId: 'stock', dataSource: 'pg-2' },
];

/** Opens the page of a new group. `change` is what somebody else makes of it meanwhile. */
async function openGroup(providedId: string, options: Parameters<typeof openConsole>[2] = {}) {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: 'ACME', properties, mapping });
  const path = `/console/group?id=${userGroup.id}`;
  const opened = await openConsole(gateway, path, options);
  await editorOf(opened.page).getByText('gold').waitFor();
  const change = (fields: object) => mutate(gateway, 'updateUserGroup', { by: { providedId }, ...fields });
  return { ...opened, path, token: userGroup.token, change };
}

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Properties as JSON' });

async function saveProperties(page: Page, value: unknown) {
  await typeOver(editorOf(page), JSON.stringify(value));
  await save(page, 'Save the properties');
}

async function read(providedId: string) {
  const query =
    'query ($by: UserGroupBy!) { userGroup(by: $by) { name environmentTag properties mapping { schemaId dataSource } version } }';
  return (await gateway.graphql(query, { by: { providedId } })).json.data.userGroup;
}

/** Both values of what differs, as a person reads them. */
async function differencesIn(page: Page): Promise<string[][]> {
  const rows = page.getByRole('region', { name: 'What differs' }).locator('tbody');
  await rows.first().waitFor();
  return Promise.all((await rows.all()).map((row) => row.locator('th, td').allTextContents()));
}

test('two tabs save different properties of a group, and different schemas, and lose nothing', async () => {
  const { page: first, path } = await openGroup('apart');
  // Signed in by the first one.
  const second = await first.context().newPage();
  onTestFinished(() => second.close());
  await second.goto(gateway.url + path);
  await editorOf(second).getByText('gold').waitFor();
  await saveProperties(first, { ...properties, plan: 'silver', limits: { rows: 20, days: 30 } });
  await first.getByText('Saved', { exact: true }).waitFor();
  await saveProperties(second, { plan: 'gold', limits: { rows: 10, days: 60 }, seats: 5 });
  await second.getByText('Saved. The group has other changes, too: the page shows it as it is now').waitFor();
  await editorOf(second).getByText('silver').waitFor();
  await first.getByLabel('Data source of sales').fill('pg-8');
  await save(first, 'Save the mapping');
  await second.getByRole('button', { name: 'Remove stock' }).click();
  await save(second, 'Save the mapping');
  expect(await second.getByLabel('Data source of sales').inputValue()).toBe('pg-8');
  expect(await read('apart')).toMatchObject({
    properties: { plan: 'silver', limits: { rows: 20, days: 60 }, seats: 5 },
    mapping: [{ schemaId: 'sales', dataSource: 'pg-8' }],
  });
  expect(Object.keys((await read('apart')).properties)).not.toContain('region');
});

test('only properties that were changed are sent, unless a patch cannot make the change', async () => {
  const { page: second } = await openGroup('sent');
  const sent = async (text: string) => {
    const request = second.waitForRequest((candidate) => candidate.postData()?.includes('mutation UpdateGroup') === true);
    await typeOver(editorOf(second), text);
    await save(second, 'Save the properties');
    const { by, expectedVersion, ...change } = JSON.parse((await request).postData() ?? '').variables.input;
    expect(expectedVersion).toEqual(expect.any(Number));
    return change;
  };
  const { region, ...rest } = properties;
  expect(await sent(JSON.stringify({ ...rest, plan: 'silver' }))).toEqual({ mergeProperties: { plan: 'silver', region: null } });
  // A patch changes no order.
  const turned = { limits: { days: 30, rows: 10 }, plan: 'tin' };
  expect(await sent(JSON.stringify(turned))).toEqual({ properties: turned });
  expect(JSON.stringify((await read('sent')).properties)).toBe(JSON.stringify(turned));
  const withNull = { ...rest, plan: null };
  expect(await sent(JSON.stringify(withNull))).toEqual({ properties: withNull });
  expect(await sent(JSON.stringify({ ...withNull, seats: 5 }))).toEqual({ mergeProperties: { seats: 5 } });
  // JavaScript would write it as 1.
  expect(await sent('{"seats": 1.0}')).toEqual({ properties: { seats: 1 } });
  expect(await sent(' ')).toEqual({ properties: null });
  expect((await read('sent')).properties).toBeNull();
});

test('a property that two people change is shown with both values; the person keeps their own, or takes the stored one', async () => {
  const { page, change, assertFlawless, assertFitsPhone } = await openGroup('mine');
  await change({ properties: { ...properties, plan: 'silver', region: 'us' } });
  const mine = JSON.stringify({ ...properties, plan: 'bronze', seats: 5 });
  await typeOver(editorOf(page), mine);
  await page.getByRole('button', { name: 'Save the properties' }).click();
  expect(await differencesIn(page)).toEqual([['plan', 'bronze', 'silver']]);
  expect((await read('mine')).properties).toEqual({ ...properties, plan: 'silver', region: 'us' });
  expect(await editorOf(page).textContent()).toBe(mine);
  await assertFlawless();
  // Meanwhile it is changed again.
  await change({ properties: { ...properties, plan: 'tin', region: 'ap' } });
  await page.getByRole('button', { name: 'Save mine' }).click();
  await expect.poll(() => differencesIn(page)).toEqual([['plan', 'bronze', 'tin']]);
  await page.getByRole('button', { name: 'Save mine' }).click();
  await page.getByRole('region', { name: 'What differs' }).waitFor({ state: 'detached' });
  await editorOf(page).getByText('"ap"').waitFor();
  expect((await read('mine')).properties).toEqual({ ...properties, plan: 'bronze', region: 'ap', seats: 5 });

  const theirs = { ...properties, plan: 'silver', region: 'ap', seats: 5 };
  await change({ properties: theirs });
  await typeOver(editorOf(page), JSON.stringify({ ...theirs, plan: null, seats: 6 }));
  await page.getByRole('button', { name: 'Save the properties' }).click();
  expect(await differencesIn(page)).toEqual([['plan', 'null', '"silver"']]);
  await page.getByRole('button', { name: 'Take what is stored' }).click();
  await editorOf(page).getByText('silver').waitFor();
  await save(page, 'Save the properties');
  expect((await read('mine')).properties).toEqual({ ...theirs, seats: 6 });
  await assertFitsPhone();
});

test('of long values that two people change, all is shown from where they differ, and how many differ', async () => {
  const { page, change, assertFlawless, assertFitsPhone } = await openGroup('long');
  const long = (whose: string) => `${'long '.repeat(100)}${whose}${' long'.repeat(100)}, ${whose}`;
  await change({ properties: { ...properties, note: long('theirs'), plan: 'silver' } });
  await typeOver(editorOf(page), JSON.stringify({ ...properties, note: long('mine'), plan: 'bronze' }));
  await page.getByRole('button', { name: 'Save the properties' }).click();
  const differences = await differencesIn(page);
  const ends = ['mine', 'theirs'].map((whose) => `…${long(whose).slice(500 - 50)}`);
  expect(differences).toEqual([
    ['plan', 'bronze', 'silver'],
    ['note', ...ends],
  ]);
  await page.getByText('2 values differ').waitFor();
  await assertFlawless();
  await assertFitsPhone();
});

test('a name and a schema that two people change are shown with both values; what was edited elsewhere on the page stays', async () => {
  const { page, change } = await openGroup('named');
  await change({
    name: 'ACME Inc',
    mapping: [
      { schemaId: 'sales', dataSource: 'pg-8' },
      { schemaId: 'stock', dataSource: 'pg-9' },
    ],
  });
  await page.getByLabel('Data source of sales').fill('pg-7');
  await page.getByLabel('Display name').fill('ACME Ltd');
  await page.getByRole('button', { name: 'Save the name' }).click();
  expect(await differencesIn(page)).toEqual([['Display name', 'ACME Ltd', 'ACME Inc']]);
  await page.getByRole('button', { name: 'Take what is stored' }).click();
  expect(await page.getByLabel('Display name').inputValue()).toBe('ACME Inc');
  // The page has the new version; the mapping was edited on top of the old one.
  await page.getByRole('button', { name: 'Save the mapping' }).click();
  expect(await differencesIn(page)).toEqual([['sales', 'pg-7', 'pg-8']]);
  expect(await read('named')).toMatchObject({ name: 'ACME Inc', mapping: [{ dataSource: 'pg-8' }, { dataSource: 'pg-9' }] });
  await page.getByRole('button', { name: 'Save mine' }).click();
  await untilSaved(page, 'Save the mapping');
  expect((await read('named')).mapping).toEqual([
    { schemaId: 'sales', dataSource: 'pg-7' },
    { schemaId: 'stock', dataSource: 'pg-9' },
  ]);
});

test('a person keeps their own value, also if the other one has been taken back meanwhile', async () => {
  const { page, change } = await openGroup('taken-back');
  await change({ name: 'theirs' });
  await page.getByLabel('Display name').fill('mine');
  await page.getByRole('button', { name: 'Save the name' }).click();
  expect(await differencesIn(page)).toEqual([['Display name', 'mine', 'theirs']]);
  await change({ name: 'ACME' });
  await page.getByRole('button', { name: 'Save mine' }).click();
  await untilSaved(page, 'Save the name');
  expect((await read('taken-back')).name).toBe('mine');
});

test('a group whose earlier state was restored is shown as it is, once something of it was saved', async () => {
  const { page } = await openGroup('restored');
  for (const name of ['second', 'third']) {
    await page.getByLabel('Display name').fill(name);
    await save(page, 'Save the name');
  }
  await changeSilently(gateway.database, "update user_group set name = 'ACME', version = 1 where provided_id = 'restored'");
  await saveProperties(page, { ...properties, plan: 'silver' });
  await page.getByRole('heading', { level: 1, name: 'ACME' }).waitFor();
  await editorOf(page).getByText('silver').waitFor();
  expect(await read('restored')).toMatchObject({ name: 'ACME', properties: { plan: 'silver' }, version: 2 });
});

test('that a change was saved is not said on the page of another group', async () => {
  const { page } = await openGroup('left');
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'gone-to', name: 'another' });
  const release = await holdRequests(page, 'UpdateGroup');
  await page.getByLabel('Display name').fill('late');
  await page.getByRole('button', { name: 'Save the name' }).click();
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('link', { name: 'Groups', exact: true }).first().click();
  await page.getByRole('link', { name: 'another' }).click();
  await page.getByRole('heading', { level: 1, name: 'another' }).waitFor();
  await release();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  expect((await read('left')).name).toBe('late');
  expect(await page.getByText('Saved').count()).toBe(0);
});

test('an own value that is not valid is not saved by choosing it', async () => {
  const { page, change } = await openGroup('chosen-invalid');
  await change({ mapping: [{ schemaId: 'sales', dataSource: 'pg-9' }] });
  await page.getByLabel('Data source of sales').fill('pg-8');
  await page.getByRole('button', { name: 'Save the mapping' }).click();
  await differencesIn(page);
  await page.getByRole('button', { name: 'Add a schema' }).click();
  await page.getByRole('button', { name: 'Save mine' }).click();
  await expect.poll(() => page.locator('input:focus').getAttribute('aria-label')).toBe('Schema id 3');
  expect((await read('chosen-invalid')).mapping).toEqual([{ schemaId: 'sales', dataSource: 'pg-9' }]);
});

test('values that were stored before the person began are not shown as those of somebody else', async () => {
  const { page, change } = await openGroup('begun-again');
  const name = page.getByLabel('Display name');
  await change({ name: 'theirs' });
  await name.fill('mine');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await differencesIn(page);
  await name.fill('ACME');
  await expect.poll(() => name.inputValue()).toBe('theirs');
  await change({ name: 'latest' });
  await page.getByLabel('Data source of sales').fill('pg-8');
  await save(page, 'Save the mapping');
  await expect.poll(() => name.inputValue()).toBe('latest');
  await name.fill('mine');
  expect(await page.getByRole('button', { name: 'Save mine' }).count()).toBe(0);
  await save(page, 'Save the name');
  expect((await read('begun-again')).name).toBe('mine');
});

test('after a save, the focus is still in the field of the same schema, also if rows before it were removed or added', async () => {
  const { page, change } = await openGroup('focus');
  await page.getByRole('button', { name: 'Remove sales' }).click();
  await page.getByLabel('Data source of stock').press('End');
  await page.keyboard.type('_eu');
  await page.keyboard.press('Enter');
  await untilSaved(page, 'Save the mapping');
  await page.keyboard.type('_2');
  expect(await page.getByLabel('Data source of stock').inputValue()).toBe('pg-2_eu_2');
  // Somebody else puts a schema before it.
  await change({
    mapping: [
      { schemaId: 'erp', dataSource: 'pg-9' },
      { schemaId: 'stock', dataSource: 'pg-2_eu' },
    ],
  });
  await page.keyboard.press('Enter');
  await page.getByText('Saved. The group has other changes, too').waitFor();
  await page.keyboard.type('_3');
  expect(await page.getByLabel('Data source of stock').inputValue()).toBe('pg-2_eu_2_3');
  await save(page, 'Save the mapping');
  expect((await read('focus')).mapping).toEqual([
    { schemaId: 'erp', dataSource: 'pg-9' },
    { schemaId: 'stock', dataSource: 'pg-2_eu_2_3' },
  ]);
});

test('a mismatch of a long form comes into view, without the message of an earlier change', async () => {
  const { page, change } = await openGroup('long-form');
  const many = Array.from({ length: 40 }, (_, index) => ({ schemaId: `schema-${index}`, dataSource: 'pg' }));
  await change({ mapping: many });
  await page.reload();
  await page.getByLabel('Data source of schema-39').fill('mine');
  await change({ mapping: [...many.slice(0, -1), { schemaId: 'schema-39', dataSource: 'theirs' }] });
  await page.getByLabel('Display name').fill('ACME Ltd');
  await page.getByRole('button', { name: 'Save the name' }).click();
  const message = page.locator('.messages').getByText('Saved');
  await message.waitFor();
  await page.getByRole('button', { name: 'Save the mapping' }).click();
  expect(await differencesIn(page)).toEqual([['schema-39', 'mine', 'theirs']]);
  expect(await message.count()).toBe(0);
  const shown = `document.querySelector('.mismatch').getBoundingClientRect()`;
  const isInView = (place: string) => page.evaluate(`${place}.top >= 0 && ${place}.bottom <= innerHeight`);
  await expect.poll(() => isInView(shown)).toBe(true);
  // A person who types is not led away, even if the window is too low for both.
  await page.setViewportSize({ width: 1280, height: 400 });
  await page.getByLabel('Data source of schema-39').pressSequentially(' too');
  expect(await isInView(`document.activeElement.getBoundingClientRect()`)).toBe(true);
});

test('a mapping that is edited back to what it was shows what others have stored meanwhile', async () => {
  const { page, change } = await openGroup('back');
  await page.getByLabel('Data source of sales').fill('pg-7');
  await change({ mapping: [{ schemaId: 'sales', dataSource: 'pg-8' }, ...mapping.slice(1)] });
  await page.getByLabel('Display name').fill('ACME Ltd');
  await save(page, 'Save the name');
  expect(await page.getByLabel('Data source of sales').inputValue()).toBe('pg-7');
  await page.getByLabel('Data source of sales').fill('pg-1');
  expect(await page.getByLabel('Data source of sales').inputValue()).toBe('pg-8');
});

test('a group that was changed meanwhile is deleted only after the person has seen the change and confirmed again', async () => {
  const { page, change, assertFlawless } = await openGroup('deleted');
  await change({ properties: { ...properties, plan: 'silver' } });
  await page.getByRole('button', { name: 'Delete …' }).click();
  const dialog = page.getByRole('dialog');
  const confirm = async () => {
    await dialog.getByLabel('Type deleted to confirm').fill('deleted');
    await dialog.getByRole('button', { name: 'Delete the group' }).click();
  };
  await confirm();
  expect(await differencesIn(page)).toEqual([['Properties.plan', 'gold', 'silver']]);
  expect(await dialog.getByRole('button', { name: 'Delete the group' }).isDisabled()).toBe(true);
  await assertFlawless();
  expect(await read('deleted')).not.toBeNull();
  await confirm();
  await page.waitForURL('**/console/groups');
  expect(await read('deleted')).toBeNull();
});

test('the token of a group that was changed meanwhile is rotated after the person has confirmed again', async () => {
  const { page, token } = await openGroup('rotated');
  await page.getByRole('button', { name: 'Rotate …' }).click();
  const rotate = () => page.getByRole('dialog').getByRole('button', { name: 'Rotate the token' }).click();
  await mutate(gateway, 'rotateUserGroupToken', { currentToken: token });
  await rotate();
  await page.getByText('its token was rotated').waitFor();
  expect(await read('rotated')).toMatchObject({ version: 2 });
  await rotate();
  await page.getByText('This is a new token.').waitFor();
  // The page has the version of the rotation.
  await page.getByLabel('Display name').fill('ACME Ltd');
  await save(page, 'Save the name');
  expect(await read('rotated')).toMatchObject({ name: 'ACME Ltd', version: 4 });
});

test('a group that was changed meanwhile is moved after the person has confirmed again', async () => {
  const { secret } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { page, change } = await openGroup('moved', { secret });
  // What is loaded last moves the button.
  await page.getByText('user_group.created').waitFor();
  await page.getByRole('button', { name: 'Move …' }).click();
  await change({ name: 'ACME Inc' });
  await page.getByLabel('New environment').selectOption('Customer');
  await page.getByRole('button', { name: 'Move the group' }).click();
  expect(await differencesIn(page)).toEqual([['Display name', 'ACME', 'ACME Inc']]);
  expect(await read('moved')).toMatchObject({ environmentTag: 'TESTING' });
  await page.getByRole('button', { name: 'Move the group' }).click();
  await page.getByRole('heading', { level: 1, name: 'Customer' }).waitFor();
});

test('a group whose status was changed meanwhile is suspended, or resumed, after the person has seen why and confirmed again', async () => {
  const { page, assertFlawless } = await openGroup('held');
  const by = { providedId: 'held' };
  const status = async () => {
    const query = 'query ($by: UserGroupBy!) { userGroup(by: $by) { status suspendedReason } }';
    return Object.values((await gateway.graphql(query, { by })).json.data.userGroup);
  };
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Suspend …' }).click();
  await mutate(gateway, 'suspendUserGroup', { by, reason: 'legal hold' });
  const suspend = () => dialog.getByRole('button', { name: 'Suspend the group' }).click();
  await suspend();
  expect(await differencesIn(page)).toEqual([
    ['Status', 'ACTIVE', 'SUSPENDED'],
    ['Reason of the suspension', 'none', 'legal hold'],
  ]);
  await assertFlawless();
  await suspend();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('Reason: legal hold').waitFor();
  expect(await status()).toEqual(['SUSPENDED', 'legal hold']);

  await mutate(gateway, 'suspendUserGroup', { by, reason: 'do not resume' });
  await page.getByRole('button', { name: 'Resume …' }).click();
  const resume = () => dialog.getByRole('button', { name: 'Resume the group' }).click();
  await resume();
  expect(await differencesIn(page)).toEqual([['Reason of the suspension', 'legal hold', 'do not resume']]);
  expect(await status()).toEqual(['SUSPENDED', 'do not resume']);
  await resume();
  await page.getByRole('button', { name: 'Suspend …' }).waitFor();
  expect(await status()).toEqual(['ACTIVE', null]);
});

test('of several groups, those that were changed since the list was loaded are deleted after the person has confirmed again', async () => {
  const names = ['several-1', 'several-2', 'several-3'];
  for (const providedId of names) {
    await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: providedId });
  }
  const { page } = await openConsole(gateway, '/console/groups?search=several');
  for (const name of names) await page.getByLabel(`Select ${name}`).check();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'several-1' }, name: 'renamed' });
  await mutate(gateway, 'suspendUserGroup', { by: { providedId: 'several-1' } });
  // The list does not show properties.
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'several-3' }, mergeProperties: { plan: 'gold' } });
  await page.getByRole('button', { name: 'Delete …' }).click();
  const confirm = async () => {
    await page.getByLabel('Type 3 to confirm').fill('3');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  };
  await confirm();
  expect(await differencesIn(page)).toEqual([
    ['several-1.name', 'several-1', 'renamed'],
    ['several-1.status', 'Active', 'Suspended'],
  ]);
  // The mismatch of the first one is shown while the second one is being deleted.
  const outcomes = page.getByRole('dialog').getByRole('listitem');
  await outcomes.filter({ hasText: /^several-3 .* changed$/ }).waitFor();
  expect(await outcomes.allTextContents()).toEqual(
    ['changed', 'deleted', 'changed'].map((outcome) => expect.stringMatching(`${outcome}$`)),
  );
  expect([await read('several-1'), await read('several-2')]).toEqual([expect.anything(), null]);
  await confirm();
  await page.getByText('Deleted 3 groups').waitFor();
  expect([await read('several-1'), await read('several-3')]).toEqual([null, null]);
});

test('after a mismatch, properties that JavaScript would change are refused, and stay in the editor', async () => {
  const { page, change } = await openGroup('exact', { expectedProblems: [/status of 400/] });
  await change({ properties: { ...properties, plan: 'silver' } });
  const stored = await read('exact');
  await typeOver(editorOf(page), JSON.stringify({ ...properties, plan: 'mine' }));
  await page.getByRole('button', { name: 'Save the properties' }).click();
  await differencesIn(page);
  for (const member of ['"n": 9007199254740993', '"n": 1, "n": 2']) {
    const mine = `{"plan": "mine", "region": "eu", ${member}}`;
    await typeOver(editorOf(page), mine);
    await page.getByRole('button', { name: 'Take what is stored' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'properties were not saved' });
    await alert.getByText('written differently').waitFor();
    await page.getByRole('button', { name: 'Save mine' }).click();
    await alert.getByText(/exactly|duplicate/).waitFor();
    expect(await editorOf(page).textContent()).toBe(mine);
    expect(await read('exact')).toEqual(stored);
    await page.getByRole('button', { name: 'Save the properties' }).click();
    await alert.getByText(/exactly|duplicate/).waitFor();
    // Shows the mismatch again.
    await typeOver(editorOf(page), JSON.stringify({ plan: 'mine' }));
    await page.getByRole('button', { name: 'Save the properties' }).click();
    await differencesIn(page);
  }
  // What is only written differently is saved, and with it what others have stored.
  await typeOver(editorOf(page), '{"plan": "mine", "region": "eu", "limits": {"rows": 10, "days": 30}, "seats": 1.0}');
  await page.getByRole('button', { name: 'Save mine' }).click();
  await untilSaved(page, 'Save the properties');
  expect((await read('exact')).properties).toEqual({ ...properties, plan: 'mine', seats: 1 });
});

test('after a mismatch, a schema that two rows map is refused, and both rows stay', async () => {
  const { page, change } = await openGroup('rows');
  await change({ mapping: [{ schemaId: 'sales', dataSource: 'pg-8' }, ...mapping.slice(1)] });
  const stored = await read('rows');
  await page.getByLabel('Data source of sales').fill('mine');
  await page.getByRole('button', { name: 'Save the mapping' }).click();
  await differencesIn(page);
  for (const choice of ['Save mine', 'Take what is stored']) {
    if (choice === 'Save mine') {
      await addSchema(page, 3, 'sales');
      await page.getByLabel('Data source of sales').last().fill('second');
    } else {
      // Shows the mismatch again.
      await page.getByLabel('Schema id 3').fill('new');
      await page.getByRole('button', { name: 'Save the mapping' }).click();
      await differencesIn(page);
      await page.getByLabel('Schema id 3').fill('sales');
    }
    await page.getByRole('button', { name: choice }).click();
    await page.getByText('Mapping row 3: schema id').waitFor();
    const sources = page.getByLabel('Data source of sales');
    expect(await Promise.all((await sources.all()).map((source) => source.inputValue()))).toEqual(['mine', 'second']);
    expect(await read('rows')).toEqual(stored);
  }
});

test('of several groups, one was changed and another could not be deleted: the person has to confirm again', async () => {
  const ids = ['mixed-1', 'mixed-2'];
  for (const providedId of ids) await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: providedId });
  const { page } = await openConsole(gateway, '/console/groups?search=mixed', { expectedProblems: [/status of 503/] });
  for (const name of ids) await page.getByLabel(`Select ${name}`).check();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'mixed-1' }, name: 'renamed' });
  await page.getByRole('button', { name: 'Delete …' }).click();
  let deletions = 0;
  await page.route('**/graphql', (route) => {
    if (route.request().postDataJSON().query.includes('DeleteGroup')) deletions += 1;
    return deletions === 2
      ? route.fulfill({ status: 503, json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] } })
      : route.continue();
  });
  const typed = page.getByLabel('Type 2 to confirm');
  await typed.fill('2');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  const unknown = page.getByRole('alert').filter({ hasText: 'No database.' });
  expect(await unknown.textContent()).toMatch(/^It is not known whether the change was made/);
  expect(await differencesIn(page)).toEqual([['mixed-1.name', 'mixed-1', 'renamed']]);
  await page.getByText('1 of 2 groups were not deleted').waitFor();
  expect(await typed.inputValue()).toBe('');
});

test('a person who leaves while several groups are deleted is told how many were', async () => {
  const ids = ['left-1', 'left-2', 'left-3'];
  for (const providedId of ids) await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: providedId });
  const { page } = await openConsole(gateway, '/console');
  await page.getByRole('link', { name: 'Groups', exact: true }).click();
  for (const name of ids) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let deletions = 0;
  await page.route('**/graphql', async (route) => {
    if (route.request().postDataJSON().query.includes('DeleteGroup') && ++deletions === 2) await held;
    return route.continue();
  });
  await page.getByLabel('Type 3 to confirm').fill('3');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await until(() => deletions === 2, 'the second one is being deleted');
  page.once('dialog', (question) => question.accept());
  await page.goBack();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  release();
  await page.getByText('Deleted 2 of 3 groups').waitFor();
});

test('a rotation whose response was lost says that it was made, also if the group was changed since', async () => {
  const { page, change } = await openGroup('rotated-lost', { expectedProblems: [lostResponse] });
  await page.getByRole('button', { name: 'Rotate …' }).click();
  const rotate = () => page.getByRole('dialog').getByRole('button', { name: 'Rotate the token' }).click();
  await loseNextResponse(page, 'RotateGroupToken');
  await rotate();
  await page.getByText('It is not known whether the change was made').waitFor();
  await change({ name: 'ACME Ltd' });
  await rotate();
  await page.getByText('The token was rotated, and the group was changed since').waitFor();
  expect(await read('rotated-lost')).toMatchObject({ version: 3 });
});

test('a token that was rotated while it was being rotated is rotated after the person has confirmed again', async () => {
  const { page, token } = await openGroup('rotated-twice');
  await page.getByRole('button', { name: 'Rotate …' }).click();
  const rotate = () => page.getByRole('dialog').getByRole('button', { name: 'Rotate the token' }).click();
  const release = await holdRequests(page, 'RotateGroupToken');
  const sent = page.waitForRequest((request) => request.postData()?.includes('mutation RotateGroupToken') === true);
  await rotate();
  await sent;
  await mutate(gateway, 'rotateUserGroupToken', { currentToken: token });
  await release();
  await page.getByText('The token was not rotated').waitFor();
  await rotate();
  await page.getByText('its token was rotated').waitFor();
  await rotate();
  await page.getByText('This is a new token.').waitFor();
  expect(await read('rotated-twice')).toMatchObject({ version: 3 });
});
