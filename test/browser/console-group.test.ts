import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addSchema,
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
import { until } from '../support/process.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function createGroup(providedId: string): Promise<{ path: string; token: string }> {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', {
    providedId,
    name: 'ACME',
    properties: { plan: 'gold' },
    mapping: [{ schemaId: 'sales', dataSource: 'pg-1' }],
  });
  return { path: `/console/group?id=${userGroup.id}`, token: userGroup.token };
}

async function read(providedId: string) {
  const query = 'query ($by: UserGroupBy!) { userGroup(by: $by) { id name token properties mapping { schemaId dataSource } } }';
  return (await gateway.graphql(query, { by: { providedId } })).json.data.userGroup;
}

test('a person changes the name, the mapping and the properties of a group', async () => {
  const { path } = await createGroup('changed');
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, path);
  await page.getByLabel('Display name').fill('ACME Ltd');
  // Leaving would lose the change: the person is asked, and stays.
  const asked = page.waitForEvent('dialog').then((dialog) => dialog.dismiss());
  await page.getByRole('link', { name: 'Groups', exact: true }).first().click();
  await asked;
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('heading', { level: 1, name: 'ACME Ltd' }).waitFor();

  await page.getByLabel('Data source of sales').fill('pg-2');
  await addSchema(page, 2, 'stock');
  await page.getByLabel('Data source of stock').fill('pg-3');
  await save(page, 'Save the mapping');

  const editor = page.getByRole('textbox', { name: 'Properties as JSON' });
  await typeOver(editor, '{"plan": "silver", "seats": 1e400}');
  await page.getByRole('button', { name: 'Save the properties' }).click();
  // Sent as it was written: the gateway rejects the number, where JavaScript would have made it null.
  expect(await page.getByRole('alert').filter({ hasText: 'properties were not saved' }).textContent()).toMatch(/number/);
  await typeOver(editor, '{"plan": "silver"');
  await page.getByRole('button', { name: 'Save the properties' }).click();
  await page.getByText('The text is not JSON').waitFor();
  await page.locator('.cm-lintRange-error, .cm-lintPoint-error').waitFor({ state: 'attached' });
  await typeOver(editor, '{"plan": "silver", "seats": 5}');
  await save(page, 'Save the properties');

  expect(await read('changed')).toMatchObject({
    name: 'ACME Ltd',
    mapping: [
      { schemaId: 'sales', dataSource: 'pg-2' },
      { schemaId: 'stock', dataSource: 'pg-3' },
    ],
    properties: { plan: 'silver', seats: 5 },
  });
  await assertFlawless();
  await assertFitsPhone();
});

test('rows of the mapping that are not valid are named by their numbers, and are no longer reported once they are edited', async () => {
  const { path } = await createGroup('invalid');
  const { page, assertFlawless } = await openConsole(gateway, path);
  const rows = ['x'.repeat(300), 'stock', 'y'.repeat(300), 'stock'];
  for (const [index, schemaId] of rows.entries()) {
    await addSchema(page, index + 2, schemaId);
  }
  await page.getByRole('button', { name: 'Save the mapping' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'The mapping was not saved' });
  const issues = async () => (await alert.getByRole('listitem').allTextContents()).map((text) => text.trim());
  await alert.waitFor();
  expect(await issues()).toEqual([
    expect.stringMatching(/^Mapping row 2: schema id .*255/),
    expect.stringMatching(/^Mapping row 4: schema id .*255/),
    'Mapping row 5: schema id is a duplicate.',
  ]);
  await assertFlawless();
  await page.getByLabel('Schema id 2').fill('orders');
  expect(await issues()).toEqual([expect.stringMatching(/^Mapping row 4/), expect.stringMatching(/^Mapping row 5/)]);
  // The rows after one that is removed have other numbers.
  await page.getByRole('button', { name: 'Remove orders' }).click();
  expect(await issues()).toEqual([expect.stringMatching(/^Mapping row 3/), expect.stringMatching(/^Mapping row 4/)]);
  // The first of two equal schema ids.
  await page.getByLabel('Schema id 2').fill('orders');
  await expect.poll(() => alert.textContent()).toMatch(/saved ?Mapping row 3: schema id/);
  await page.getByLabel('Schema id 3').fill('accounts');
  await alert.waitFor({ state: 'detached' });
  await save(page, 'Save the mapping');
  expect((await read('invalid')).mapping.map(({ schemaId }: { schemaId: string }) => schemaId)).toEqual([
    'sales',
    'orders',
    'accounts',
    'stock',
  ]);
});

