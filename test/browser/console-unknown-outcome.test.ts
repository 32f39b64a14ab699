import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  holdRequests,
  loseNextResponse,
  lostResponse,
  openConsole,
  save,
  textIn,
  typeOver,
  untilSaved,
} from '../support/console.ts';
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
async function openGroup(providedId: string, problems: RegExp[] = []) {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId, ...initial });
  const opened = await openConsole(gateway, `/console/group?id=${userGroup.id}`, {
    expectedProblems: [/status of 504/, lostResponse, ...problems],
  });
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

/** Saves a section without a response that says whether it was saved. @param label of its button. */
async function saveInVain(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: label }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
}

async function read(providedId: string) {
  const query = 'query ($by: UserGroupBy!) { userGroup(by: $by) { name properties mapping { schemaId dataSource } } }';
  return (await gateway.graphql(query, { by: { providedId } })).json.data.userGroup;
}

const sections = {
  name: {
    fieldIn: (page: Page) => page.getByLabel('Display name'),
    enter: (page: Page, text: string) => page.getByLabel('Display name').fill(text),
    mine: 'mine',
    back: initial.name,
    stored: { name: 'mine' },
  },
  mapping: {
    fieldIn: (page: Page) => page.getByLabel('Data source of sales'),
    enter: (page: Page, text: string) => page.getByLabel('Data source of sales').fill(text),
    mine: 'pg-2',
    back: 'pg-1',
    stored: { mapping: [{ schemaId: 'sales', dataSource: 'pg-2' }] },
  },
  properties: {
    fieldIn: editorOf,
    enter: (page: Page, text: string) => typeOver(editorOf(page), text),
    mine: '{"plan": "silver"}',
    back: JSON.stringify(initial.properties),
    stored: { properties: { plan: 'silver' } },
  },
};

test.each([
  ['name', true],
  ['name', false],
  ['mapping', true],
  ['mapping', false],
  ['properties', true],
  ['properties', false],
] as const)(
  'after a save of the %s without a response, the form is locked until saving again tells the outcome (saved: %s)',
  async (part, made) => {
    const { fieldIn, enter, mine, back, stored } = sections[part];
    const { page } = await openGroup(`${part}-${made}`);
    const endTimeOut = await timeOut(page, made);
    await enter(page, mine);
    await saveInVain(page, `Save the ${part}`);
    for (const key of ['9', 'ControlOrMeta+z']) await fieldIn(page).press(key);
    expect(await textIn(fieldIn(page))).toBe(mine);
    expect(await page.getByText('Nothing can be edited here').count()).toBe(1);
    await endTimeOut();
    await save(page, `Save the ${part}`);
    expect(await read(`${part}-${made}`)).toEqual({ ...initial, ...stored });
    await enter(page, back);
    await save(page, `Save the ${part}`);
    expect(await read(`${part}-${made}`)).toEqual(initial);
  },
);

test('rows are neither added to nor removed from a mapping that may have been changed', async () => {
  const { page } = await openGroup('rows');
  const endTimeOut = await timeOut(page, true);
  await page.getByLabel('Data source of sales').fill('pg-2');
  await saveInVain(page, 'Save the mapping');
  for (const name of ['Add a schema', 'Remove sales']) {
    expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
  }
  await endTimeOut();
});

test.each([
  ['name', 'x'.repeat(1_000), 'short'],
  ['properties', '{"n": 1, "n": 2}', '{"n": 1}'],
] as const)('the %s that may have been changed can be edited once the gateway refuses it', async (part, wrong, right) => {
  const { page } = await openGroup(`refused-${part}`, [/status of 400/]);
  const endTimeOut = await timeOut(page, false);
  await sections[part].enter(page, wrong);
  await saveInVain(page, `Save the ${part}`);
  await endTimeOut();
  await page.getByRole('button', { name: `Save the ${part}` }).click();
  await page.getByText(`The ${part} ${part === 'name' ? 'was' : 'were'} not saved`).waitFor();
  await sections[part].enter(page, right);
  await save(page, `Save the ${part}`);
});

test('what a proxy refuses because of its size can be edited', async () => {
  const { page } = await openGroup('large', [/status of 413/]);
  await page.route('**/graphql', (route) => route.fulfill({ status: 413, body: '<html>' }));
  await typeOver(editorOf(page), '{"plan": "long"}');
  await page.getByRole('button', { name: 'Save the properties' }).click();
  await page.getByText('The properties were not saved').waitFor();
  await page.unroute('**/graphql');
  await typeOver(editorOf(page), '{"plan": "short"}');
  await save(page, 'Save the properties');
  expect((await read('large')).properties).toEqual({ plan: 'short' });
});

