import { buffer } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole, signIn, textOf } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Stores groups of the Testing environment without tokens that work, the first one updated last. */
const store = (name: string, count: number) =>
  gateway.database.pool.query(
    `insert into user_group (provided_id, environment_tag, name, token_hash, token_encrypted, updated_at)
     select $1 || '-' || n, 'Testing', $1, sha256(($1 || n)::bytea), '', now() - n * interval '1 second' from generate_series(1, $2) n`,
    [name, count],
  );

const exportButton = (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Export', exact: true });

/** The requests that read groups for a file, each held until it is let go, and whether the browser was given a file. */
async function watchExport(page: Page) {
  const held: ((isAnswered?: boolean) => void)[] = [];
  let downloads = 0;
  page.on('download', () => {
    downloads += 1;
  });
  await page.route('**/graphql', async (route) => {
    if (!route.request().postDataJSON().query.includes('GroupExport')) return route.continue();
    const isAnswered = await new Promise<boolean>((resolve) => held.push((value = true) => resolve(value)));
    return isAnswered ? route.continue() : route.abort();
  });
  return { held, downloads: () => downloads };
}

test('an export says which groups it has, with every filter that is in force', async () => {
  await store('Described', 2);
  const { secret } = await gateway.issue({ scopes: ['admin'] });
  const query = 'search=Described&environment=TESTING&property=plan%3Dgold&created-from=2026-01-31';
  await gateway.database.pool.query(`update user_group set properties = '{"plan":"gold"}' where provided_id = 'Described-1'`);
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/groups');
  const dialog = page.getByRole('dialog', { name: 'Export groups' });
  const open = async () => {
    await page.getByText(/^\d+ groups?$/).waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
  };
  await open();
  await dialog.getByText('Saves all 2 groups of the environment Testing as a file.').waitFor();
  expect(await dialog.getByRole('listitem').count()).toBe(0);

  await page.goto(`${gateway.url}/console/groups?${query}`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, secret);
  await open();
  await dialog.getByText('Saves 1 group, which matches every filter').waitFor();
  expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
    'Name or provided id contains Described',
    'Environment is Testing',
    'Property plan=gold',
    'Created from 2026-01-31',
  ]);
  await assertFlawless();
  await assertFitsPhone();
});

test('an export of more groups than the browser may hold is not begun, and names the command that has no limit', async () => {
  await store('Bulk', 20_001);
  const { page, assertFlawless } = await openConsole(gateway, '/console/groups?search=Bulk');
  const { held, downloads } = await watchExport(page);
  await page.getByText('20,001 groups').waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog', { name: 'Export groups' });
  expect(await dialog.getByRole('alert').filter({ hasText: 'too many' }).textContent()).toMatch(
    /20,001 groups are too many.*at most 20,000.*groups export/,
  );
  expect(await exportButton(page).isDisabled()).toBe(true);
  await assertFlawless();
  expect([held.length, downloads()]).toEqual([0, 0]);
});

test('groups that exceed the limit while an export reads them make it fail, without a file', async () => {
  await store('Growing', 2);
  const { page } = await openConsole(gateway, '/console/groups?search=Growing');
  const { downloads } = await watchExport(page);
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByText('Saves 2 groups').waitFor();
  // One response with the groups of 201: those would take a minute on a busy machine.
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    const { nodes } = json.data.userGroups;
    json.data.userGroups.nodes = Array.from({ length: 20_001 }, () => nodes[0]);
    return route.fulfill({ response, json });
  });
  await exportButton(page).click();
  const alert = page.getByRole('dialog').getByRole('alert').filter({ hasText: 'were not exported' });
  expect(await alert.textContent()).toMatch(/at most 20,000.*groups export/);
  expect(downloads()).toBe(0);
});

test('an export whose second page cannot be read fails, without a file, and can be tried again', async () => {
  await store('Failing', 150);
  const { page } = await openConsole(gateway, '/console/groups?search=Failing', { expectedProblems: [/ERR_FAILED/] });
  const { held, downloads } = await watchExport(page);
  await page.getByRole('button', { name: 'Export' }).click();
  await exportButton(page).click();
  await expect.poll(() => held.length).toBe(1);
  held[0]?.();
  await expect.poll(() => held.length).toBe(2);
  expect(await page.getByLabel('Format').isDisabled()).toBe(true);
  held[1]?.(false);
  await page.getByRole('alert').filter({ hasText: 'The groups were not exported' }).waitFor();
  expect(downloads()).toBe(0);
  await page.unroute('**/graphql');
  const downloading = page.waitForEvent('download');
  await exportButton(page).click();
  expect((await textOf(await downloading)).trimEnd().split('\n')).toHaveLength(150);
});