test('a failure to save the name, or the properties, is no longer shown once they are edited, or discarded', async () => {
  const { path } = await createGroup('rejected');
  const { page } = await openConsole(gateway, path);
  const editor = page.getByRole('textbox', { name: 'Properties as JSON' });
  const editName = (text: string) => page.getByLabel('Display name').fill(text);
  const editProperties = (text: string) => typeOver(editor, JSON.stringify({ [text]: 1e-7 }).replace('1e-7', '1e400'));
  for (const [field, title, edit] of [
    ['name', 'The name was not saved', editName],
    ['properties', 'The properties were not saved', editProperties],
  ] as const) {
    const section = page.locator('section').filter({ has: page.getByRole('button', { name: `Save the ${field}` }) });
    const alert = page.getByRole('alert').filter({ hasText: title });
    const fail = async () => {
      await edit('x'.repeat(300));
      await section.getByRole('button', { name: `Save the ${field}` }).click();
      await alert.waitFor();
    };
    await fail();
    await edit('y'.repeat(300));
    await alert.waitFor({ state: 'detached' });
    await fail();
    await section.getByRole('button', { name: 'Discard the changes' }).click();
    await alert.waitFor({ state: 'detached' });
  }
});

test('fields that were not edited show what another client has stored, and do not restore the old values', async () => {
  const { path } = await createGroup('shared');
  const { page } = await openConsole(gateway, path);
  const editor = page.getByRole('textbox', { name: 'Properties as JSON' });
  await editor.getByText('gold').waitFor();
  await mutate(gateway, 'updateUserGroup', {
    by: { providedId: 'shared' },
    properties: { plan: 'silver' },
    mapping: [
      { schemaId: 'sales', dataSource: 'pg-9' },
      { schemaId: 'line 1\nline 2', dataSource: 'pg\r\n2' },
    ],
  });
  // 200 characters, of which each counts twice in a browser.
  const name = '🏢'.repeat(200);
  await page.getByLabel('Display name').fill(name);
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  expect(await page.getByLabel('Data source of sales').inputValue()).toBe('pg-9');
  await editor.getByText('silver').waitFor();
  expect(await page.getByRole('button', { name: 'Discard the changes' }).count()).toBe(0);
  // A field cannot have line breaks, and would drop them with the next key.
  for (const [label, text] of [
    ['Schema id 2', '"line 1\\nline 2"'],
    ['Data source of line 1 line 2', '"pg\\r\\n2"'],
  ] as const) {
    const field = page.getByLabel(label);
    expect([await field.inputValue(), await field.isEditable()]).toEqual([text, false]);
  }
  await page.getByText('Values with line breaks').waitFor();
  await page.getByLabel('Data source of sales').fill('pg-10');
  await save(page, 'Save the mapping');
  expect((await read('shared')).mapping).toEqual([
    { schemaId: 'sales', dataSource: 'pg-10' },
    { schemaId: 'line 1\nline 2', dataSource: 'pg\r\n2' },
  ]);
});

