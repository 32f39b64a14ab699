import { afterAll, beforeAll, expect, test } from 'vitest';
import { loseNextResponse, lostResponse, openConsole, signIn, textOf } from '../support/console.ts';
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

const stored = async (providedId: string) =>
  (await gateway.graphql('query ($by: UserGroupBy!) { userGroup(by: $by) { name } }', { by: { providedId } })).json.data
    .userGroup;

test('a person pages, searches, filters and sorts, and the URL leads another person to the same view', async () => {
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/groups');
  const names = page.getByRole('table').getByRole('rowheader');
  await page.getByText('44 groups').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await names.getByText('Quiet Media 23').waitFor();
  await page.goBack();
  await names.getByText('Quiet Media 43').waitFor();

  // The keyboard alone: / goes to the search.
  await page.keyboard.press('/');
  await page.keyboard.type('bank');
  await page.getByText('22 groups').waitFor();
  await page.getByText('More filters').click();
  await page.getByLabel('Property', { exact: true }).fill('plan=trial');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Name', exact: true }).click();
  await names.first().getByText('Northern Bank 0').waitFor();
  await page.locator('th[aria-sort=ascending]').waitFor();
  await assertFlawless();

  const shared = page.url();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto(shared);
  await signIn(page, gateway.token);
  await page.getByText('22 groups').waitFor();
  expect(await names.first().textContent()).toContain('Northern Bank 0');
  expect(await page.getByRole('searchbox').inputValue()).toBe('bank');
  await assertFitsPhone();
});

test('what a URL has as a filter and is none is named, and no list is shown until a person asks for it', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  for (const filter of [
    'environment=customer',
    'enviroment=Customer',
    'property=plan',
    'created-from=tomorrow',
    'updated-to=2026-02-31',
    'updated-from=0026-02-01',
    [1, 2, 3, 4, 5, 6].map((number) => `property=p${number}%3D${number}`).join('&'),
  ]) {
    await page.getByText('44 groups').waitFor();
    await page.goto(`${gateway.url}/console/groups?search=Bank&${filter}`);
    const named = filter.slice(filter.lastIndexOf('&') + 1).replace('%3D', '=');
    await page.getByRole('alert').filter({ hasText: named }).waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await page.getByRole('button', { name: 'Show the whole list' }).click();
  }
  // After the last day there is none that the gateway could be asked for.
  await page.goto(`${gateway.url}/console/groups?search=id-0&created-to=9999-12-31`);
  await page.getByText('44 groups').waitFor();
});

test('a token in the search finds its group, and is in no URL, no search and no log', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'id-001' });
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/groups');
  await page.getByText('44 groups').waitFor();
  const urls: string[] = [];
  const sent: { query: string; variables: unknown }[] = [];
  page.on('request', (request) => {
    urls.push(request.url());
    if (request.url().endsWith('/graphql')) sent.push(request.postDataJSON());
  });
  page.on('framenavigated', (frame) => urls.push(frame.url()));
  const logged = gateway.log.length;
  const field = page.getByRole('searchbox');
  await field.fill(`"${userGroup.token}"`);
  const found = page.getByRole('region', { name: 'The group with this token' });
  await found.getByRole('link', { name: 'Blue Foods 1' }).waitFor();
  expect(await page.getByRole('table').count()).toBe(0);
  await assertFlawless();
  await assertFitsPhone();
  await field.fill(userGroup.token.slice(0, -1));
  await page.getByText('This is not a user group token').waitFor();
  await field.fill(`ugt_${'a'.repeat(36)}`);
  await page.getByText('No group has this token').waitFor();
  // A group of which it cannot be known that it exists, because it is suspended or elsewhere.
  await page.getByText('or the group is suspended or belongs to an environment that your API token has no access to').waitFor();
  await field.fill(gateway.token);
  await page.getByText('This is not a user group token').waitFor();
  await field.fill('');
  await page.getByText('44 groups').waitFor();
  const tokens = sent.filter((request) => JSON.stringify(request.variables).includes('ug'));
  expect(tokens.map(({ variables }) => variables)).toEqual([
    { by: { token: userGroup.token } },
    { by: { token: `ugt_${'a'.repeat(36)}` } },
  ]);
  expect([...urls, ...gateway.log.slice(logged)].join('\n')).not.toMatch(/ug[tk]_/);
  await page.goto(`${gateway.url}/console/groups?search=${userGroup.token}`);
  await page.getByRole('alert').filter({ hasText: 'search=…' }).waitFor();
});

