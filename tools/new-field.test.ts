import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { save, textOf } from '../test/support/console.ts';
import { makeDataDir, type TestDataDir } from '../test/support/data-dir.ts';
import { findBrowser } from '../test/support/find-browser.ts';
import { endProcesses, launch, type ServeProcess, untilServing } from '../test/support/process.ts';
import { type RequestOptions, sendUnchecked } from '../test/support/send-unchecked.ts';
import { snippetsOf } from '../test/support/snippets.ts';
import { copyCheckout } from './copy-checkout.ts';

// The diff of docs/contributing.md that adds the field `region` to user groups, applied to a copy of this checkout: one
// declaration is enough for both APIs, files, the audit log and the console.
const root = fileURLToPath(new URL('..', import.meta.url));
const diffs = snippetsOf('docs/contributing.md').filter(({ language }) => language === 'diff');
const token = 'bootstrap-token-of-the-new-field';
const executablePath = findBrowser();
const execute = promisify(execFile);

let copy: string;
let dataDir: TestDataDir;
let gateway: ServeProcess;
beforeAll(async () => {
  expect(diffs).toHaveLength(1);
  copy = copyCheckout(root);
  execFileSync('git', ['apply', '-'], { cwd: copy, input: diffs[0]?.text ?? '' });
  await node('--import', 'tsx', 'scripts/print-schema.ts', 'schema.graphql');
  await node('--import', 'tsx', 'scripts/generate-client.js');
  await node('--import', 'tsx', 'tools/generate-operations.js');
  await node('scripts/setup.js', 'compiled', 'web'); // runs scripts/compile.js and web/build.js, and installs nothing
  dataDir = makeDataDir();
  gateway = await untilServing(start('serve'));
}, 240_000);
afterAll(async () => {
  await gateway?.stop();
  await endProcesses();
  await dataDir?.remove();
  rmSync(copy, { recursive: true, force: true });
});

/** Runs a program with Node.js in the copy, to its end. Rejects with its output when it fails. */
const node = (...args: string[]) => execute(process.execPath, args, { cwd: copy });

/** Starts a command of the copy's gateway. */
const start = (...args: string[]) =>
  launch(process.execPath, ['dist/main.js', ...args], { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: token }, { cwd: copy });

/** Does not compare responses with the openapi.yaml of this checkout, which lacks the field. */
const send = (method: string, path: string, options?: RequestOptions) =>
  sendUnchecked(gateway.url, method, path, { token, ...options });

/** The data of an operation that has no errors. */
async function graphql(query: string, variables: object) {
  const { json } = await send('POST', '/graphql', { body: { query, variables } });
  expect(json.errors).toBeUndefined();
  return json.data;
}

const issues = '... on InvalidInput { issues { path message } }';
const create = (input: object) =>
  graphql(
    `mutation ($input: GetOrCreateUserGroupInput!) { result: getOrCreateUserGroup(input: $input) {
      ... on GetOrCreateUserGroupPayload { created userGroup { region } } ${issues} } }`,
    { input },
  );
const update = (providedId: string, change: object) =>
  graphql(
    `mutation ($input: UpdateUserGroupInput!) { result: updateUserGroup(input: $input) {
      ... on UpdateUserGroupPayload { userGroup { name region } } ${issues} } }`,
    { input: { by: { providedId }, ...change } },
  );
const regionOf = async (providedId: string) => {
  const data = await graphql('query ($by: UserGroupBy!) { userGroup(by: $by) { region } }', { by: { providedId } });
  return data.userGroup.region;
};
const idsWith = async (filter: object) => {
  const query = 'query ($filter: UserGroupFilter) { userGroups(filter: $filter) { totalCount nodes { providedId } } }';
  const { nodes, totalCount } = (await graphql(query, { filter })).userGroups;
  expect(totalCount).toBe(nodes.length);
  return nodes.map(({ providedId }: { providedId: string }) => providedId).sort();
};

test('everything compiles, and the test of the diff passes', async () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await Promise.all(
    ['tsconfig.json', 'web/tsconfig.json', 'client/tsconfig.json'].map((project) => node(tsc, '--noEmit', '-p', project)),
  );
  const { stdout } = await node(join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'test/user-groups/region.test.ts');
  expect(stdout).toMatch(/Tests.*1 passed/);
});