test('a change that was made by a try whose response was lost does not hide what others have changed since', async () => {
  const { path } = await createGroup('overtaken');
  const { page } = await openConsole(gateway, path, { expectedProblems: [lostResponse] });
  await loseNextResponse(page, 'UpdateGroup');
  await page.getByLabel('Display name').fill('mine');
  const press = () => page.getByRole('button', { name: 'Save the name' }).click();
  await press();
  await page.getByText('It is not known whether the change was made').waitFor();
  await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor();
  await mutate(gateway, 'updateUserGroup', { by: { providedId: 'overtaken' }, name: 'theirs' });
  await press();
  await page.getByRole('heading', { level: 1, name: 'theirs' }).waitFor();
  expect(await page.getByLabel('Display name').inputValue()).toBe('theirs');
  expect((await read('overtaken')).name).toBe('theirs');
});

test('after a response is lost, a person who gives the change up sees what is stored', async () => {
  const { path } = await createGroup('given-up');
  const { page } = await openConsole(gateway, path, { expectedProblems: [lostResponse] });
  await loseNextResponse(page, 'UpdateGroup');
  await page.getByLabel('Display name').fill('made');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('heading', { level: 1, name: 'made' }).waitFor();
  await page.getByText('It is not known whether the change was made').waitFor();
  await page.getByRole('button', { name: 'Discard the changes' }).click();
  expect(await page.getByLabel('Display name').inputValue()).toBe('made');
  await loseNextResponse(page, 'SuspendGroup');
  await page.getByRole('button', { name: 'Suspend …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Suspend the group' }).click();
  await dialog.getByText('It is not known whether the change was made').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Resume …' }).waitFor();
});

test('a group that was read before a change, and arrives after it, does not hide the change', async () => {
  const { path } = await createGroup('late');
  const { page } = await openConsole(gateway, path, { expectedProblems: [lostResponse] });
  await page.getByRole('heading', { level: 1, name: 'ACME' }).waitFor();
  await loseNextResponse(page, 'UpdateGroup');
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  await page.route('**/graphql', async (route) => {
    if (isHeld || !route.request().postDataJSON().query.includes('query Group(')) return route.fallback();
    isHeld = true;
    const response = await route.fetch();
    await held;
    return route.fulfill({ response });
  });
  await page.getByLabel('Display name').fill('ACME Ltd');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await page.getByLabel('Data source of sales').fill('pg-7');
  await save(page, 'Save the mapping');
  const arrived = page.waitForResponse((response) => response.request().postData()?.includes('query Group(') === true);
  release();
  await (await arrived).finished();
  await page.waitForLoadState('networkidle');
  expect(await page.getByLabel('Data source of sales').inputValue()).toBe('pg-7');
});

test('the token is shown when a person asks for it, rotated once even if the response is lost, and hidden once it is replaced', async () => {
  const { path, token } = await createGroup('rotated');
  const { page, assertFlawless } = await openConsole(gateway, path, { expectedProblems: [lostResponse] });
  const section = page.getByRole('region', { name: 'Token', exact: true });
  await section.getByRole('button', { name: 'Show' }).waitFor();
  expect(await page.content()).not.toContain(token);
  await section.getByRole('button', { name: 'Show' }).click();
  await section.getByText(token).waitFor();
  await section.getByRole('button', { name: 'Rotate …' }).click();
  await page.getByLabel('How long does the current token still work?').selectOption('For 5 minutes');
  await assertFlawless();
  await loseNextResponse(page, 'RotateGroupToken');
  const rotate = page.getByRole('dialog').getByRole('button', { name: 'Rotate the token' });
  await rotate.click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await rotate.click();
  await section.getByText('The previous one works until').waitFor();
  const { token: rotated } = await read('rotated');
  expect(rotated).not.toBe(token);
  await section.getByText(rotated).waitFor();
  const by = (query: string) => gateway.graphql('query ($t: String!) { userGroup(by: { token: $t }) { name } }', { t: query });
  expect((await by(token)).json.data.userGroup).toEqual({ name: 'ACME' });
  // Once the page knows that the group has changed, it does not show what may be another token by now.
  await mutate(gateway, 'rotateUserGroupToken', { currentToken: rotated });
  await page.getByLabel('Display name').fill('ACME Ltd');
  await save(page, 'Save the name');
  await section.getByRole('button', { name: 'Show' }).waitFor();
  expect(await section.textContent()).not.toMatch(/ugt_\w|previous one/);
});

