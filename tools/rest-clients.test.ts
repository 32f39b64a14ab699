import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import axios from 'axios';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDataDir, type TestDataDir } from '../test/support/data-dir.ts';
import { openApiSource } from '../test/support/openapi.ts';
import { endProcesses, type ServeProcess, serve } from '../test/support/process.ts';

// Clients of the legacy REST API, two of them generated from the OpenAPI document, against a gateway.
const root = fileURLToPath(new URL('..', import.meta.url));
const apiToken = 'bootstrap-token-of-the-rest-clients';
const authorization = `Token ${apiToken}`;

/** Modules that call a generated client: each creates the group, and `query` executes a GraphQL query with variables. */
const callers = {
  'hey-api.ts': `
    import { client } from './generated/client.gen';
    import { getOrCreateUserGroup, queryGraphql } from './generated/sdk.gen';
    export async function create(baseUrl: string, authorization: string, user_group_id: string, mapping: string) {
      client.setConfig({ baseUrl, headers: { authorization } });
      const query = { user_group_id, name: 'A & B', mapping, properties: JSON.stringify({ region: 'eu', limit: 5 }) };
      await getOrCreateUserGroup({ query, throwOnError: true });
    }
    export async function query(query: string, variables: object) {
      return (await queryGraphql({ query: { query, variables: JSON.stringify(variables) } })).data;
    }`,
  'openapi-fetch.ts': `
    import createClient from 'openapi-fetch';
    import type { paths } from './paths.ts';
    let client: ReturnType<typeof createClient<paths>>;
    export async function create(baseUrl: string, authorization: string, user_group_id: string, mapping: string) {
      client = createClient<paths>({ baseUrl, headers: { authorization } });
      const query = { user_group_id, name: 'A & B', mapping, properties: JSON.stringify({ region: 'eu', limit: 5 }) };
      const { error } = await client.GET('/api/user', { params: { query } });
      if (error) throw new Error(error.detail);
    }
    export async function query(query: string, variables: object) {
      return (await client.GET('/graphql', { params: { query: { query, variables: JSON.stringify(variables) } } })).data;
    }`,
};

/** What the types of both generators must express; it compiles in strict mode. */
const types = `
  import type * as heyApi from './generated';
  import type { components } from './paths.ts';
  type Schemas = components['schemas'];
  type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
  const assert = <_ extends true>() => {};
  type StringMap = { [key: string]: string };
  type AnyJson = { [key: string]: unknown } | null;
  assert<Same<Schemas['Mapping'], StringMap>>();
  assert<Same<heyApi.Mapping, StringMap>>();
  assert<Same<Schemas['Properties'], AnyJson>>();
  assert<Same<heyApi.Properties, AnyJson>>();
  assert<Same<Schemas['UserGroup']['properties'], AnyJson>>();
  assert<Same<heyApi.UserGroup['properties'], AnyJson>>();
  assert<Same<NonNullable<Schemas['UserGroupChange']['properties']>, { [key: string]: unknown }>>();
  assert<Same<Schemas['EnvironmentTag'], 'Customer' | 'Testing' | null>>();
  assert<Same<heyApi.EnvironmentTag, 'Customer' | 'Testing' | null>>();

  const change = { user_group_id: 'acme', mapping: { sales: 'warehouse' }, properties: { limits: [1, { nested: true }], none: null } };
  change satisfies Schemas['UserGroupChange'] satisfies heyApi.UserGroupChange;
  // @ts-expect-error: a data source is a text
  const wrong: Schemas['UserGroupChange'] = { user_group_id: 'acme', mapping: { sales: 5 } };
  // @ts-expect-error: a data source is a text
  const alsoWrong: heyApi.UserGroupChange = { user_group_id: 'acme', mapping: { sales: 5 } };

  // A status narrows the codes of its errors.
  const describe = (error: heyApi.UpdateUserGroupErrors[409] | heyApi.UpdateUserGroupErrors[412]): string =>
    error.code === 'VERSION_MISMATCH' ? 'changed' : (error.code satisfies 'IDEMPOTENCY_KEY_IN_USE');
  export { change, wrong, alsoWrong, describe };`;

let folder: string;
let dataDir: TestDataDir;
let gateway: ServeProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(root, 'tools/.clients-'));
  for (const [name, text] of Object.entries({ ...callers, 'types.ts': types })) writeFileSync(join(folder, name), text);
  const input = structuredClone(openApiSource) as never;
  await createClient({ input, output: join(folder, 'generated'), logs: { level: 'silent' } });
  writeFileSync(join(folder, 'paths.ts'), astToString(await openapiTS(structuredClone(openApiSource) as never)));
  dataDir = makeDataDir();
  gateway = await serve({ DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: apiToken });
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await endProcesses();
  await dataDir?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** The query for what is stored of a group. */
const storedQuery =
  'query ($id: String!) { userGroup(by: { providedId: $id }) { name mapping { schemaId dataSource } properties } }';
const stored = {
  data: {
    userGroup: {
      name: 'A & B',
      mapping: expect.arrayContaining([
        { schemaId: 'Grüße 1.0', dataSource: '=' },
        { schemaId: 'sales', dataSource: 'wh' },
      ]),
      properties: { region: 'eu', limit: 5 },
    },
  },
};

test('generated types, and every caller of a generated client, compile in strict mode', () => {
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
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

const mapping = { sales: 'wh', 'Grüße 1.0': '=' };

test.each(
  Object.keys(callers).flatMap((name) => [
    [name, 'as JSON', JSON.stringify(mapping)],
    [name, 'as an object, which only its types refuse', mapping],
  ]),
)(
  '%s: the group is stored with the mapping that was given %s, and a GraphQL query gets its variables',
  async (name, form, given) => {
    const { create, query } = await import(/* @vite-ignore */ join(folder, String(name)));
    const id = `${name} ${form}`;
    await create(gateway.url, authorization, id, given);
    expect(await query(storedQuery, { id })).toEqual(stored);
  },
);

test('axios: the group is stored as it was given', async () => {
  const properties = JSON.stringify({ region: 'eu', limit: 5 });
  const params = { user_group_id: 'axios', name: 'A & B', mapping, properties };
  await axios.get(`${gateway.url}/api/user`, { params, headers: { authorization } });
  const body = { query: storedQuery, variables: { id: 'axios' } };
  expect((await axios.post(`${gateway.url}/graphql`, body, { headers: { authorization } })).data).toEqual(stored);
});