test('a number in the search finds the group with this team id, and those whose name or provided id contains it', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'id-002' });
  const { page, assertFlawless } = await openConsole(gateway, '/console/groups', { expectedProblems: [/status of 503/] });
  await page.getByRole('searchbox').fill(String(userGroup.teamId));
  const found = page.getByRole('region', { name: `The group with the team id ${userGroup.teamId}` });
  await found.getByRole('link', { name: userGroup.name }).waitFor();
  const ids = page.getByRole('table').getByRole('rowheader');
  await expect
    .poll(async () => (await ids.allTextContents()).every((text) => text.includes(String(userGroup.teamId))))
    .toBe(true);
  expect(await ids.count()).toBeGreaterThan(0);
  await assertFlawless();
  // Larger than any team id: only a text.
  await page.getByRole('searchbox').fill('9999999999');
  await page.getByText('No group matches').waitFor();
  expect(await found.count()).toBe(0);

  // One that could not be looked up is a failure, not a group that does not exist.
  await page.route('**/graphql', (route) =>
    route.request().postDataJSON().query.includes('FindGroup')
      ? route.fulfill({ status: 503, json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] } })
      : route.continue(),
  );
  const { userGroup: other } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'id-003' });
  await page.getByRole('searchbox').fill(String(other.teamId));
  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  await alert.getByText('No database.').waitFor();
  await page.unroute('**/graphql');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('region', { name: `The group with the team id ${other.teamId}` }).waitFor();
});

test('a group that was found by its team id is not shown any longer once it was deleted', async () => {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'found-and-deleted' });
  const name = `Customer ${userGroup.teamId}`;
  await mutate(gateway, 'updateUserGroup', { by: { teamId: userGroup.teamId }, name });
  const { page } = await openConsole(gateway, `/console/groups?search=${userGroup.teamId}`);
  const found = page.getByRole('region', { name: `The group with the team id ${userGroup.teamId}` });
  await found.getByRole('link', { name }).waitFor();
  await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('1');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await found.waitFor({ state: 'detached' });
  expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'found-and-deleted' } })).toBe(0);
});

test('a search sends one request at a time, and shows the groups of the latest text only', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
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
  const field = page.getByRole('searchbox');
  for (const [count, text] of ['blue', 'rapid', 'quiet'].entries()) {
    await field.fill(text);
    await page.waitForURL(`**search=${text}`);
    if (count === 0) await expect.poll(() => held.length).toBe(1);
  }
  expect(searches).toEqual(['blue']);
  held[0]?.();
  await expect.poll(() => searches).toEqual(['blue', 'quiet']);
  // The response to the first text has arrived, and is not shown.
  expect(await page.getByRole('table').textContent()).toContain('Quiet Media 43');
  held[1]?.();
  await page.getByText('11 groups').waitFor();
  await expect.poll(() => page.getByRole('table').getByRole('rowheader').count()).toBe(11);
  expect(searches).toEqual(['blue', 'quiet']);

  // What is selected when other groups are loaded is not selected among them.
  await page.getByLabel('Select Quiet Media 43').check();
  await field.fill('blue');
  await expect.poll(() => held.length).toBe(3);
  held[2]?.();
  await page.getByLabel('Select Blue Foods 41').waitFor();
  await page.getByRole('region', { name: 'Selected groups' }).waitFor({ state: 'detached' });
});

