import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { makeDataDir, type TestDataDir } from '../test/support/data-dir.ts';
import { endProcesses, type ServeProcess, serve } from '../test/support/process.ts';
import { snippetsOf } from '../test/support/snippets.ts';
import { compileFolder } from './compile-folder.ts';

// The snippets of docs/graphql-clients.md as files, which use the packages of this folder, against a gateway.
const root = fileURLToPath(new URL('..', import.meta.url));
const apiToken = 'bootstrap-token-of-the-client-snippets';

const files = new Map(
  snippetsOf('docs/graphql-clients.md').flatMap(({ info, text }) =>
    info.startsWith('file=') ? [[info.slice('file='.length), text] as const] : [],
  ),
);

let folder: string;
let dataDir: TestDataDir;
let gateway: ServeProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(root, 'tools/.snippets-'));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  dataDir = makeDataDir();
  gateway = await serve({ DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: apiToken });
  vi.stubEnv('GATEWAY', gateway.url);
  vi.stubEnv('API_TOKEN', apiToken);
}, 120_000);
afterAll(async () => {
  vi.unstubAllEnvs();
  await endProcesses();
  await dataDir?.remove();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: modules that are written at run time
const load = (name: string): Promise<any> => import(/* @vite-ignore */ join(folder, name));

test('every TypeScript snippet compiles in strict mode', () => {
  expect(compileFolder(folder)).toBe('');
});

test('Apollo Client creates a group, knows the members of interfaces and unions, and repeats a rotation with its key', async () => {
  const { result } = await load('apollo-example.ts');
  expect(result).toMatchObject({ created: true, userGroup: { name: 'ACME', token: expect.stringMatching(/^ugt_/) } });

  const { rotate } = await load('apollo-rotation.ts');
  const key = '8e03978e-40d5-43dd-bc93-6894a57f9324';
  const first = await rotate(result.userGroup.token, key);
  expect(first).toMatchObject({ userGroup: { token: expect.stringMatching(/^ugt_/) } });
  expect(await rotate(result.userGroup.token, key)).toEqual(first);
  // A fragment on an interface matches only with the possible types.
  expect(await rotate(result.userGroup.token, 'another key')).toMatchObject({ code: 'NOT_FOUND' });
});

test('urql finds the viewer with POST, with a request for each look-up', async () => {
  const { findViewer } = await load('urql.ts');
  const headers = { authorization: `Token ${apiToken}` };
  const created = await fetch(`${gateway.url}/api/user?user_group_id=urql`, { headers });
  const { token } = ((await created.json()) as { user_group: { token: string } }).user_group;
  const sent = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => sent.mockRestore());
  const viewers = await Promise.all([findViewer(token), findViewer(token)]);
  expect(viewers).toMatchObject([{ name: 'urql' }, { name: 'urql' }]);
  expect(sent.mock.calls.map(([, init]) => init?.method)).toEqual(['POST', 'POST']);
  for (const wrong of ['this-token-is-of-no-group', '', undefined, 'x'.repeat(2_000_000), 'token\0'])
    expect(await findViewer(wrong)).toBeNull();
});

test('the configurations of Relay and of GraphQL Code Generator declare every custom scalar', async () => {
  const schema = readFileSync(join(root, 'schema.graphql'), 'utf8');
  const scalars = new Set([...schema.matchAll(/^scalar (\w+)/gm)].map(([, name]) => name));
  const relay = JSON.parse(files.get('relay.config.json') ?? '');
  const { default: codegen } = await load('codegen.ts');
  for (const declared of [relay.customScalarTypes, codegen.generates['./src/gql/'].config.scalars])
    expect(new Set(Object.keys(declared))).toEqual(scalars);
});
