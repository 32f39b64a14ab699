import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandAuthor, recordEvent } from '../../src/caller.ts';
import { holdRequests, openConsole } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('a person finds who changed a group, and what was there before', async () => {
  for (const providedId of ['acme', 'other']) {
    await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: 'Before' });
  }
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'acme' }, name: 'After', properties: { plan: 'gold' } });
  const { secret } = await gateway.issue({ scopes: ['audit:read', 'groups:read'] });
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, '/console/audit-log', { secret });
  const events = page.getByRole('main').getByRole('listitem');
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'user_group.updated' });
  await events.filter({ hasText: 'user_group.created' }).first().waitFor({ state: 'detached' });
  expect(await events.getByRole('row', { name: /^name/ }).textContent()).toBe('name"Before""After"');
  expect(await events.first().textContent()).toMatch(/by test/);
  await assertFlawless();

  await page.getByLabel('Type', { exact: true }).selectOption('');
  await events.getByRole('link', { name: 'other' }).click();
  await events.filter({ hasText: 'acme' }).first().waitFor({ state: 'detached' });
  await expect.poll(() => events.filter({ hasText: 'user_group.created' }).count()).toBe(1);
  await assertFitsPhone();
});

test('a day in the URL that is none is explained, with a way out', async () => {
  const { secret } = await gateway.issue({ scopes: ['audit:read'] });
  for (const filter of ['from=2020-13-45', 'to=2020-02-30']) {
    const options = { secret, expectedProblems: [/status of 400/] };
    const { page } = await openConsole(gateway, `/console/audit-log?${filter}`, options);
    await page.getByRole('alert').filter({ hasText: 'INVALID_INPUT' }).waitFor();
    await page.getByRole('button', { name: 'Show the whole list' }).click();
    await page.getByRole('alert').filter({ hasText: 'INVALID_INPUT' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
  }
});

test('an event with a thousand changes shows the first of them, and all when a person asks for them', async () => {
  const mapping = Array.from({ length: 1_000 }, (_, index) => ({ schemaId: `schema-${index}`, dataSource: `source-${index}` }));
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'long', name: 'Long', mapping });
  const { secret } = await gateway.issue({ scopes: ['audit:read', 'groups:read'] });
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, `/console/audit-log?group=${userGroup.id}`, {
    secret,
  });
  const event = page.getByRole('main').getByRole('listitem').filter({ hasText: 'user_group.created' });
  const height = () => page.evaluate<number>('document.documentElement.scrollHeight');
  await event.waitFor();
  expect(await event.getByRole('row').count()).toBe(11);
  expect(await height()).toBeLessThan(1_000);
  await assertFlawless();
  await event.getByRole('button', { name: 'Show all 1,001 changes' }).click();
  expect(await event.getByRole('row').count()).toBe(1_002);
  await event.getByRole('button', { name: 'Show the first 10 changes only' }).click();
  await assertFitsPhone();
  expect(await height()).toBeLessThan(1_500);
});

test('an event has the environment that it belongs to, and one of an import or a key has none', async () => {
  const { secret } = await gateway.issue({ environment: null, scopes: ['admin'] });
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'untagged' }, secret);
  const author = commandAuthor('operator');
  const { sql } = gateway.database;
  await recordEvent(sql, author, 'user_group.imported', { import: { from: null, to: randomUUID() } });
  await recordEvent(sql, author, 'encryption_key.rotated', { encryptionKey: { from: null, to: '00000001' } });
  const { page } = await openConsole(gateway, '/console/audit-log', { secret });
  const events = page.getByRole('main').getByRole('listitem');
  const head = (type: string) => events.filter({ hasText: type }).first().locator('.event-head').textContent();
  expect(await head('user_group.created')).toContain('Untagged');
  expect(await head('user_group.imported')).not.toContain('Untagged');
  expect(await head('encryption_key.rotated')).not.toContain('Untagged');
});

test('a group whose creation is not recorded says that it was imported, or that the event was removed', async () => {
  const { rows } = await gateway.database.pool.query(
    `insert into user_group (provided_id, environment_tag, name, token_hash, token_encrypted)
     values ('imported', 'Testing', 'Imported', '', '') returning team_id`,
  );
  await gateway.database.pool.query('delete from event where team_id = $1', [rows[0].team_id]);
  const { secret } = await gateway.issue({ scopes: ['admin'] });
  const { page } = await openConsole(gateway, `/console/groups?search=imported`, { secret });
  await page.getByRole('link', { name: 'Imported' }).click();
  const section = page.getByRole('region', { name: 'Audit log' });
  await section.getByText('No change is recorded. The group was imported, or its events were removed').waitFor();
  expect(await section.getByRole('link', { name: 'Show the imports' }).getAttribute('href')).toContain('USER_GROUP_IMPORTED');

  await gateway.database.pool.query(
    `insert into event (type, environment, team_id, provided_id, actor_kind, actor_name, changes)
     values ('user_group.updated', 'Testing', $1, 'imported', 'CLI', 'operator', '{"name":{"from":"Before","to":"Imported"}}')`,
    [rows[0].team_id],
  );
  await page.reload();
  await section.getByText('Its creation is not recorded. The group was imported').waitFor();

  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'created', name: 'Created here' });
  await page.goto(`${gateway.url}/console/groups?search=created`);
  await page.getByRole('link', { name: 'Created here' }).click();
  await section.getByText('user_group.created').waitFor();
  await section.getByText('Changes that an import made to it are not listed').waitFor();
  expect(await section.textContent()).not.toMatch(/was imported/);
});