test('a person creates a group, and is led to the one that exists when its id is taken', async () => {
  const { page, assertFlawless } = await openConsole(gateway, '/console/groups');
  await page.getByRole('button', { name: 'New group' }).click();
  const dialog = page.getByRole('dialog', { name: 'New group' });
  await dialog.getByLabel('Provided id').fill('id-001');
  await assertFlawless();
  await dialog.getByRole('button', { name: 'Create the group' }).click();
  expect(await dialog.getByRole('alert').filter({ hasText: 'exists' }).textContent()).toContain('Open id-001');
  await dialog.getByLabel('Provided id').fill('new-group');
  await dialog.getByLabel('Name (optional)').fill('A new group');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'A new group' }).waitFor();
  expect(await stored('new-group')).toEqual({ name: 'A new group' });
  expect(await stored('id-001')).toEqual({ name: 'Blue Foods 1' });
});

test('a person exports what the list shows, and deletes several groups after typing how many', async () => {
  const groups = ['delete-1', 'delete-2', 'delete-3', 'keep'].map((providedId) => ({ providedId, name: `Old ${providedId}` }));
  await mutate(gateway, 'getOrCreateUserGroups', { groups });
  const { page } = await openConsole(gateway, '/console/groups?search=Old');
  await page.getByRole('button', { name: 'Export' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  const lines = (await textOf(await downloading)).trimEnd().split('\n');
  const kept = { user_group_id: 'keep', name: 'Old keep', mapping: {}, properties: null, environment: 'Testing' };
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining(kept));
  expect(lines).toHaveLength(4);

  const selected = ['delete-1', 'delete-2', 'delete-3'];
  for (const id of selected) await page.getByLabel(`Select Old ${id}`).check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 3 groups' });
  const confirm = dialog.getByRole('button', { name: 'Delete', exact: true });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel('Type 3 to confirm').fill('3');
  // To the console, one that was moved to another environment is the same as one that was deleted.
  await gateway.database.prisma.userGroup.updateMany({
    where: { providedId: 'delete-2' },
    data: { environmentTag: null },
  });
  await confirm.click();
  const notice = dialog.getByRole('alert').filter({ hasText: '1 of 3 groups were not found' });
  expect(await notice.textContent()).toContain('moved them to another environment');
  const items = dialog.getByRole('listitem');
  // The notice comes with the first that is not found; others may still be on their way.
  await expect
    .poll(async () => (await items.allTextContents()).map((text) => /deleted$|not found$/.exec(text)?.[0]).sort())
    .toEqual(['deleted', 'deleted', 'not found']);
  expect(await items.filter({ hasText: 'not found' }).textContent()).toContain('delete-2');
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('1 group', { exact: true }).waitFor();
  expect(await Promise.all(selected.map(stored))).toEqual([null, null, null]);
  expect(await gateway.database.prisma.userGroup.count({ where: { providedId: 'delete-2' } })).toBe(1);
});

test('a person who has deleted every group of the last page is led to those that are left', async () => {
  const groups = Array.from({ length: 21 }, (_, index) => ({ providedId: `last-${index}`, name: `Last ${index}` }));
  await mutate(gateway, 'getOrCreateUserGroups', { groups });
  const { page } = await openConsole(gateway, '/console/groups?search=last-');
  await page.getByText('21 groups').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Last 0', { exact: true }).waitFor();
  await page.getByLabel(/^Select Last/).check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByLabel('Type 1 to confirm').fill('1');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('20 groups').waitFor();
  await page.getByText('Last 20', { exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('?search=last-');
});

test('a group that was created by a try whose response was lost is in the list, even if the person does not try again', async () => {
  const { page } = await openConsole(gateway, '/console/groups', { expectedProblems: [lostResponse] });
  await loseNextResponse(page, 'CreateGroup');
  await page.getByRole('button', { name: 'New group' }).click();
  const dialog = page.getByRole('dialog', { name: 'New group' });
  await dialog.getByLabel('Provided id').fill('unheard-of');
  await dialog.getByRole('button', { name: 'Create the group' }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Select unheard-of').waitFor();
  const count = await gateway.database.prisma.userGroup.count({ where: { environmentTag: 'Testing' } });
  await page.getByText(`${count} groups`).waitFor();
});

test('an empty list says how to create the first group, and a failure says what to do', async () => {
  const { secret } = await gateway.issue({ environment: 'Customer' });
  const { page, assertFlawless } = await openConsole(gateway, '/console/groups', { secret, expectedProblems: [/status of 503/] });
  await page.getByText('No groups yet').waitFor();
  expect(await page.getByRole('main').textContent()).toContain(`curl -X GET ${gateway.url}/api/user`);
  await assertFlawless();
  await page.route('**/graphql', (route) =>
    route.fulfill({
      status: 503,
      headers: { 'content-type': 'application/json', 'x-request-id': 'the-request-id' },
      body: JSON.stringify({ errors: [{ message: 'The database does not respond.', extensions: { code: 'UNAVAILABLE' } }] }),
    }),
  );
  await page.getByRole('searchbox').fill('x');
  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  expect(await alert.textContent()).toMatch(/database does not respond[\s\S]*try again[\s\S]*UNAVAILABLE[\s\S]*the-request-id/);
  await assertFlawless();
  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No group matches').waitFor();
});

test('groups that could not be counted have no count, least of all that of another filter', async () => {
  const { page } = await openConsole(gateway, '/console/groups?search=id-0', { expectedProblems: [/status of 503/] });
  await page.getByText('44 groups').waitFor();
  await page.route('**/graphql', (route) =>
    route.request().postDataJSON().query.includes('GroupCount')
      ? route.fulfill({ status: 503, json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] } })
      : route.continue(),
  );
  await page.getByRole('searchbox').fill('Blue');
  await page.getByText('The groups could not be counted').waitFor();
  expect(await page.getByText('44 groups').count()).toBe(0);
});

test('what is typed beyond 255 characters is not searched for, and goes from the field', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  const field = page.getByRole('searchbox');
  await field.fill('x'.repeat(300));
  await expect.poll(() => field.inputValue()).toBe('x'.repeat(255));
  await page.getByText('No group matches').waitFor();
});

test('groups that could not be loaded are not those of the filter before', async () => {
  const { page } = await openConsole(gateway, '/console/groups?search=id-0', { expectedProblems: [/status of 503/] });
  await page.getByText('44 groups').waitFor();
  await page.getByLabel('Select', { exact: false }).first().check();
  await page.route('**/graphql', (route) =>
    route.request().postDataJSON().query.includes('GroupList')
      ? route.fulfill({ status: 503, json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] } })
      : route.continue(),
  );
  await page.getByRole('searchbox').fill('Blue');
  await page.getByText('The groups could not be loaded').waitFor();
  expect([await page.getByRole('table').count(), await page.getByRole('button', { name: 'Delete …' }).count()]).toEqual([0, 0]);
});

