import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countRequests, holdRequests, loseNextResponse, lostResponse, openConsole, signIn, textOf } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  const names = ['Northern Bank', 'Blue Foods', 'Rapid Bank', 'Quiet Media'];
  const groups = Array.from({ length: 44 }, (_, index) => ({
    providedId: `id-${String(index).padStart(3, '0')}`,
    name: `${names[index % 4]} ${index}`,
    properties: { plan: index % 2 ? 'gold' : 'trial' },
  }));
  await mutate(gateway, 'getOrCreateUserGroups', { groups });
});
afterAll(() => gateway.close());

/** Stores groups without tokens that work, the first one updated last. */
const store = (name: string, count: number) =>
  gateway.database.pool.query(
    `insert into user_group (provided_id, environment_tag, name, token_hash, token_encrypted, updated_at)
     select $1 || '-' || n, 'Testing', $1 || '-' || n, sha256(($1 || n)::bytea), '', now() - n * interval '1 second'
     from generate_series(1, $2) n`,
    [name, count],
  );
const count = (providedId: string) => gateway.database.prisma.userGroup.count({ where: { providedId } });
const listed = (page: Page) => page.getByRole('table').getByRole('rowheader');
const dialogOf = (page: Page) => page.getByRole('dialog');

/** Exports in the dialog that is open. @returns the lines of the file. */
async function exportLines(page: Page): Promise<string[]> {
  const downloading = page.waitForEvent('download');
  await dialogOf(page).getByRole('button', { name: 'Export', exact: true }).click();
  return (await textOf(await downloading)).trimEnd().split(/\r?\n/);
}
const idsOf = (lines: string[]) => lines.map((line) => JSON.parse(line).user_group_id);

test('a person pages, searches, filters and sorts, and the URL leads another person to the same view', async () => {
  const { page } = await openConsole(gateway, '/console/groups?search=id-0');
  await page.getByText('44 groups').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await listed(page).getByText('Quiet Media 23').waitFor();
  await page.goBack();
  await listed(page).getByText('Quiet Media 43').waitFor();
  // The keyboard alone: / goes to the search.
  await page.keyboard.press('/');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('bank');
  await page.getByText('22 groups').waitFor();
  await page.getByText('More filters').click();
  await page.getByLabel('Property', { exact: true }).fill('plan=trial');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Name', exact: true }).click();
  await listed(page).first().getByText('Northern Bank 0').waitFor();
  const shared = page.url();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto(shared);
  await signIn(page, gateway.token);
  await page.getByText('22 groups').waitFor();
  expect(await listed(page).first().textContent()).toContain('Northern Bank 0');
  expect(await page.getByRole('searchbox').inputValue()).toBe('bank');
});

test('a day is typed key by key, and is a filter once it is complete', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  await page.getByText('More filters').click();
  const field = page.getByRole('group', { name: 'Created' }).getByLabel('From', { exact: true });
  const places: string[] = [];
  page.on('framenavigated', (frame) => places.push(frame.url()));
  await field.pressSequentially('01152026'); // in the order of the browser's language
  await page.waitForURL('**/console/groups?created-from=2026-01-15');
  for (const key of ['ArrowLeft', 'ArrowLeft']) await field.press(key);
  await field.pressSequentially('01152025');
  await page.waitForURL('**/console/groups?created-from=2025-01-15');
  expect(places.filter((place) => /=0/.test(place))).toEqual([]);
});

test('a token in the search finds its group, and is in no URL, no search and no log', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'id-001' });
  const { page } = await openConsole(gateway, '/console/groups');
  await page.getByRole('table').waitFor();
  const urls: string[] = [];
  const sent: unknown[] = [];
  page.on('request', (request) => {
    urls.push(request.url());
    if (request.url().endsWith('/graphql')) sent.push(request.postDataJSON().variables);
  });
  page.on('framenavigated', (frame) => urls.push(frame.url()));
  const logged = gateway.log.length;
  const field = page.getByRole('searchbox');
  await field.fill(`"${userGroup.token}"`);
  await page.getByRole('region', { name: 'The group with this token' }).getByRole('link', { name: 'Blue Foods 1' }).waitFor();
  await field.fill(userGroup.token.slice(0, -1));
  await page.getByText('This is not a user group token').waitFor();
  await field.fill(`ugt_${'a'.repeat(36)}`);
  await page.getByText('No group has this token').waitFor();
  await field.fill(gateway.token);
  await page.getByText('This is not a user group token').waitFor();
  await field.fill('');
  await page.getByRole('table').waitFor();
  expect(sent.filter((variables) => JSON.stringify(variables).includes('ug'))).toEqual([
    { by: { token: userGroup.token } },
    { by: { token: `ugt_${'a'.repeat(36)}` } },
  ]);
  expect([...urls, ...gateway.log.slice(logged)].join('\n')).not.toMatch(/ug[tk]_/);
});

