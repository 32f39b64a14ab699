import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRequests, loseNextResponse, lostResponse, openConsole, save, typeOver, untilSaved } from '../support/console.ts';
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
  const opened = await openConsole(gateway, `/console/group?id=${userGroup.id}`, {
    expectedProblems: [/status of 504/, lostResponse],
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
  await saveInVain(page, `Save the ${part}`);
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
  await saveInVain(page, 'Save the properties');
  await endTimeOut();
  const by = { providedId: 'partly' };
  await mutate(gateway, 'updateUserGroup', { by, mergeProperties: { region: 'eu', limits: { days: 60 } } });
  await enter({ plan: 'gold', limits: { rows: 10, days: 30 }, seats: 5 });
  await save(page, 'Save the properties');
  const merged = { plan: 'gold', limits: { rows: 10, days: 60 }, region: 'eu', seats: 5 };
  expect((await read('partly')).properties).toEqual(merged);
});

test('a change that somebody else has made is kept when the own one, which was not made, is taken back', async () => {
  const { page } = await openGroup('theirs');
  const endTimeOut = await timeOut(page, false);
  await page.getByLabel('Display name').fill('mine');
  await saveInVain(page, 'Save the name');
  await endTimeOut();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'theirs' }, name: 'theirs' });
  await page.getByLabel('Display name').fill('ACME');
  await save(page, 'Save the name');
  expect([await page.getByLabel('Display name').inputValue(), (await read('theirs')).name]).toEqual(['theirs', 'theirs']);
});

test('after two saves without a response, of which the first was made, the value of the second is stored', async () => {
  const { page } = await openGroup('twice');
  for (const [made, name] of [
    [true, 'mine'],
    [false, 'ACME'],
  ] as const) {
    const endTimeOut = await timeOut(page, made);
    await page.getByLabel('Display name').fill(name);
    await saveInVain(page, 'Save the name');
    await endTimeOut();
  }
  await save(page, 'Save the name');
  expect([await page.getByLabel('Display name').inputValue(), (await read('twice')).name]).toEqual(['ACME', 'ACME']);
});

test('a value that is entered again after another one, of which each may have been stored, is stored', async () => {
  const { page } = await openGroup('again');
  await page.route('**/graphql', async (route) => {
    if (!route.request().postDataJSON().query.includes('mutation UpdateGroup')) return route.fallback();
    const response = await route.fetch();
    const isMade = (await response.text()).includes('UpdateUserGroupPayload');
    return isMade ? route.abort('connectionreset') : route.fulfill({ response });
  });
  for (const name of ['one', 'two']) {
    await page.getByLabel('Display name').fill(name);
    await saveInVain(page, 'Save the name');
  }
  await page.unroute('**/graphql');
  await page.getByLabel('Display name').fill('one');
  await save(page, 'Save the name');
  expect([await page.getByLabel('Display name').inputValue(), (await read('again')).name]).toEqual(['one', 'one']);
});

test('what was edited while it was saved together with other changes takes back none that came after it', async () => {
  const { page } = await openGroup('since');
  const by = { providedId: 'since' };
  await mutate(gateway, 'updateUserGroup', { by, mergeProperties: { region: 'eu' } });
  const release = await holdRequests(page, 'UpdateGroup');
  await typeOver(editorOf(page), JSON.stringify({ ...initial.properties, plan: 'silver' }));
  await page.getByRole('button', { name: 'Save the properties' }).click();
  await typeOver(editorOf(page), JSON.stringify({ ...initial.properties, plan: 'silver', seats: 5 }));
  await release();
  await page.getByText('Saved, with what has changed since you opened it').waitFor();
  await mutate(gateway, 'updateUserGroup', { by, mergeProperties: { plan: 'gold' } });
  await save(page, 'Save the properties');
  expect((await read('since')).properties).toEqual({ ...initial.properties, region: 'eu', seats: 5 });
});

test('a member that is removed again from what may have been added is not taken for one that somebody else has added', async () => {
  const { page } = await openGroup('added');
  await loseNextResponse(page, 'UpdateGroup');
  const enter = (value: unknown) => typeOver(editorOf(page), JSON.stringify(value));
  await enter({ ...initial.properties, access: { read: true, admin: true } });
  await saveInVain(page, 'Save the properties');
  await enter({ ...initial.properties, access: { read: true } });
  await save(page, 'Save the properties');
  expect((await read('added')).properties).toEqual({ ...initial.properties, access: { read: true } });
});

test('what is set back while it is saved together with a change of somebody else can be saved', async () => {
  const { page } = await openGroup('meanwhile');
  const mapping = [...initial.mapping, { schemaId: 'stock', dataSource: 'pg-9' }];
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'meanwhile' }, mapping });
  const release = await holdRequests(page, 'UpdateGroup');
  await page.getByLabel('Data source of sales').fill('pg-2');
  await page.getByRole('button', { name: 'Save the mapping' }).click();
  await page.getByLabel('Data source of sales').fill('pg-1');
  await release();
  await page.getByText('Saved, with what has changed since you opened it').waitFor();
  await save(page, 'Save the mapping');
  expect((await read('meanwhile')).mapping).toEqual(mapping);
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