test('GraphQL creates, changes, clears, checks and filters by the field', async () => {
  expect(await create({ providedId: 'gql', region: 'eu-central' })).toEqual({
    result: { created: true, userGroup: { region: 'eu-central' } },
  });
  expect(await create({ providedId: 'gql', region: 'us' })).toEqual({
    result: { created: false, userGroup: { region: 'eu-central' } },
  });
  expect(await create({ providedId: 'gql-none' })).toEqual({ result: { created: true, userGroup: { region: null } } });
  expect(await update('gql', { region: 'eu-west' })).toEqual({ result: { userGroup: { name: 'gql', region: 'eu-west' } } });
  expect(await update('gql', { name: 'GraphQL' })).toEqual({ result: { userGroup: { name: 'GraphQL', region: 'eu-west' } } });
  expect(await idsWith({ region: 'eu-west' })).toEqual(['gql']);
  expect(await idsWith({ region: 'eu' })).toEqual([]);
  expect(await idsWith({ region: 'eu-west', search: 'none' })).toEqual([]);
  expect(await update('gql', { region: null })).toEqual({ result: { userGroup: { name: 'GraphQL', region: null } } });
  expect(await idsWith({ region: 'eu-west' })).toEqual([]);
  for (const region of ['', 'a\nb', 'x'.repeat(256)]) {
    for (const result of [await create({ providedId: 'gql-invalid', region }), await update('gql', { region })]) {
      expect(result).toEqual({ result: { issues: [{ path: ['region'], message: expect.stringMatching(/\S/) }] } });
    }
  }
  expect(await update('gql', { region: 'x'.repeat(255) })).toMatchObject({ result: { userGroup: { region: 'x'.repeat(255) } } });
});

test('REST takes the field in parameters and bodies, and does not return it', async () => {
  const group = { team_id: expect.any(Number), token: expect.any(String), name: 'rest', provided_id: 'rest', properties: null };
  const created = await send('GET', '/api/user?user_group_id=rest&region=eu-central');
  expect([created.status, created.json]).toEqual([200, { success: 1, new_user_group: true, user_group: group }]);
  expect(await regionOf('rest')).toBe('eu-central');

  const changed = await send('PUT', '/api/user', { body: { user_group_id: 'rest', region: 'eu-west' } });
  expect([changed.status, changed.json]).toEqual([200, { success: 1, user_group: { ...group, api_environment_tag: null } }]);
  expect(await regionOf('rest')).toBe('eu-west');
  const invalid = await send('PUT', '/api/user', { body: { user_group_id: 'rest', region: 5 } });
  expect([invalid.status, invalid.json.issues]).toEqual([400, [{ path: ['region'], message: expect.stringMatching(/\S/) }]]);
  await send('PUT', '/api/user', { body: { user_group_id: 'rest', region: null } });
  expect(await regionOf('rest')).toBeNull();
  await send('GET', '/api/user', { body: { user_group_id: 'rest-body', region: 'in a body' } });
  expect(await regionOf('rest-body')).toBe('in a body');
});

test('the OpenAPI document that the gateway serves has the field in requests only', async () => {
  const { paths, components } = (await send('GET', '/openapi.json')).json;
  expect(paths['/api/user'].get.parameters.map(({ name }: { name: string }) => name)).toContain('region');
  const withField = Object.keys(components.schemas).filter((name) => components.schemas[name].properties?.region);
  expect(withField).toEqual(['UserGroupChange']);
});