test('a property filter is sent as it was written: a number that JavaScript would change is refused', async () => {
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'large', properties: { account: 9007199254740992 } });
  const { page } = await openConsole(gateway, '/console/groups?property=account%3D9007199254740993', {
    expectedProblems: [/status of 400/],
  });
  await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).getByText('exactly').waitFor();
  await page.goto(`${gateway.url}/console/groups?property=account+%3D+9007199254740992`); // spaces around are not part of it
  await page.getByLabel('Select large').waitFor();
});

test('a property that was typed is a filter once the field is left', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  await page.getByText('More filters').click();
  const field = page.getByLabel('Property', { exact: true });
  await field.fill('plan=gold');
  const status = page.getByLabel('Status', { exact: true });
  await status.focus();
  await status.selectOption('ACTIVE');
  await page.waitForURL((url) => url.search.includes('plan') && url.search.includes('ACTIVE'));
  expect(await field.inputValue()).toBe('');
  // Also for the button that removes another one.
  await field.fill('plan=free');
  await page.getByRole('button', { name: 'Remove the filter plan=gold' }).click();
  await page.waitForURL((url) => url.search.includes('plan%3Dfree') && !url.search.includes('plan%3Dgold'));
  expect(await field.inputValue()).toBe('');
  await field.fill('no filter');
  await field.blur();
  await page.getByText('Expected a path, an equals sign and a value').waitFor();
});