test('a token that is read late does not take the place of the one that has replaced it', async () => {
  const { path } = await createGroup('read-late');
  const { page } = await openConsole(gateway, path);
  const section = page.getByRole('region', { name: 'Token', exact: true });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reads = 0;
  await page.route('**/graphql', async (route) => {
    if (!route.request().postDataJSON().query.includes('query GroupToken(') || ++reads > 1) return route.fallback();
    const response = await route.fetch();
    await held;
    return route.fulfill({ response });
  });
  await section.getByRole('button', { name: 'Show' }).click();
  await until(() => reads === 1, 'the token is read');
  await section.getByRole('button', { name: 'Rotate …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate the token' }).click();
  await section.getByText('This is a new token.').waitFor();
  const arrived = page.waitForResponse((response) => response.request().postData()?.includes('query GroupToken(') === true);
  release();
  await (await arrived).finished();
  // Until the page has shown what it got.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await section.getByText((await read('read-late')).token).waitFor();
});

test('a person creates an embed token that the gateway accepts', async () => {
  const { path } = await createGroup('embedded');
  const { secret } = await gateway.issue({ scopes: ['groups:read', 'embed:sign'] });
  const { page } = await openConsole(gateway, path, { secret });
  const section = page.getByRole('region', { name: 'Embed token' });
  await section.getByLabel('Audience (optional)').fill('dashboards');
  const sent = page.waitForRequest((request) => request.postData()?.includes('mutation CreateEmbedToken') === true);
  await section.getByRole('button', { name: 'Create an embed token' }).click();
  // With a key, the gateway would return this one again when another is asked for: it may have expired.
  expect((await sent).headers()['idempotency-key']).toBeUndefined();
  const text = (await section.getByText(/^ey/).textContent()) ?? '';
  expect(JSON.parse((await section.locator('pre').textContent()) ?? '')).toMatchObject({
    sub: 'embedded',
    aud: 'dashboards',
    env: 'Testing',
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { json } = await gateway.send('POST', '/oauth2/introspect', { headers, body: `token=${text}` });
  expect(json).toMatchObject({ active: true, sub: 'embedded' });
});

test('that a token was copied is not said of the next one', async () => {
  const { path } = await createGroup('copied');
  const { secret } = await gateway.issue({ scopes: ['groups:read', 'embed:sign'] });
  const { page } = await openConsole(gateway, path, { secret });
  const section = page.getByRole('region', { name: 'Embed token' });
  // Nothing that was said goes by itself.
  await page.evaluate(() => Object.assign(window, { setTimeout: () => 0 }));
  await section.getByRole('button', { name: 'Create an embed token' }).click();
  const first = (await section.getByText(/^ey/).textContent()) ?? '';
  await section.getByRole('button', { name: 'Copy the embed token' }).click();
  await section.getByText('Copied').first().waitFor();
  await section.getByLabel('Audience (optional)').fill('another');
  await section.getByRole('button', { name: /^Create/ }).click();
  await until(async () => (await section.getByText(/^ey/).textContent()) !== first, 'another token');
  expect(await section.textContent()).not.toContain('Copied');
});

test('a group is deleted only after its provided id was typed', async () => {
  const { path } = await createGroup('deleted');
  const { page } = await openConsole(gateway, path);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Delete …' }).click();
  await dialog.getByText('Its tokens have never been looked up.').waitFor();
  await page.keyboard.press('Escape');
  const data = { lastResolvedAt: new Date() };
  await gateway.database.prisma.userGroup.updateMany({ where: { providedId: 'deleted' }, data });
  const release = await holdRequests(page, 'Group');
  await page.getByRole('button', { name: 'Delete …' }).click();
  await dialog.getByText('It is not known when its tokens were last looked up.').waitFor();
  await release();
  await dialog.getByText('Its tokens were last looked up').waitFor();
  await dialog.getByLabel('Type deleted to confirm').fill('delete');
  expect(await dialog.getByRole('button', { name: 'Delete the group' }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete …' }).click();
  await dialog.getByLabel('Type deleted to confirm').fill('deleted');
  await dialog.getByRole('button', { name: 'Delete the group' }).click();
  await page.waitForURL('**/console/groups');
  expect(await read('deleted')).toBeNull();
});

test('an admin moves a group to another environment', async () => {
  const { path } = await createGroup('moved');
  const { secret } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { page } = await openConsole(gateway, path, { secret });
  // What is loaded last moves the button.
  await page.getByText('user_group.created').waitFor();
  await page.getByRole('button', { name: 'Move …' }).click();
  await page.getByLabel('New environment').selectOption('Customer');
  await page.getByRole('button', { name: 'Move the group' }).click();
  await page.getByRole('heading', { level: 1, name: 'Customer' }).waitFor();
  const row = await gateway.database.prisma.userGroup.findFirst({ where: { providedId: 'moved' } });
  expect(row?.environmentTag).toBe('Customer');
});

test('the token of a group that was deleted meanwhile is a failure', async () => {
  const { path } = await createGroup('gone');
  const { page } = await openConsole(gateway, path);
  await page.getByRole('button', { name: 'Show', exact: true }).waitFor();
  await mutate(gateway, 'deleteUserGroup', { by: { providedId: 'gone' } });
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page
    .getByRole('alert')
    .filter({ hasText: 'The token could not be read' })
    .getByText('The group was deleted, or moved')
    .waitFor();
});

test('that a token could not be read is over once it was rotated', async () => {
  const { path } = await createGroup('rotated-unread');
  const { page } = await openConsole(gateway, path, { expectedProblems: [lostResponse] });
  const failure = page.getByText('The token could not be read');
  await loseNextResponse(page, 'GroupToken');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await failure.waitFor();
  await page.getByRole('button', { name: 'Rotate …' }).click();
  await page.getByRole('button', { name: 'Rotate the token' }).click();
  await page.getByText('This is a new token.').waitFor();
  await page.getByRole('button', { name: 'Hide' }).click();
  await page.getByRole('button', { name: 'Show', exact: true }).waitFor();
  expect(await failure.count()).toBe(0);
});

test('a token that was rotated while the group is suspended is said not to work', async () => {
  const { path } = await createGroup('rotated-suspended');
  await mutate(gateway, 'suspendUserGroup', { by: { providedId: 'rotated-suspended' } });
  const { page } = await openConsole(gateway, path);
  await page.getByRole('button', { name: 'Rotate …' }).click();
  await page.getByRole('button', { name: 'Rotate the token' }).click();
  await page.getByText('While the group is suspended, none of its tokens works.').waitFor();
  await mutate(gateway, 'deleteUserGroup', { by: { providedId: 'rotated-suspended' } });
});

test('nothing is edited while it is being saved', async () => {
  const { path } = await createGroup('typing');
  const { page } = await openConsole(gateway, path);
  const editor = page.getByRole('textbox', { name: 'Properties as JSON' });
  await editor.getByText('gold').waitFor();
  const saveWhileTyping = async (label: string, field: Locator) => {
    const release = await holdRequests(page, 'UpdateGroup');
    const sent = page.waitForRequest((request) => request.postData()?.includes('mutation UpdateGroup') === true);
    await page.getByRole('button', { name: label }).click();
    await sent;
    const text = await textIn(field);
    await field.press('9');
    expect(await textIn(field)).toBe(text);
    await release();
    await untilSaved(page, label);
    await page.unrouteAll({ behavior: 'wait' });
  };
  await page.getByLabel('Display name').fill('One');
  await saveWhileTyping('Save the name', page.getByLabel('Display name'));
  await page.getByLabel('Data source of sales').fill('pg-2');
  await saveWhileTyping('Save the mapping', page.getByLabel('Data source of sales'));
  await typeOver(editor, '{"plan": "silver"}');
  await saveWhileTyping('Save the properties', editor);
  expect(await read('typing')).toMatchObject({
    name: 'One',
    mapping: [{ schemaId: 'sales', dataSource: 'pg-2' }],
    properties: { plan: 'silver' },
  });
});

test('a text that is too long is refused, not cut', async () => {
  const { path } = await createGroup('long');
  const { page } = await openConsole(gateway, path);
  const name = page.getByLabel('Display name');
  await name.click();
  await name.press('ControlOrMeta+a');
  // The flag of England, of which browsers cut none in two: 7 characters, 14 UTF-16 units.
  await page.keyboard.insertText('\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}'.repeat(40));
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('alert').filter({ hasText: 'The name was not saved' }).waitFor();
  expect((await read('long')).name).toBe('ACME');
});

test('a group that is being deleted: nothing closes the dialog, and a person who leaves all the same is not led away later', async () => {
  await createGroup('deleted-meanwhile');
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'next', name: 'The next one' });
  const { page } = await openConsole(gateway, '/console/groups?search=deleted-meanwhile');
  await page.getByRole('link', { name: 'ACME' }).click();
  await page.getByRole('button', { name: 'Delete …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete ACME' });
  await dialog.getByRole('textbox').fill('deleted-meanwhile');
  const release = await holdRequests(page, 'DeleteGroup');
  await dialog.getByRole('button', { name: 'Delete the group' }).click();
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
  const asked = page.waitForEvent('dialog').then((question) => question.accept());
  await page.goBack();
  await asked;
  await page.getByRole('searchbox').fill('next');
  await page.getByRole('link', { name: 'The next one' }).click();
  await page.getByLabel('Display name').fill('Edited');
  await release();
  await page.getByText('Deleted deleted-meanwhile').waitFor();
  expect(await page.getByLabel('Display name').inputValue()).toBe('Edited');
});

test('a person suspends a group with a reason, finds it in the list, and resumes it', async () => {
  const { path, token } = await createGroup('unpaid');
  const { page, assertFlawless, assertFitsPhone } = await openConsole(gateway, path);
  const isKnown = async () => {
    const query = 'query ($token: String!) { userGroup(by: { token: $token }) { name } }';
    return (await gateway.graphql(query, { token })).json.data.userGroup !== null;
  };
  await page.getByRole('button', { name: 'Suspend …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Reason (optional)' }).fill('The invoice is not paid');
  await assertFlawless();
  await dialog.getByRole('button', { name: 'Suspend the group' }).click();
  await page.getByText('Reason: The invoice is not paid').waitFor();
  await page.getByRole('heading', { level: 1, name: /ACME.*suspended/ }).waitFor();
  expect(await isKnown()).toBe(false);
  await assertFlawless();

  await page.goto(`${gateway.url}/console/groups?status=SUSPENDED`);
  await page.getByRole('row', { name: /unpaid.*suspended/ }).waitFor();
  const listed = await page
    .getByRole('row')
    .filter({ has: page.getByRole('cell') })
    .allTextContents();
  expect(listed.filter((text) => !text.includes('suspended'))).toEqual([]);
  expect(await page.getByLabel('Status').inputValue()).toBe('SUSPENDED');
  await assertFlawless();
  await assertFitsPhone();

  await page.getByRole('link', { name: 'ACME' }).click();
  await page.getByRole('button', { name: 'Resume …' }).click();
  await dialog.getByRole('button', { name: 'Resume the group' }).click();
  await page.getByRole('button', { name: 'Suspend …' }).waitFor();
  expect(await isKnown()).toBe(true);
});
