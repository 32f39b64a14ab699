import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDataDir, type TestDataDir } from '../test/support/data-dir.ts';
import { openApiSource } from '../test/support/openapi.ts';
import { endProcesses, type ServeProcess, serve } from '../test/support/process.ts';
import { compileFolder } from './compile-folder.ts';

// Clients of the legacy REST API, two of them generated from the OpenAPI document, against a gateway.
const apiToken = 'bootstrap-token-of-the-rest-clients';
const authorization = `Token ${apiToken}`;

/** Modules that use a generated client, with what their types must accept and refuse. */
const callers = {
  'hey-api.ts': `
    import type { UpdateUserGroupErrors, UserGroupChange } from './generated';
    import { client } from './generated/client.gen';
    import { getOrCreateUserGroup } from './generated/sdk.gen';
    export async function create(baseUrl: string, authorization: string, user_group_id: string, mapping: string) {
      client.setConfig({ baseUrl, headers: { authorization } });
      const query = { user_group_id, name: 'A & B', mapping, properties: JSON.stringify({ region: 'eu', limit: 5 }) };
      await getOrCreateUserGroup({ query, throwOnError: true });
    }
    // A status narrows the codes of its errors.
    export const describe = (error: UpdateUserGroupErrors[409] | UpdateUserGroupErrors[412]): string =>
      error.code === 'VERSION_MISMATCH' ? 'changed' : (error.code satisfies 'IDEMPOTENCY_KEY_IN_USE');
    // @ts-expect-error: a data source is a text
    export const wrong: UserGroupChange = { user_group_id: 'acme', mapping: { sales: 5 } };`,
  'openapi-fetch.ts': `
    import createClient from 'openapi-fetch';
    import type { components, paths } from './paths.ts';
    export async function create(baseUrl: string, authorization: string, user_group_id: string, mapping: string) {
      const client = createClient<paths>({ baseUrl, headers: { authorization } });
      const query = { user_group_id, name: 'A & B', mapping, properties: JSON.stringify({ region: 'eu', limit: 5 }) };
      const { error } = await client.GET('/api/user', { params: { query } });
      if (error) throw new Error(error.detail);
    }
    // @ts-expect-error: a data source is a text
    export const wrong: components['schemas']['UserGroupChange'] = { user_group_id: 'acme', mapping: { sales: 5 } };`,
};

const mapping = { sales: 'wh', 'Grüße 1.0': '=' };

let folder: string;
let dataDir: TestDataDir;
let gateway: ServeProcess;
beforeAll(async () => {
  folder = mkdtempSync(fileURLToPath(new URL('.clients-', import.meta.url)));
  for (const [name, text] of Object.entries(callers)) writeFileSync(join(folder, name), text);
  const input = structuredClone(openApiSource) as never;
  await createClient({ input, output: join(folder, 'generated'), logs: { level: 'silent' } });
  writeFileSync(join(folder, 'paths.ts'), astToString(await openapiTS(structuredClone(openApiSource) as never)));
  dataDir = makeDataDir();
  gateway = await serve({ DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: apiToken });
}, 120_000);
afterAll(async () => {
  await endProcesses();
  await dataDir?.remove();
  rmSync(folder, { recursive: true, force: true });
});

test('generated types, and every caller of a generated client, compile in strict mode', () => {
  expect(compileFolder(folder)).toBe('');
});

test.each(Object.keys(callers))('%s: the group is stored with what it was given', async (name) => {
  const { create } = await import(/* @vite-ignore */ join(folder, name));
  await create(gateway.url, authorization, name, JSON.stringify(mapping));
  const query = `{ userGroup(by: { providedId: "${name}" }) { name mapping { schemaId dataSource } properties } }`;
  const response = await fetch(`${gateway.url}/graphql?${new URLSearchParams({ query })}`, { headers: { authorization } });
  const stored = Object.entries(mapping).map(([schemaId, dataSource]) => ({ schemaId, dataSource }));
  expect(await response.json()).toMatchObject({
    data: { userGroup: { name: 'A & B', mapping: expect.arrayContaining(stored), properties: { region: 'eu', limit: 5 } } },
  });
});