test('a number in the search finds the group with this team id', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'id-002' });
  const { page } = await openConsole(gateway, `/console/groups?search=${userGroup.teamId}`);
  const found = page.getByRole('region', { name: `The group with the team id ${userGroup.teamId}` });
  await found.getByRole('link', { name: userGroup.name }).waitFor();
});

test('a search sends one request at a time, and shows the groups of the latest text only', async () => {
  const { page } = await openConsole(gateway, '/console/groups?search=id-0');
  await page.getByText('44 groups').waitFor();
  const held: (() => void)[] = [];
  const searches: string[] = [];
  await page.route('**/graphql', async (route) => {
    const { query, variables } = route.request().postDataJSON();
    if (!query.includes('GroupList')) return route.continue();
    searches.push(variables.filter?.search ?? '');
    await new Promise<void>((release) => held.push(release));
    return route.continue();
  });
  for (const text of ['blue', 'rapid', 'quiet']) {
    await page.getByRole('searchbox').fill(text);
    await page.waitForURL(`**search=${text}`);
    await expect.poll(() => held.length).toBe(1);
  }
  held[0]?.();
  await expect.poll(() => searches).toEqual(['blue', 'quiet']);
  held[1]?.();
  await page.getByText('11 groups').waitFor();
  await expect.poll(() => listed(page).count()).toBe(11);
  expect(searches).toEqual(['blue', 'quiet']);
});

test('a person creates a group, also if the response is lost, and is led to the one that exists when its id is taken', async () => {
  const { page } = await openConsole(gateway, '/console/groups', { expectedProblems: [lostResponse] });
  await page.getByRole('button', { name: 'New group' }).click();
  const dialog = page.getByRole('dialog', { name: 'New group' });
  await dialog.getByLabel('Provided id').fill('id-001');
  await dialog.getByRole('button', { name: 'Create the group' }).click();
  expect(await dialog.getByRole('alert').filter({ hasText: 'exists' }).textContent()).toContain('Open id-001');
  await dialog.getByLabel('Provided id').fill('new-group');
  await dialog.getByLabel('Name (optional)').fill('A new group');
  await loseNextResponse(page, 'CreateGroup');
  await page.keyboard.press('Enter');
  await page.getByText('It is not known whether the change was made').waitFor();
  await dialog.getByRole('button', { name: 'Create the group' }).click();
  await page.getByRole('heading', { level: 1, name: 'A new group' }).waitFor();
  expect(await gateway.database.prisma.userGroup.findMany({ where: { providedId: 'new-group' } })).toMatchObject([
    { name: 'A new group', environmentTag: 'Testing' },
  ]);
});

