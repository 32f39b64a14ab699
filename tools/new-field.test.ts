import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { save, signIn } from '../test/support/console.ts';
import { makeDataDir, type TestDataDir } from '../test/support/data-dir.ts';
import { findBrowser } from '../test/support/find-browser.ts';
import { endProcesses, launch, type ServeProcess, untilServing } from '../test/support/process.ts';
import { sendUnchecked } from '../test/support/send-unchecked.ts';
import { snippetsOf } from '../test/support/snippets.ts';

// The diff of docs/contributing.md that adds the field `region` to user groups, applied to a copy of this checkout: one
// declaration is enough for both APIs, files, the audit log and the console.
const root = fileURLToPath(new URL('..', import.meta.url));
const token = 'bootstrap-token-of-the-new-field';
const executablePath = findBrowser();
const execute = promisify(execFile);

let copy: string;
let dataDir: TestDataDir;
let gateway: ServeProcess;
beforeAll(async () => {
  const [diff] = snippetsOf('docs/contributing.md').filter(({ language }) => language === 'diff');
  copy = copyCheckout();
  execFileSync('git', ['apply', '-'], { cwd: copy, input: diff?.text ?? '' });
  await node('--import', 'tsx', 'scripts/print-schema.ts', 'schema.graphql');
  await node('--import', 'tsx', 'scripts/generate-client.js');
  await node('--import', 'tsx', 'tools/generate-operations.js');
  await node('scripts/setup.js', 'compiled', 'web');
  dataDir = makeDataDir();
  gateway = await untilServing(start('serve'));
}, 240_000);
afterAll(async () => {
  await endProcesses();
  await dataDir?.remove();
  rmSync(copy, { recursive: true, force: true });
});

/** Copies the sources to a temporary folder, with links to the installed packages. */
function copyCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-copy-'));
  const isSource = (path: string) => !/\/(node_modules|\.git|\.data|\.setup|dist|dist-[a-z]+|\.next)$/.test(path);
  cpSync(root, folder, { recursive: true, filter: isSource });
  for (const name of ['node_modules', 'tools/node_modules']) symlinkSync(join(root, name), join(folder, name), 'junction');
  return folder;
}

/** Runs a program with Node.js in the copy, to its end. Rejects with its output when it fails. */
const node = (...args: string[]) => execute(process.execPath, args, { cwd: copy });

/** Starts a command of the copy's gateway. */
const start = (...args: string[]) =>
  launch(process.execPath, ['dist/main.js', ...args], { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: token }, { cwd: copy });

const send = (method: string, path: string, body?: object) => sendUnchecked(gateway.url, method, path, { token, body });

/** The data of an operation that has no errors. */
async function graphql(query: string, variables: object) {
  const { json } = await send('POST', '/graphql', { query, variables });
  expect(json.errors).toBeUndefined();
  return json.data;
}

const change = (mutation: 'GetOrCreate' | 'Update', input: object) => {
  const field = mutation === 'Update' ? 'updateUserGroup' : 'getOrCreateUserGroup';
  const query = `mutation ($input: ${mutation}UserGroupInput!) { result: ${field}(input: $input) {
    ... on ${mutation}UserGroupPayload { userGroup { region } } ... on InvalidInput { issues { path } } } }`;
  return graphql(query, { input });
};
const regionOf = async (providedId: string) => {
  const data = await graphql('query ($by: UserGroupBy!) { userGroup(by: $by) { region } }', { by: { providedId } });
  return data.userGroup.region;
};

test('everything compiles, and the test of the diff passes', async () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await Promise.all(['.', 'web', 'client'].map((project) => node(tsc, '--noEmit', '-p', project)));
  const { stdout } = await node(join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'test/user-groups/region.test.ts');
  expect(stdout).toMatch(/Tests.*1 passed/);
});

test('GraphQL creates, changes, clears, checks and filters by the field, and the audit log has each change', async () => {
  const by = { providedId: 'gql' };
  expect(await change('GetOrCreate', { ...by, region: 'eu' })).toEqual({ result: { userGroup: { region: 'eu' } } });
  expect(await change('Update', { by, region: 'us' })).toEqual({ result: { userGroup: { region: 'us' } } });
  const filtered = '{ userGroups(filter: { region: "us" }) { nodes { providedId } } }';
  expect(await graphql(filtered, {})).toEqual({ userGroups: { nodes: [by] } });
  expect(await change('Update', { by, region: null })).toEqual({ result: { userGroup: { region: null } } });
  expect(await change('Update', { by, region: 'a\nb' })).toEqual({ result: { issues: [{ path: ['region'] }] } });

  const query = 'query ($by: UserGroupBy!) { events(filter: { userGroup: $by }) { nodes { changes } } }';
  expect((await graphql(query, { by })).events.nodes).toEqual([
    { changes: { region: { from: 'us', to: null } } },
    { changes: { region: { from: 'eu', to: 'us' } } },
    { changes: { name: { from: null, to: 'gql' }, region: { from: null, to: 'eu' } } },
  ]);
});

test('REST takes the field, does not return it, and the OpenAPI document has it', async () => {
  const { json } = await send('GET', '/api/user?user_group_id=rest&region=eu');
  expect(json.user_group).not.toHaveProperty('region');
  expect(await regionOf('rest')).toBe('eu');
  const { components } = (await send('GET', '/openapi.json')).json;
  expect(components.schemas.UserGroupChange.properties).toHaveProperty('region');
});

test('groups import writes the field, and groups export returns it', async () => {
  const [file, exported] = [join(copy, 'groups.ndjson'), join(copy, 'exported.ndjson')];
  writeFileSync(file, '{"user_group_id":"file","region":"eu"}');
  expect(await start('groups', 'import', file, '--environment', 'none').ended).toMatchObject({ code: 0 });
  expect(await start('groups', 'export', '--output', exported).ended).toMatchObject({ code: 0 });
  expect(readFileSync(exported, 'utf8')).toMatch(/"user_group_id":"file".*"region":"eu"/);
});

test.skipIf(!executablePath)('the console sets, shows, changes and filters by the field (needs Chromium or Chrome)', async () => {
  const browser = await chromium.launch({ executablePath: executablePath as string, args: ['--disable-gpu'] });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`${gateway.url}/console/groups`);
  await signIn(page, token);
  await page.getByRole('button', { name: 'New group' }).click();
  const dialog = page.getByRole('dialog', { name: 'New group' });
  await dialog.getByLabel('Provided id').fill('browser');
  await dialog.getByLabel('Region (optional)').fill('eu');
  await dialog.getByLabel('Environment').selectOption('Testing');
  await dialog.getByRole('button', { name: 'Create the group' }).click();

  const field = page.getByRole('region', { name: 'Region' }).getByRole('textbox', { name: 'Region' });
  await field.waitFor();
  expect(await field.inputValue()).toBe('eu');
  await field.fill('browser-west');
  await save(page, 'Save the region');
  expect(await regionOf('browser')).toBe('browser-west');

  await page.goto(`${gateway.url}/console/groups?region-is=browser-west`);
  await page.getByText('1 group', { exact: true }).waitFor();
});
