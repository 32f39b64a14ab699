import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readPersistedOperations } from '../../src/commands/persisted-operations-file.ts';
import { readConfig } from '../../src/config.ts';
import { consoleOperations } from '../support/console-operations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, run, serve } from '../support/process.ts';

const token = 'an-operators/own+choice=2026';
const caller = 'query Caller { caller { scopes } }';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-test-'));
});
afterEach(endProcesses);
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test.each([
  ['one process', ['serve']],
  ['two workers', ['serve', '--workers', '2']],
])('serve with %s executes what is in PERSISTED_OPERATIONS and rejects the rest', async (_, args) => {
  const file = write('persisted-documents.json', JSON.stringify({ 'caller-1': caller }));
  const settings = { DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: token, PERSISTED_OPERATIONS: file };
  const { url, stop } = await serve(settings, args);
  const post = (body: object) => sendRequest(url, 'POST', '/graphql', { token, body });
  expect((await post({ documentId: 'caller-1' })).json).toEqual({ data: { caller: { scopes: ['ADMIN'] } } });
  // What the web console sends is executed as well.
  expect((await post({ query: consoleOperations['Caller'] })).json).toMatchObject({ data: { caller: { scopes: ['ADMIN'] } } });
  expect(await post({ query: '{ __typename }' })).toMatchObject({ status: 400, json: { errors: [{}] } });
  expect(await stop()).toMatchObject({ code: 0 });
});

test('without the console its operations are rejected like any other', async () => {
  const persistedOperationsFile = write('without-console.json', JSON.stringify({ 'caller-1': caller }));
  const config = { ...readConfig({}, false), persistedOperationsFile };
  const params = { query: consoleOperations['Caller'] };
  expect((await readPersistedOperations({ ...config, console: true }))?.resolve(params)).toEqual(params);
  const operations = await readPersistedOperations({ ...config, console: false });
  expect(() => operations?.resolve(params)).toThrow('not a persisted operation');
});

test.each<[string, () => string, RegExp[]]>([
  ['that does not exist', () => join(folder, 'missing.json'), [/cannot be read: ENOENT.*missing\.json/]],
  [
    'that is a folder',
    () => {
      mkdirSync(join(folder, 'folder'));
      return join(folder, 'folder');
    },
    [/cannot be read: .*folder is not a regular file/],
  ],
  [
    'that is too large',
    () => {
      const path = write('large.json', '');
      truncateSync(path, 8 * 1024 * 1024 + 1);
      return path;
    },
    [/cannot be read: .*large\.json exceeds the limit of 8388608 bytes/],
  ],
  ['that is not UTF-8', () => write('latin-1.json', Buffer.from('{"a": "\xe4"}', 'latin1')), [/cannot be read: .*utf-8/i]],
  [
    'with two wrong documents',
    () => write('wrong.json', JSON.stringify({ a: '{ nothing }', b: caller, c: '{' })),
    [/document "a": Cannot query field "nothing" on type "Query"\. \(line 1, column 3\)/, /document "c": Syntax Error/],
  ],
])('serve does not start with a file %s, and reports every problem once', async (_, makeFile, problems) => {
  for (const args of [['serve'], ['serve', '--workers', '2']]) {
    const { code, stdout, stderr } = await run(args, {
      DATABASE_URL: database.url,
      PERSISTED_OPERATIONS: makeFileOnce(makeFile),
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toEqual([
      'Invalid settings; nothing was started:',
      ...problems.map((problem) => expect.stringMatching(new RegExp(`^  PERSISTED_OPERATIONS ${problem.source}`, problem.flags))),
    ]);
  }
});

const made = new Map<() => string, string>();

function makeFileOnce(makeFile: () => string): string {
  const path = made.get(makeFile) ?? makeFile();
  made.set(makeFile, path);
  return path;
}