test('what somebody else has set back, after it was saved without a response, stays when more is saved', async () => {
  const { page } = await openGroup('reverted');
  const endTimeOut = await timeOut(page, true);
  await typeOver(editorOf(page), JSON.stringify({ ...initial.properties, plan: 'silver' }));
  await saveInVain(page, 'Save the properties');
  await endTimeOut();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'reverted' }, mergeProperties: { plan: 'gold' } });
  await typeOver(editorOf(page), JSON.stringify({ ...initial.properties, plan: 'silver', seats: 5 }));
  await save(page, 'Save the properties');
  expect((await read('reverted')).properties).toEqual({ ...initial.properties, seats: 5 });
});

test('a person who goes back to what was stored before chooses, if somebody else has replaced what they saved without a response', async () => {
  const { page } = await openGroup('replaced');
  const endTimeOut = await timeOut(page, true);
  await page.getByLabel('Display name').fill('mine');
  await saveInVain(page, 'Save the name');
  await endTimeOut();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'replaced' }, name: 'theirs' });
  await page.getByLabel('Display name').fill('ACME');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('table').getByText('theirs').waitFor();
  expect((await read('replaced')).name).toBe('theirs');
  await page.getByRole('button', { name: 'Save mine' }).click();
  await untilSaved(page, 'Save the name');
  expect((await read('replaced')).name).toBe('ACME');
});

test('whether two changes were made is found out, also when that takes several tries', async () => {
  const { page } = await openGroup('resolved');
  const by = { providedId: 'resolved' };
  const enter = (value: unknown) => typeOver(editorOf(page), JSON.stringify({ ...initial.properties, ...(value as object) }));
  for (const [made, value] of [
    [true, { plan: 'silver' }],
    [false, { plan: 'silver', seats: 5 }],
  ] as const) {
    const endTimeOut = await timeOut(page, made);
    await enter(value);
    await saveInVain(page, 'Save the properties');
    await endTimeOut();
  }
  await mutate(gateway, 'updateUserGroup', { by, mergeProperties: { plan: 'gold' } });
  // The response that says whether the second one was made is lost too.
  await page.route('**/graphql', (route) => {
    const { variables } = route.request().postDataJSON();
    return JSON.stringify(variables).includes('seats') ? route.abort('connectionreset') : route.fallback();
  });
  await enter({ plan: 'silver', rows: 1 });
  await saveInVain(page, 'Save the properties');
  await page.unroute('**/graphql');
  await save(page, 'Save the properties');
  expect((await read('resolved')).properties).toEqual({ ...initial.properties, rows: 1 });
});

test('a change that was merged with that of somebody else, and not made, can be edited further', async () => {
  const { page } = await openGroup('merged');
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'merged' }, mapping: [] });
  let tries = 0;
  await page.route('**/graphql', (route) => {
    if (!route.request().postDataJSON().query.includes('mutation UpdateGroup')) return route.fallback();
    tries += 1;
    return tries === 2 ? route.fulfill({ status: 504, body: 'late' }) : route.fallback();
  });
  const input = page.getByLabel('Display name');
  await input.fill('mine');
  await saveInVain(page, 'Save the name');
  await input.fill('other');
  await save(page, 'Save the name');
  expect([await input.inputValue(), (await read('merged')).name]).toEqual(['other', 'other']);
  // What was not made is not made later.
  expect((await gateway.database.prisma.event.findMany({ where: { providedId: 'merged' } })).map(({ type }) => type)).toEqual([
    'user_group.created',
    'user_group.updated',
    'user_group.updated',
  ]);
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

test("a person's own value, chosen again after it was lost, brings back nothing that somebody else has removed", async () => {
  const { page } = await openGroup('chosen');
  const change = (properties: object) =>
    mutate(gateway, 'updateUserGroup', { by: { providedId: 'chosen' }, mergeProperties: properties });
  const saveMine = page.getByRole('button', { name: 'Save mine' });
  await change({ plan: 'theirs', region: 'eu' });
  await typeOver(editorOf(page), JSON.stringify({ ...initial.properties, plan: 'mine' }));
  await page.getByRole('button', { name: 'Save the properties' }).click();
  await saveMine.waitFor();
  const endTimeOut = await timeOut(page, false);
  await saveMine.click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await endTimeOut();
  await page.getByRole('button', { name: 'Save the properties' }).click();
  await saveMine.waitFor();
  await change({ plan: 'gold', region: null });
  await saveMine.click();
  await untilSaved(page, 'Save the properties');
  expect((await read('chosen')).properties).toEqual({ ...initial.properties, plan: 'mine' });
});

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
