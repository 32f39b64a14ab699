import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'acme' });
});
afterAll(() => gateway.close());

test.each([
  ['/console/groups', 'created-from', 'From', 'Created'],
  ['/console/groups', 'updated-to', 'To', 'Updated'],
  ['/console/groups', 'not-seen-since', 'Not seen since', undefined],
  ['/console/audit-log', 'from', 'From', undefined],
  ['/console/audit-log', 'to', 'To', undefined],
] as const)('a day is typed key by key: %s?%s', async (path, parameter, label, group) => {
  const { secret } = await gateway.issue({ scopes: ['groups:read', 'audit:read'] });
  const { page } = await openConsole(gateway, path, { secret, expectedProblems: [/status of 400/] });
  if (path === '/console/groups') await page.getByText('More filters').click();
  const field = (group ? page.getByRole('group', { name: group }) : page).getByLabel(label, { exact: true });
  const places: string[] = [];
  page.on('framenavigated', (frame) => places.push(frame.url()));
  // In the order of the browser's language.
  await field.pressSequentially('01152026');
  await page.waitForURL(`**${path}?${parameter}=2026-01-15`);
  expect(await field.inputValue()).toBe('2026-01-15');
  // Another year, of which the first digits are no day to ask for.
  await field.press('ArrowLeft');
  await field.press('ArrowLeft');
  await field.pressSequentially('01152025');
  await page.waitForURL(`**${path}?${parameter}=2025-01-15`);
  expect(places.filter((place) => /=0/.test(place))).toEqual([]);
  // A person who leaves the field with a year of three digits is told.
  await field.press('ArrowLeft');
  await field.press('ArrowLeft');
  await field.pressSequentially('0115202');
  expect(page.url()).toContain(`${parameter}=2025-01-15`);
  await field.blur();
  await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor();
});

test('a day that does not exist is said to be none, and changes no filter', async () => {
  const { secret } = await gateway.issue({ scopes: ['groups:read', 'audit:read'] });
  const { page } = await openConsole(gateway, '/console/audit-log', { secret });
  const [from, to] = [page.getByLabel('From', { exact: true }), page.getByLabel('To', { exact: true })];
  const noDay = page.getByText('This day is not complete, or does not exist.');
  await to.pressSequentially('06312026');
  await to.blur();
  await noDay.waitFor();
  await to.focus();
  await to.pressSequentially('06302026');
  await page.waitForURL('**/console/audit-log?to=2026-06-30');
  await noDay.waitFor({ state: 'detached' });
  await from.pressSequentially('01312020');
  await page.waitForURL('**/console/audit-log?from=2020-01-31&to=2026-06-30');
  await from.press('ArrowLeft');
  await from.press('ArrowLeft');
  await from.pressSequentially('02');
  await noDay.waitFor();
  expect(page.url()).toContain('from=2020-01-31');
  await page.goBack();
  await page.waitForURL('**/console/audit-log?to=2026-06-30');
  await noDay.waitFor({ state: 'detached' });
  expect(await page.locator('input:invalid').count()).toBe(0);
  await page.goForward();
  await expect.poll(() => from.inputValue()).toBe('2020-01-31');
  for (const key of ['ArrowLeft', 'ArrowLeft', '0', '2']) await from.press(key);
  await noDay.waitFor();
  // Without a day there is no filter.
  await from.press('Delete');
  for (const key of ['ArrowLeft', 'Delete', 'ArrowRight', 'ArrowRight', 'Delete']) await from.press(key);
  await from.blur();
  await page.waitForURL('**/console/audit-log?to=2026-06-30');
});