test('an export waits for the rate limit of the API token, and goes on', async () => {
  await store('Limited', 150);
  const { secret, id } = await gateway.issue();
  const { page } = await openConsole(gateway, '/console/groups?search=Limited', {
    secret,
    expectedProblems: [/status of 429/],
  });
  const { held } = await watchExport(page);
  await page.getByRole('button', { name: 'Export' }).click();
  await exportButton(page).click();
  await expect.poll(() => held.length).toBe(1);
  // Of its two pages, the first is permitted.
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { rateLimit: 1 } });
  held[0]?.();
  await expect.poll(() => held.length).toBe(2);
  // It waits for a minute.
  await page.evaluate('{ const { setTimeout } = globalThis; globalThis.setTimeout = (call) => setTimeout(call, 100); }');
  held[1]?.();
  await page.getByText('has reached its rate limit').waitFor();
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { rateLimit: null } });
  await expect.poll(() => held.length).toBe(3);
  const downloading = page.waitForEvent('download');
  held[2]?.();
  expect((await textOf(await downloading)).trimEnd().split('\n')).toHaveLength(150);
});

test('a group that is changed while an export reads the others is in the file, whatever the list is sorted by', async () => {
  await store('Moving', 150);
  const { page } = await openConsole(gateway, '/console/groups?search=Moving&sort=UPDATED');
  const { held } = await watchExport(page);
  await page.getByRole('button', { name: 'Export' }).click();
  await exportButton(page).click();
  await expect.poll(() => held.length).toBe(1);
  held[0]?.();
  await expect.poll(() => held.length).toBe(2);
  // By the time of their updates, these are on the second page until then, and on the first one from then on.
  const moved = ['Moving-149', 'Moving-150'];
  await gateway.database.pool.query('update user_group set updated_at = now() where provided_id = any($1)', [moved]);
  const downloading = page.waitForEvent('download');
  held[1]?.();
  const lines = (await textOf(await downloading)).trimEnd().split('\n');
  const ids = lines.map((line) => JSON.parse(line).user_group_id);
  // The newest first.
  expect(ids).toEqual(Array.from({ length: 150 }, (_, index) => `Moving-${150 - index}`));
});

test('an export of selected groups fails, without a file, when one of them was deleted meanwhile', async () => {
  await store('Selected', 2);
  const { page } = await openConsole(gateway, '/console/groups?search=Selected');
  const { held, downloads } = await watchExport(page);
  await page.getByLabel('Select every group on this page').check();
  await page.getByRole('region', { name: 'Selected groups' }).getByRole('button', { name: 'Export' }).click();
  await exportButton(page).click();
  await expect.poll(() => held.length).toBe(1);
  await mutate(gateway, 'deleteUserGroup', { by: { providedId: 'Selected-2' } });
  held[0]?.();
  const alert = page.getByRole('dialog').getByRole('alert').filter({ hasText: 'were not exported' });
  expect(await alert.textContent()).toContain('1 of the 2 selected groups no longer exists');
  expect(downloads()).toBe(0);
});

test('groups that could not be counted: the export says so', async () => {
  await store('Uncounted', 2);
  const { page } = await openConsole(gateway, '/console/groups?search=Uncounted', { expectedProblems: [/status of 503/] });
  await page.getByText('2 groups').waitFor();
  await page.route('**/graphql', (route) =>
    route.request().postDataJSON().query.includes('GroupCount')
      ? route.fulfill({ status: 503, json: { errors: [{ message: 'No database.', extensions: { code: 'UNAVAILABLE' } }] } })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Export' }).click();
  const alert = page.getByRole('dialog').getByRole('alert').filter({ hasText: 'could not be counted' });
  await alert.getByText('No database.').waitFor();
  await page.unroute('**/graphql');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Saves 2 groups').waitFor();
});

test('a CSV file says of a group that it is untagged and has no properties: an empty cell would count as missing', async () => {
  const { secret } = await gateway.issue({ environment: null, scopes: ['admin'] });
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'no-tag', name: 'No tag', environmentTag: null }, secret);
  const { page } = await openConsole(gateway, '/console/groups?search=no-tag', { secret });
  await page.getByText('1 group', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByLabel('Format').selectOption('csv');
  const downloading = page.waitForEvent('download');
  await exportButton(page).click();
  const bytes = await buffer(await (await downloading).createReadStream());
  expect(bytes.toString('latin1', 0, 3)).toBe('\xef\xbb\xbf'); // for Excel, which would not read UTF-8
  const [names = [], cells = [], ...end] = bytes
    .toString('utf8', 3)
    .split('\r\n')
    .map((line) => line.split(','));
  const row = { user_group_id: 'no-tag', name: 'No tag', mapping: '{}', properties: 'null', environment: 'none' };
  expect(Object.fromEntries(names.map((name, index) => [name, cells[index]]))).toMatchObject(row);
  expect([cells.length, end]).toEqual([names.length, [['']]]);
});
