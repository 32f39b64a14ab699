import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gql } from '@apollo/client';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildSchema, parse } from 'graphql';
import { type ConcreteRequest, fetchQuery } from 'relay-runtime';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { makeDataDir, type TestDataDir } from '../test/support/data-dir.ts';
import { endProcesses, type ServeProcess, serve } from '../test/support/process.ts';
import { snippetsOf } from '../test/support/snippets.ts';

// The snippets of docs/graphql-clients.md as files, which use the packages of this folder, against a gateway.
const root = fileURLToPath(new URL('..', import.meta.url));
const apiToken = 'bootstrap-token-of-the-client-snippets';

const files = new Map(
  snippetsOf('docs/graphql-clients.md').flatMap(({ info, text }) => {
    const [, name] = /^file=(\S+)$/.exec(info) ?? [];
    return name === undefined ? [] : [[name, text] as const];
  }),
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
  await gateway?.stop();
  await endProcesses();
  await dataDir?.remove();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: modules that are written at run time
const load = (name: string): Promise<any> => import(/* @vite-ignore */ join(folder, name));

/** Sends a GraphQL operation without any client. @returns its data. */
async function send(query: string, variables: object = {}): Promise<Record<string, unknown>> {
  const headers = { authorization: `Token ${apiToken}`, 'content-type': 'application/json' };
  const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

test('the page has a file for each client', () => {
  expect([...files.keys()]).toEqual([
    'apollo.ts',
    'apollo-example.ts',
    'apollo-rotation.ts',
    'urql.ts',
    'relay.config.json',
    'relay.ts',
    'codegen.ts',
  ]);
});

test('every TypeScript snippet compiles in strict mode', () => {
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const compile = () =>
    execFileSync('npx', ['tsc', '-p', folder], { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
  expect(compile()).toBe('');
});

test('Apollo Client creates a group, and knows the members of every interface and union', async () => {
  const { fetchPossibleTypes, client } = await load('apollo.ts');
  expect(await fetchPossibleTypes()).toMatchObject({
    Node: ['ApiToken', 'Event', 'UserGroup', 'Webhook', 'WebhookDelivery'],
    Error: expect.arrayContaining(['Conflict', 'Forbidden', 'InvalidInput', 'NotFound', 'Unauthenticated']),
    UpdateUserGroupResult: expect.arrayContaining(['UpdateUserGroupPayload', 'NotFound']),
  });
  const { result } = await load('apollo-example.ts');
  expect(result).toMatchObject({ created: true, userGroup: { name: 'ACME', token: expect.stringMatching(/^ugt_/) } });

  // A fragment on an interface matches only with the possible types.
  const mutation = gql`mutation { getOrCreateUserGroup(input: { providedId: "" }) { ... on Error { code message } } }`;
  expect((await client.mutate({ mutation })).data.getOrCreateUserGroup).toMatchObject({ code: 'INVALID_INPUT' });
  const query = gql`{ userGroup(by: { providedId: "acme" }) { ... on Node { id } } }`;
  expect((await client.query({ query })).data.userGroup).toMatchObject({ id: result.userGroup.id });
});

test('Apollo Client rotates a token once, however often it sends the request with one key', async () => {
  const created = await send(
    'mutation { getOrCreateUserGroup(input: { providedId: "rotated" }) { ... on GetOrCreateUserGroupPayload { userGroup { token } } } }',
  );
  const { token } = (created['getOrCreateUserGroup'] as { userGroup: { token: string } }).userGroup;
  const { rotate } = await load('apollo-rotation.ts');
  const key = '8e03978e-40d5-43dd-bc93-6894a57f9324';
  const first = await rotate(token, key);
  expect(first).toMatchObject({ userGroup: { token: expect.stringMatching(/^ugt_/) } });
  expect(await rotate(token, key)).toEqual(first);
  expect(await rotate(token, 'another key')).toMatchObject({ code: 'NOT_FOUND' });
});

test('urql finds the viewer with POST, and throws when it is not known', async () => {
  const { findViewer } = await load('urql.ts');
  const created = await send(
    'mutation { getOrCreateUserGroup(input: { providedId: "urql" }) { ... on GetOrCreateUserGroupPayload { userGroup { token } } } }',
  );
  const { token } = (created['getOrCreateUserGroup'] as { userGroup: { token: string } }).userGroup;
  const fetch = vi.spyOn(globalThis, 'fetch');
  expect(await findViewer(token)).toMatchObject({ name: 'urql' });
  expect(fetch.mock.calls.map(([url, init]) => [String(url), init?.method])).toEqual([[`${gateway.url}/graphql`, 'POST']]);
  // Look-ups at the same time share no response, which those of other tokens with the same hash would get too.
  await Promise.all([findViewer(token), findViewer(token)]);
  expect(fetch).toHaveBeenCalledTimes(3);
  fetch.mockRestore();
  expect(await findViewer('this-token-is-of-no-group')).toBeNull();
  for (const token of ['', undefined, 'x'.repeat(256), 'x'.repeat(2_000_000), 'token\0'])
    expect(await findViewer(token)).toBeNull();
  writeFileSync(join(folder, 'misspelled.ts'), (files.get('urql.ts') ?? '').replace('teamId name', 'teamId nmae'));
  await expect((await load('misspelled.ts')).findViewer(token)).rejects.toThrow('nmae');
  onTestFinished(() => void vi.stubEnv('API_TOKEN', apiToken));
  vi.stubEnv('API_TOKEN', 'unknown-api-token');
  const { findViewer: findUnauthenticated } = await load('urql.ts?unauthenticated');
  await expect(findUnauthenticated('this-token-is-of-no-group')).rejects.toThrow('API token');
});

test('Relay fetches a node by its id and keeps it in its store', async () => {
  const { createEnvironment } = await load('relay.ts');
  const environment = createEnvironment();
  const created = await send(
    'mutation { getOrCreateUserGroup(input: { providedId: "relay", name: "Relay" }) { ... on GetOrCreateUserGroupPayload { userGroup { id } } } }',
  );
  const { id } = (created['getOrCreateUserGroup'] as { userGroup: { id: string } }).userGroup;
  expect(await fetchQuery(environment, nodeQuery, { id }).toPromise()).toEqual({ node: { id, name: 'Relay' } });
  expect(environment.getStore().getSource().get(id)).toMatchObject({ __typename: 'UserGroup', name: 'Relay' });
  onTestFinished(() => void vi.stubEnv('API_TOKEN', apiToken));
  vi.stubEnv('API_TOKEN', 'unknown-api-token');
  await expect(fetchQuery(createEnvironment(), nodeQuery, { id }).toPromise()).rejects.toThrow('API token');
});

/** What Relay's compiler makes of `query ($id: ID!) { node(id: $id) { id ... on UserGroup { name } } }`. */
const nodeQuery = ((): ConcreteRequest => {
  const argumentDefinitions = [{ defaultValue: null, kind: 'LocalArgument', name: 'id' }];
  const scalar = (name: string) => ({ alias: null, args: null, kind: 'ScalarField', name, storageKey: null });
  const node = (selections: readonly object[]) => ({
    alias: null,
    args: [{ kind: 'Variable', name: 'id', variableName: 'id' }],
    concreteType: null,
    kind: 'LinkedField',
    name: 'node',
    plural: false,
    selections,
    storageKey: null,
  });
  const name = { kind: 'InlineFragment', selections: [scalar('name')], type: 'UserGroup', abstractKey: null };
  return {
    fragment: {
      argumentDefinitions,
      kind: 'Fragment',
      metadata: null,
      name: 'NodeQuery',
      type: 'Query',
      abstractKey: null,
      selections: [node([scalar('id'), name])],
    },
    kind: 'Request',
    operation: {
      argumentDefinitions,
      kind: 'Operation',
      name: 'NodeQuery',
      selections: [node([scalar('__typename'), scalar('id'), name])],
    },
    params: {
      cacheID: 'node-query',
      id: null,
      metadata: {},
      name: 'NodeQuery',
      operationKind: 'query',
      text: 'query NodeQuery($id: ID!) { node(id: $id) { __typename id ... on UserGroup { name } } }',
    },
  } as unknown as ConcreteRequest;
})();

/** The scalars that the schema adds to those of GraphQL. */
const customScalars = new Set(
  [...readFileSync(join(root, 'schema.graphql'), 'utf8').matchAll(/^scalar (\w+)/gm)].map(([, name]) => name),
);

test('the configuration of Relay’s compiler declares every custom scalar', () => {
  const config = JSON.parse(files.get('relay.config.json') ?? '');
  expect(new Set(Object.keys(config.customScalarTypes))).toEqual(customScalars);
  expect(config).not.toHaveProperty('persistConfig');
});

test('the configuration of GraphQL Code Generator declares every custom scalar, and the generated types have them', async () => {
  const { default: config } = await load('codegen.ts');
  const output: { preset: string; config: { scalars: object } } = config.generates['./src/gql/'];
  expect(output.preset).toBe('client');
  expect(new Set(Object.keys(output.config.scalars))).toEqual(customScalars);

  const schemaAst = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));
  const rawSDL = 'query Viewer($token: String!) { userGroup(by: { token: $token }) { properties createdAt } }';
  const sections = await preset.buildGeneratesSection({
    baseOutputDir: 'src/gql/',
    schema: parse(readFileSync(join(root, 'schema.graphql'), 'utf8')),
    schemaAst,
    documents: [{ location: 'viewer.graphql', document: parse(rawSDL), rawSDL }],
    config: output.config,
    presetConfig: {},
    plugins: [],
    pluginMap: {},
    pluginContext: {},
  });
  const types = sections.filter(({ filename }) => filename.endsWith('graphql.ts'));
  const [text] = await Promise.all(types.map((section) => codegen(section)));
  expect(text).toMatch(/properties\??: unknown/);
  expect(text).toMatch(/createdAt: string/);
});