test('a person deletes several groups after typing how many; one that was moved meanwhile is not found', async () => {
  await store('old', 4);
  const { page } = await openConsole(gateway, '/console/groups?search=old-');
  for (const number of [1, 2, 3]) await page.getByLabel(`Select old-${number}`).check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 3 groups' });
  const confirm = dialog.getByRole('button', { name: 'Delete', exact: true });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel('Type 3 to confirm').fill('3');
  await gateway.database.prisma.userGroup.updateMany({ where: { providedId: 'old-2' }, data: { environmentTag: null } });
  await confirm.click();
  await dialog.getByRole('alert').filter({ hasText: '1 of 3 groups were not found' }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('1 group', { exact: true }).waitFor();
  expect(await Promise.all([1, 2, 3, 4].map((number) => count(`old-${number}`)))).toEqual([0, 1, 0, 1]);
});

test('a dialog keeps the groups that it was opened with, and no group of a former list is selected while another one is loaded', async () => {
  await store('kept', 3);
  const { page } = await openConsole(gateway, '/console/groups?search=kept-3');
  const remove = page.getByRole('region', { name: 'Selected groups' }).getByRole('button', { name: 'Delete …' });
  await page.getByRole('link', { name: 'Groups', exact: true }).click();
  for (const number of [1, 2]) await page.getByLabel(`Select kept-${number}`).check();
  await remove.click();
  await dialogOf(page).waitFor();
  await page.goBack();
  await page.getByLabel('Select kept-2').waitFor({ state: 'detached' });
  await dialogOf(page).getByLabel('Type 2 to confirm').fill('2');
  await dialogOf(page).getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Deleted 2 groups').waitFor();
  expect(await Promise.all([1, 2, 3].map((number) => count(`kept-${number}`)))).toEqual([0, 0, 1]);
  await page.getByLabel('Select kept-3').check();
  const { release } = await holdRequests(page, 'GroupList');
  await page.getByRole('searchbox').fill('kept-');
  await expect.poll(() => remove.isDisabled()).toBe(true);
  await release();
  await remove.waitFor({ state: 'detached' });
});

test('a person exports what the list shows, as JSON and as CSV for Excel', async () => {
  const { secret } = await gateway.issue({ environment: null, scopes: ['admin'] });
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'no-tag', name: 'No, tag', environmentTag: null }, secret);
  const { page } = await openConsole(gateway, '/console/groups?search=no-tag', { secret });
  await page.getByText('1 group', { exact: true }).waitFor();
  const open = () => page.getByRole('button', { name: 'Export' }).click();
  await open();
  expect(await dialogOf(page).getByRole('listitem').allTextContents()).toEqual(['Name or provided id contains no-tag']);
  const row = { user_group_id: 'no-tag', name: 'No, tag', mapping: {}, properties: null, environment: null };
  expect((await exportLines(page)).map((line) => JSON.parse(line))).toEqual([expect.objectContaining(row)]);
  await open();
  await page.getByLabel('Format').selectOption('csv');
  const [head, cells] = await exportLines(page);
  // With the mark that has Excel read UTF-8; an empty cell would count as missing.
  expect(head).toMatch(/^\uFEFFuser_group_id,/);
  expect(cells).toMatch(/^no-tag,"No, tag",.*\{\},null,.*none$/);
});

test('an export of more groups than the browser may hold is not begun, and names the command that has no limit', async () => {
  await store('bulk', 20_001);
  const { page } = await openConsole(gateway, '/console/groups?search=bulk');
  const sent = countRequests(page, 'GroupExport');
  await page.getByText('20,001 groups').waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const alert = dialogOf(page).getByRole('alert').filter({ hasText: 'too many' });
  expect(await alert.textContent()).toMatch(/20,001 groups are too many.*at most 20,000.*groups export/);
  expect(await dialogOf(page).getByRole('button', { name: 'Export', exact: true }).isDisabled()).toBe(true);
  expect(sent()).toBe(0);
});

test('an export that fails gives no file; tried again, it has also a group that is changed meanwhile', async () => {
  await store('moving', 150);
  const path = '/console/groups?search=moving&sort=UPDATED';
  const { page } = await openConsole(gateway, path, { expectedProblems: [/ERR_FAILED/] });
  let downloads = 0;
  page.on('download', () => {
    downloads += 1;
  });
  let pages = 0;
  await page.route('**/graphql', async (route) => {
    if (!route.request().postDataJSON().query.includes('GroupExport')) return route.continue();
    pages += 1;
    if (pages === 2) return route.abort();
    // By the time of its update, this one is on the second page until then, and on the first one from then on.
    if (pages === 4)
      await gateway.database.pool.query("update user_group set updated_at = now() where provided_id = 'moving-150'");
    return route.continue();
  });
  await page.getByRole('button', { name: 'Export' }).click();
  await dialogOf(page).getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'The groups were not exported' }).waitFor();
  expect(downloads).toBe(0);
  // The newest first.
  expect(idsOf(await exportLines(page))).toEqual(Array.from({ length: 150 }, (_, index) => `moving-${150 - index}`));
});
