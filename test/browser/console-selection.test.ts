import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRequests, openConsole, textOf } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  for (const name of ['one', 'two', 'other']) await mutate(gateway, 'getOrCreateUserGroup', { providedId: name, name });
});
afterAll(() => gateway.close());

test('no group of a former filter can be selected or deleted while the list is loaded', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  const remove = page.getByRole('region', { name: 'Selected groups' }).getByRole('button', { name: 'Delete …' });
  await page.getByLabel('Select one').check();
  const release = await holdRequests(page, 'GroupList');
  await page.getByRole('searchbox').fill('o');
  await expect.poll(() => remove.isDisabled()).toBe(true);
  for (const label of ['Select two', 'Select every group on this page'])
    expect(await page.getByLabel(label).isDisabled()).toBe(true);
  await release();
  await remove.waitFor({ state: 'detached' });
  await page.getByLabel('Select two').check();
  expect(await remove.isEnabled()).toBe(true);
});

test('a dialog keeps the groups that it was opened with when other groups are listed meanwhile', async () => {
  const { page } = await openConsole(gateway, '/console/groups?search=other');
  const dialog = page.getByRole('dialog');
  /** Opens a dialog for two groups, and goes back to a list that has only another one. */
  const openLate = async (button: string) => {
    await page.getByRole('link', { name: 'Groups', exact: true }).click();
    for (const name of ['one', 'two']) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole('region', { name: 'Selected groups' }).getByRole('button', { name: button }).click();
    await dialog.waitFor();
    await page.goBack();
    await page.getByLabel('Select two').waitFor({ state: 'detached' });
  };
  await openLate('Export');
  await dialog.getByRole('heading', { name: 'Export 2 groups' }).waitFor();
  const downloading = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Export', exact: true }).click();
  expect((await textOf(await downloading)).trim().split('\n')).toHaveLength(2);
  await dialog.waitFor({ state: 'detached' });

  await openLate('Delete …');
  await dialog.getByRole('heading', { name: 'Delete 2 groups' }).waitFor();
  await dialog.getByLabel('Type 2 to confirm').fill('2');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Deleted 2 groups').waitFor();
  expect(await gateway.database.prisma.userGroup.findMany({ select: { providedId: true } })).toEqual([{ providedId: 'other' }]);
});
