import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole, textOf } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  for (const name of ['one', 'two', 'other']) await mutate(gateway, 'getOrCreateUserGroup', { providedId: name, name });
});
afterAll(() => gateway.close());

test('a dialog keeps the groups that it was opened with when other groups are listed meanwhile', async () => {
  const { page } = await openConsole(gateway, '/console/groups');
  const dialog = page.getByRole('dialog');
  /** Opens a dialog for two groups while the list that has only another one is on its way, and comes then. */
  const openLate = async (button: string) => {
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Select two').waitFor();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (route.request().postDataJSON().query.includes('query GroupList')) await held;
      await route.continue();
    });
    const asked = page.waitForRequest((request) => request.postData()?.includes('query GroupList') === true);
    await page.getByRole('searchbox').fill('other');
    await asked;
    for (const name of ['one', 'two']) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole('region', { name: 'Selected groups' }).getByRole('button', { name: button }).click();
    await dialog.waitFor();
    release();
    await page.getByLabel('Select two').waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
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