test('files have the field: groups import writes it, and groups export returns it', async () => {
  const file = join(copy, 'groups.ndjson');
  const text = [
    { user_group_id: 'file', region: 'eu-central' },
    { user_group_id: 'file-none' },
    { user_group_id: 'file-invalid', region: 'a\nb' },
  ];
  writeFileSync(file, text.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const first = await start('groups', 'import', file, '--environment', 'none').ended;
  expect(first.stdout).toMatch(/^line 3: region: .*control characters/m);
  expect(first.stdout).toContain('3 lines, 2 created, 0 unchanged, 1 rejected.');

  writeFileSync(file, `${JSON.stringify({ user_group_id: 'file', region: 'eu-west' })}\n`);
  const second = await start('groups', 'import', file, '--environment', 'none', '--on-existing', 'update').ended;
  expect(second.stdout).toContain('1 updated');

  const exported = await start('groups', 'export', '--output', join(copy, 'exported.ndjson')).ended;
  expect(exported).toMatchObject({ code: 0 });
  const lines = readFileSync(join(copy, 'exported.ndjson'), 'utf8').trimEnd().split('\n');
  const groups = new Map(lines.map((line) => JSON.parse(line)).map((group) => [group.user_group_id, group]));
  expect(Object.keys(groups.get('file'))).toContain('region');
  expect([groups.get('file').region, groups.get('file-none').region]).toEqual(['eu-west', null]);
  expect(groups.has('file-invalid')).toBe(false);

  const csv = await start('groups', 'export', '--format', 'csv').ended;
  const [header, ...rows] = csv.stdout.split('\r\n');
  expect(header).toMatch(/^user_group_id,name,token,region,/);
  expect(rows).toContainEqual(expect.stringMatching(/^file,file,\w+,eu-west,/));
});

test('the audit log has the field in the events of creations and updates', async () => {
  await create({ providedId: 'audited', region: 'eu-central' });
  await update('audited', { region: 'eu-west' });
  await update('audited', { region: null });
  await update('audited', { name: 'Audited' });
  const query = 'query ($filter: EventFilter) { events(first: 50, filter: $filter) { nodes { type changes } } }';
  const { events } = await graphql(query, { filter: { userGroup: { providedId: 'audited' } } });
  expect(events.nodes.reverse()).toEqual([
    {
      type: 'USER_GROUP_CREATED',
      changes: { name: { from: null, to: 'audited' }, region: { from: null, to: 'eu-central' } },
    },
    { type: 'USER_GROUP_UPDATED', changes: { region: { from: 'eu-central', to: 'eu-west' } } },
    { type: 'USER_GROUP_UPDATED', changes: { region: { from: 'eu-west', to: null } } },
    { type: 'USER_GROUP_UPDATED', changes: { name: { from: 'audited', to: 'Audited' } } },
  ]);
});

const title = 'the console sets, shows, changes, filters by and exports the field';
test.skipIf(!executablePath)(
  executablePath ? title : `${title}: NOT TESTED, because no Chromium or Chrome was found`,
  async () => {
    const browser = await chromium.launch({ executablePath: executablePath as string, args: ['--disable-gpu'] });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    const problems: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));

    await page.goto(`${gateway.url}/console/groups`);
    await page.getByLabel('API token', { exact: true }).fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'New group' }).click();
    const dialog = page.getByRole('dialog', { name: 'New group' });
    await dialog.getByLabel('Provided id').fill('browser');
    await dialog.getByLabel('Region (optional)').fill('eu-central');
    await dialog.getByLabel('Environment').selectOption('Testing');
    await dialog.getByRole('button', { name: 'Create the group' }).click();
    await page.getByRole('heading', { level: 1, name: 'browser' }).waitFor();
    expect(await regionOf('browser')).toBe('eu-central');

    const field = page.getByRole('region', { name: 'Region' }).getByRole('textbox', { name: 'Region' });
    expect(await field.inputValue()).toBe('eu-central');
    await field.fill('browser-west');
    await save(page, 'Save the region');
    expect(await regionOf('browser')).toBe('browser-west');
    await page.reload();
    expect(await field.inputValue()).toBe('browser-west');

    await page.goto(`${gateway.url}/console/groups`);
    await page.getByRole('columnheader', { name: 'Region' }).waitFor();
    await page.getByText('More filters').click();
    await page.getByRole('search').getByLabel('Region').fill('browser-west');
    await page.getByText('1 group', { exact: true }).waitFor();
    expect(page.url()).toContain('region-is=browser-west');
    expect(await page.getByRole('rowheader').allTextContents()).toEqual([expect.stringContaining('browser')]);
    expect(await page.getByRole('cell', { name: 'browser-west', exact: true }).count()).toBe(1);

    await page.getByRole('button', { name: 'Export' }).click();
    const exporting = page.getByRole('dialog', { name: 'Export groups' });
    await exporting.getByText('Saves 1 group').waitFor();
    expect(await exporting.getByRole('listitem').allTextContents()).toEqual(['Region is browser-west']);
    const downloading = page.waitForEvent('download');
    await exporting.getByRole('button', { name: 'Export', exact: true }).click();
    expect(JSON.parse(await textOf(await downloading))).toMatchObject({ user_group_id: 'browser', region: 'browser-west' });

    await page.getByRole('search').getByLabel('Region').fill('nowhere');
    await page.getByRole('rowheader').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  },
);
