import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer, loseNextResponse, lostResponse, openConsole, propertiesIn, save, typeOver } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Opens the page of a new group. */
async function openGroup(providedId: string, options: Parameters<typeof openConsole>[2] = {}) {
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', {
    providedId,
    name: 'ACME',
    properties: { plan: 'gold' },
    mapping: [{ schemaId: 'sales', dataSource: 'pg-1' }],
  });
  const { page } = await openConsole(gateway, `/console/group?id=${userGroup.id}`, options);
  await propertiesIn(page).getByText('gold').waitFor();
  await page.waitForLoadState('networkidle'); // what is loaded last moves the buttons
  return { page, dialog: page.getByRole('dialog'), token: userGroup.token as string };
}

async function read(providedId: string) {
  const query = 'query ($by: UserGroupBy!) { userGroup(by: $by) { name token properties mapping { schemaId dataSource } } }';
  return (await gateway.graphql(query, { by: { providedId } })).json.data.userGroup;
}

async function isKnown(token: string): Promise<boolean> {
  const query = 'query ($token: String!) { userGroup(by: { token: $token }) { name } }';
  return (await gateway.graphql(query, { token })).json.data.userGroup !== null;
}

test('a person changes the name, the mapping and the properties of a group', async () => {
  const { page } = await openGroup('changed');
  await page.getByLabel('Display name').fill('ACME Ltd');
  // Leaving would lose the change: the person is asked, and stays.
  const asked = answer(page, false);
  await page.getByRole('link', { name: 'Groups', exact: true }).first().click();
  await asked;
  await save(page, 'Save the name');
  await page.getByRole('heading', { level: 1, name: 'ACME Ltd' }).waitFor();

  await page.getByLabel('Data source of sales').fill('pg-2');
  await page.getByRole('button', { name: 'Add a schema' }).click();
  await page.getByLabel('Schema id 2').and(page.locator(':focus')).fill('stock');
  await page.getByLabel('Data source of stock').fill('pg-3');
  await save(page, 'Save the mapping');

  const saveProperties = page.getByRole('button', { name: 'Save the properties' });
  await typeOver(propertiesIn(page), '{"plan": "silver", "seats": 1e400}');
  await saveProperties.click();
  // Sent as it was written: the gateway rejects the number, where JavaScript would have made it null.
  expect(await page.getByRole('alert').filter({ hasText: 'properties were not saved' }).textContent()).toMatch(/number/);
  await typeOver(propertiesIn(page), '{"plan": "silver"');
  await saveProperties.click();
  await page.getByText('The text is not JSON').waitFor();
  await page.locator('.cm-lintRange-error, .cm-lintPoint-error').waitFor({ state: 'attached' });
  await typeOver(propertiesIn(page), '{"plan": "silver", "seats": 5}');
  await save(page, 'Save the properties');
  expect(await read('changed')).toMatchObject({
    name: 'ACME Ltd',
    mapping: [
      { schemaId: 'sales', dataSource: 'pg-2' },
      { schemaId: 'stock', dataSource: 'pg-3' },
    ],
    properties: { plan: 'silver', seats: 5 },
  });
});

test('what is not valid is refused, not cut, and named by its row', async () => {
  const { page } = await openGroup('invalid');
  for (const [number, schemaId] of [
    [2, 'x'.repeat(300)],
    [3, 'sales'],
  ] as const) {
    await page.getByRole('button', { name: 'Add a schema' }).click();
    await page.getByLabel(`Schema id ${number}`).and(page.locator(':focus')).fill(schemaId);
  }
  await page.getByRole('button', { name: 'Save the mapping' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'The mapping was not saved' });
  await alert.waitFor();
  expect((await alert.getByRole('listitem').allTextContents()).map((text) => text.trim())).toEqual([
    expect.stringMatching(/^Mapping row 2: schema id .*255/),
    'Mapping row 3: schema id is a duplicate.',
  ]);
  // The flag of England, of which browsers cut none in two: 7 characters, 14 UTF-16 units.
  await page.getByLabel('Display name').press('ControlOrMeta+a');
  await page.keyboard.insertText('\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}'.repeat(40));
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('alert').filter({ hasText: 'The name was not saved' }).waitFor();
  expect(await read('invalid')).toMatchObject({ name: 'ACME', mapping: [{ schemaId: 'sales' }] });
});

