import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPersistedOperations } from '../../src/graphql/params.ts';
import { schema } from '../../src/schema.ts';
import { readConfig } from '../../src/settings.ts';
import { type RequestOptions, startGateway, type TestGateway } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';
import { readPage } from '../support/snippets.ts';

/** The settings that the page lists. */
const listed: Record<string, string> = Object.fromEntries(
  [...(/```sh notest\n(HOST=.*?)```/s.exec(readPage('docs/security.md'))?.[1] ?? '').matchAll(/^([A-Z_]+)=(\S+)/gm)].map(
    ([, name = '', value = '']) => [name, value],
  ),
);
const operation = 'query Caller { caller { name } }';

let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-hardening-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  // The files are those of this machine; all else is as it is listed.
  const config = readConfig(
    {
      ...listed,
      ENCRYPTION_KEYS_FILE: file('keys', testKey),
      PERSISTED_OPERATIONS: file('operations.json', JSON.stringify({ caller: operation })),
    },
    false,
  );
  gateway = await startGateway(undefined, { ...config, persistedOperations: await readPersistedOperations(config, schema) });
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

test('the page lists the settings that switch something off, and no mistake', () => {
  expect(Object.keys(listed)).toEqual(
    expect.arrayContaining([
      'PLAYGROUND',
      'CONSOLE',
      'INTROSPECTION',
      'PERSISTED_OPERATIONS',
      'RATE_LIMIT',
      'ENCRYPTION_KEYS_FILE',
    ]),
  );
  expect(listed).not.toHaveProperty('CORS_ORIGINS');
  expect(listed).not.toHaveProperty('BOOTSTRAP_API_TOKEN');
});

const introspection = '{ __schema { queryType { name } } }';
const browser = { token: null, headers: { accept: 'text/html' } };
const off: readonly (readonly [what: string, status: number, method: string, path: string, options: RequestOptions])[] = [
  ['the playground', 404, 'GET', '/graphql', browser],
  ['the console', 404, 'GET', '/console', browser],
  ['a page of the console', 404, 'GET', '/console/groups', browser],
  ['introspection', 400, 'POST', '/graphql', { body: { query: introspection } }],
  ['the schema', 404, 'GET', '/schema.graphql', {}],
  ['introspection by GET', 400, 'GET', `/graphql?query=${encodeURIComponent(introspection)}`, {}],
  ['a document that is not in the file', 400, 'POST', '/graphql', { body: { query: '{ caller { id } }' } }],
  [
    'a preflight request of another origin',
    405,
    'OPTIONS',
    '/graphql',
    { token: null, headers: { origin: 'https://a.example' } },
  ],
];

test.each(off)('with the listed settings, %s gets %i', async (_, status, method, path, options) => {
  const reply = await gateway.send(method, path, options);
  expect(reply.status).toBe(status);
  expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  expect(reply.text).not.toContain('queryType');
});

test('with the listed settings, the APIs work within the rate limit', async () => {
  const reply = await gateway.send('POST', '/graphql', { body: { documentId: 'caller' } });
  expect(reply.json).toEqual({ data: { caller: { name: 'test' } } });
  expect(reply.headers.get('ratelimit-policy')).toBe(`"api-token";q=${listed['RATE_LIMIT']};w=60`);
  expect((await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } })).status).toBe(200);
  const { json } = await gateway.send('GET', '/', { token: null });
  expect(Object.keys(json.contents)).not.toEqual(expect.arrayContaining(['/console']));
});