test('the number of an API token leads to its changes, and back to all of them', async () => {
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'by another', name: 'By another' });
  const { secret, id } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { page, assertFlawless } = await openConsole(gateway, '/console/api-tokens', { secret });
  await page.getByRole('link', { name: `#${id}`, exact: true }).click();
  await page.getByText('One API token').waitFor();
  const events = page.getByRole('main').locator('.events > li');
  await expect.poll(() => events.locator('strong').allTextContents()).toEqual(['api_token.created']);
  await assertFlawless();
  await page.getByRole('button', { name: 'Show every API token' }).click();
  await events.filter({ hasText: 'by another' }).waitFor();
  await page.goBack();
  const group = page.getByRole('textbox', { name: 'Group' });
  await group.fill('typed');
  await page.getByRole('button', { name: 'Show every API token' }).click();
  await page.waitForURL((url) => url.searchParams.get('provided-id') === 'typed' && !url.searchParams.has('token'));
  expect(await group.inputValue()).toBe('typed');
});

test('the buttons of a list do nothing while another list is loaded: its cursors are not of that one', async () => {
  for (let number = 0; number < 25; number += 1) await mutate(gateway, 'getOrCreateUserGroup', { providedId: `page-${number}` });
  const { secret } = await gateway.issue({ scopes: ['audit:read'] });
  const { page } = await openConsole(gateway, '/console/audit-log', { secret });
  const next = page.getByRole('button', { name: 'Next' });
  await expect.poll(() => next.isEnabled()).toBe(true);
  const release = await holdRequests(page, 'EventList');
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'user_group.created' });
  await page.waitForURL((url) => url.searchParams.has('type'));
  await next.click();
  expect(new URL(page.url()).searchParams.has('after')).toBe(false);
  await release();
  await expect
    .poll(async () => {
      await next.click();
      return new URL(page.url()).searchParams.has('after');
    })
    .toBe(true);
});

test('the filter by group finds exactly the id that is typed, and sends no token', async () => {
  const ids = ['spaced', ' spaced'];
  for (const providedId of ids) await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: providedId });
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'spaced' }, name: 'Another' });
  const { secret } = await gateway.issue({ scopes: ['audit:read'] });
  const { page } = await openConsole(gateway, '/console/audit-log', { secret });
  const field = page.getByRole('textbox', { name: 'Group' });
  const events = page.getByRole('main').getByRole('listitem').filter({ hasText: 'spaced' });
  for (const [index, id] of ids.entries()) {
    await field.fill(id);
    await field.press('Enter');
    await expect.poll(() => events.count()).toBe(index === 0 ? 2 : 1);
    expect(await field.inputValue()).toBe(id);
  }
  await field.fill(`ugt_${'a'.repeat(36)}`);
  await field.press('Enter');
  await page.getByText('This is a token.').waitFor();
  expect(page.url()).not.toContain('ugt_');
  // What is in the field is what the list is filtered by, also after another filter was chosen.
  await field.fill('not applied');
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'user_group.created' });
  await expect.poll(() => field.inputValue()).toBe(' spaced');
});

test('the changes of a group say exactly what was there before and after', async () => {
  const long = 'a'.repeat(400);
  const values = [null, 'x', null, '5', 5, `${long}1`, `${long}2`];
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'exact', name: 'Exact', properties: null });
  const by = { id: userGroup.id };
  await mutate(gateway, 'updateUserGroup', { by, properties: {} });
  for (const plan of values) await mutate(gateway, 'updateUserGroup', { by, properties: { plan } });
  await mutate(gateway, 'updateUserGroup', { by, properties: { plan: 1, constructor: 2 } });
  const { secret } = await gateway.issue({ scopes: ['audit:read', 'groups:read'] });
  const { page } = await openConsole(gateway, `/console/audit-log?group=${userGroup.id}&type=USER_GROUP_UPDATED`, { secret });
  const rows = page.getByRole('main').locator('tbody tr');
  await rows.first().waitFor();
  const shown = await Promise.all((await rows.all()).map((row) => row.locator('th, td').allTextContents()));
  expect(shown.reverse()).toEqual([
    ['properties', 'null', '{}'],
    ['properties.plan', '', 'null'],
    ['properties.plan', 'null', '"x"'],
    ['properties.plan', '"x"', 'null'],
    ['properties.plan', 'null', '"5"'],
    ['properties.plan', '"5"', '5'],
    ['properties.plan', '5', expect.stringMatching(/^"a{299}…$/)],
    ['properties.plan', expect.stringMatching(/^…a+1"$/), expect.stringMatching(/^…a+2"$/)],
    ['properties.constructor', '', '2'],
    ['properties.plan', expect.stringMatching(/^"a{299}…$/), '1'],
  ]);
  await page.getByText('Changes that an import made to it are not listed').waitFor();
});