test('the token is shown when a person asks for it, rotated once even if the response is lost, and hidden once it is replaced', async () => {
  const { page, dialog, token } = await openGroup('rotated', { expectedProblems: [lostResponse] });
  const section = page.getByRole('region', { name: 'Token', exact: true });
  expect(await page.content()).not.toContain(token);
  await section.getByRole('button', { name: 'Show' }).click();
  await section.getByText(token).waitFor();
  await section.getByRole('button', { name: 'Rotate …' }).click();
  await page.getByLabel('How long does the current token still work?').selectOption('For 5 minutes');
  await loseNextResponse(page, 'RotateGroupToken');
  const rotate = dialog.getByRole('button', { name: 'Rotate the token' });
  await rotate.click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await rotate.click();
  await section.getByText('The previous one works until').waitFor();
  const { token: rotated } = await read('rotated');
  expect(rotated).not.toBe(token);
  await section.getByText(rotated).waitFor();
  expect(await isKnown(token)).toBe(true);
  // Once the page knows that the group has changed, it does not show what may be another token by now.
  await mutate(gateway, 'rotateUserGroupToken', { currentToken: rotated });
  await page.getByLabel('Display name').fill('ACME Ltd');
  await save(page, 'Save the name');
  await section.getByRole('button', { name: 'Show' }).waitFor();
  expect(await section.textContent()).not.toMatch(/ugt_\w|previous one/);
});

test('a person creates an embed token that the gateway accepts, and one more with each click', async () => {
  const { secret } = await gateway.issue({ scopes: ['groups:read', 'embed:sign'] });
  const { page } = await openGroup('embedded', { secret });
  const section = page.getByRole('region', { name: 'Embed token' });
  await section.getByLabel('Audience (optional)').fill('dashboards');
  const sent = page.waitForRequest((request) => request.postData()?.includes('mutation CreateEmbedToken') === true);
  await section.getByRole('button', { name: 'Create an embed token' }).click();
  // With a key, the gateway would return this one again when another is asked for: it may have expired.
  expect((await sent).headers()['idempotency-key']).toBeUndefined();
  const text = (await section.getByText(/^ey/).textContent()) ?? '';
  const claims = JSON.parse((await section.locator('pre').textContent()) ?? '');
  expect(claims).toMatchObject({ sub: 'embedded', aud: 'dashboards', env: 'Testing' });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { json } = await gateway.send('POST', '/oauth2/introspect', { headers, body: `token=${text}` });
  expect(json).toMatchObject({ active: true, sub: 'embedded' });
});

test('a person suspends a group with a reason, finds it in the list, and resumes it', async () => {
  const { page, dialog, token } = await openGroup('unpaid');
  await page.getByRole('button', { name: 'Suspend …' }).click();
  await dialog.getByRole('textbox', { name: 'Reason (optional)' }).fill('The invoice is not paid');
  await dialog.getByRole('button', { name: 'Suspend the group' }).click();
  await page.getByText('Reason: The invoice is not paid').waitFor();
  expect(await isKnown(token)).toBe(false);
  await page.goto(`${gateway.url}/console/groups?status=SUSPENDED`);
  await page.getByRole('row', { name: /unpaid.*suspended/ }).waitFor();
  await page.getByRole('link', { name: 'ACME' }).click();
  await page.getByRole('button', { name: 'Resume …' }).click();
  await dialog.getByRole('button', { name: 'Resume the group' }).click();
  await page.getByRole('button', { name: 'Suspend …' }).waitFor();
  expect(await isKnown(token)).toBe(true);
});

test('an admin moves a group to another environment, and deletes it after typing its provided id', async () => {
  const { secret } = await gateway.issue({ environment: null, scopes: ['admin'] });
  const { page, dialog } = await openGroup('moved', { secret });
  await page.getByRole('button', { name: 'Move …' }).click();
  await page.getByLabel('New environment').selectOption('Customer');
  await page.getByRole('button', { name: 'Move the group' }).click();
  await page.getByRole('heading', { level: 1, name: 'Customer' }).waitFor();
  const stored = () => gateway.database.prisma.userGroup.findFirst({ where: { providedId: 'moved' } });
  expect(await stored()).toMatchObject({ environmentTag: 'Customer' });
  await gateway.database.prisma.userGroup.updateMany({ data: { lastResolvedAt: new Date() } });
  await page.getByRole('button', { name: 'Delete …' }).click();
  await dialog.getByText('Its tokens were last looked up').waitFor();
  await dialog.getByLabel('Type moved to confirm').fill('move');
  expect(await dialog.getByRole('button', { name: 'Delete the group' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Type moved to confirm').fill('moved');
  await dialog.getByRole('button', { name: 'Delete the group' }).click();
  await page.waitForURL('**/console/groups');
  expect(await stored()).toBeNull();
});