test('what was given up, and is made all the same, is not taken for the same value that is saved later', async () => {
  const { page } = await openGroup('given-up');
  let late: Parameters<typeof fetch> | undefined;
  await page.route('**/graphql', async (route) => {
    const request = route.request();
    if (late || !request.postDataJSON().query.includes('mutation UpdateGroup')) return route.fallback();
    late = [request.url(), { method: 'POST', headers: request.headers(), body: request.postData() }];
    return route.fulfill({ status: 504, body: 'late' });
  });
  const name = page.getByLabel('Display name');
  await name.fill('mine');
  const nextRead = () => page.waitForResponse((response) => response.request().postData()?.includes('query Group(') === true);
  const afterFailure = nextRead();
  await saveInVain(page, 'Save the name');
  await (await afterFailure).finished();
  const isRead = nextRead();
  await page.getByRole('button', { name: 'Discard' }).click();
  await (await isRead).finished();
  // Until the page has shown what it got.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  if (late) await fetch(...late);
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'given-up' }, name: 'theirs' });
  await name.fill('mine');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('button', { name: 'Save mine' }).waitFor();
  expect((await read('given-up')).name).toBe('theirs');
});

test('what somebody else has set back, after it was saved without a response, stays so', async () => {
  const { page } = await openGroup('reverted');
  const endTimeOut = await timeOut(page, true);
  await typeOver(editorOf(page), JSON.stringify({ ...initial.properties, plan: 'silver' }));
  await saveInVain(page, 'Save the properties');
  await endTimeOut();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'reverted' }, mergeProperties: { plan: 'gold' } });
  await save(page, 'Save the properties');
  await editorOf(page).getByText('gold').waitFor();
  expect((await read('reverted')).properties).toEqual(initial.properties);
});

test('a change that was not made is saved together with an object that somebody else has added', async () => {
  const { page } = await openGroup('object');
  const endTimeOut = await timeOut(page, false);
  const properties = { ...initial.properties, plan: 'silver' };
  await typeOver(editorOf(page), JSON.stringify(properties));
  await saveInVain(page, 'Save the properties');
  await endTimeOut();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'object' }, mergeProperties: { access: { seats: 5 } } });
  await save(page, 'Save the properties');
  expect((await read('object')).properties).toEqual({ ...properties, access: { seats: 5 } });
});

test.each([
  [true, initial.name],
  [false, 'mine'],
] as const)('a change that was merged with that of somebody else is made once (at the first try: %s)', async (made, name) => {
  const providedId = `merged-${made}`;
  const { page } = await openGroup(providedId);
  await mutate(gateway, 'updateUserGroup', { by: { providedId }, mapping: [] });
  let tries = 0;
  await page.route('**/graphql', async (route) => {
    if (!route.request().postDataJSON().query.includes('mutation UpdateGroup')) return route.fallback();
    tries += 1;
    if (tries !== 2) return route.fallback();
    if (made) await route.fetch();
    return route.fulfill({ status: 504, body: 'late' });
  });
  await page.getByLabel('Display name').fill('mine');
  await saveInVain(page, 'Save the name');
  await mutate(gateway, 'updateUserGroup', { by: { providedId }, name: initial.name });
  await save(page, 'Save the name');
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe(name);
  expect(await read(providedId)).toMatchObject({ name, mapping: [] });
});

test('a mismatch whose response was lost is not shown once others have changed the group again', async () => {
  const { page } = await openGroup('stale');
  const by = { providedId: 'stale' };
  await mutate(gateway, 'updateUserGroup', { by, name: 'theirs' });
  await loseNextResponse(page, 'UpdateGroup');
  await page.getByLabel('Display name').fill('mine');
  await saveInVain(page, 'Save the name');
  await mutate(gateway, 'updateUserGroup', { by, name: initial.name });
  await save(page, 'Save the name');
  expect((await read('stale')).name).toBe('mine');
});

test.each([
  [true, 'gold'],
  [false, 'mine'],
] as const)(
  "a person's own value, chosen and lost, brings back nothing that others have set back (made: %s)",
  async (made, plan) => {
    const providedId = `chosen-${made}`;
    const { page } = await openGroup(providedId);
    const change = (properties: object) =>
      mutate(gateway, 'updateUserGroup', { by: { providedId }, mergeProperties: properties });
    await change({ plan: 'theirs', region: 'eu' });
    await typeOver(editorOf(page), JSON.stringify({ ...initial.properties, plan: 'mine' }));
    await page.getByRole('button', { name: 'Save the properties' }).click();
    await page.getByRole('button', { name: 'Save mine' }).waitFor();
    const endTimeOut = await timeOut(page, made);
    await saveInVain(page, 'Save mine');
    await endTimeOut();
    await change({ plan: 'gold', region: null });
    await save(page, 'Save the properties');
    expect((await read(providedId)).properties).toEqual({ ...initial.properties, plan });
  },
);

test('what is being saved cannot be discarded', async () => {
  const { page } = await openGroup('saving');
  const release = await holdRequests(page, 'UpdateGroup');
  await page.getByLabel('Display name').fill('mine');
  await page.getByRole('button', { name: 'Save the name' }).click();
  expect(await page.getByRole('button', { name: 'Discard' }).isDisabled()).toBe(true);
  await release();
  await untilSaved(page, 'Save the name');
  expect(await page.getByLabel('Display name').inputValue()).toBe('mine');
});

test('discarding what may have been changed shows what is stored by then', async () => {
  const { page } = await openGroup('discarded');
  const endTimeOut = await timeOut(page, true);
  await page.getByLabel('Display name').fill('mine');
  await saveInVain(page, 'Save the name');
  await endTimeOut();
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe('mine');
});
