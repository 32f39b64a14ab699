import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readPersistedOperations } from '../../src/commands/persisted-operations-files.ts';
import { readConfig } from '../../src/settings.ts';
import { consoleOperations } from '../support/console-operations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, run, serve, until } from '../support/process.ts';

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

test('serve executes what is in PERSISTED_OPERATIONS and rejects the rest', async () => {
  const file = write('persisted-documents.json', JSON.stringify({ 'caller-1': caller }));
  const settings = { DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: token, PERSISTED_OPERATIONS: file };
  const { url, stop } = await serve(settings);
  const post = (body: object) => sendRequest(url, 'POST', '/graphql', { token, body });
  expect((await post({ documentId: 'caller-1' })).json).toEqual({ data: { caller: { scopes: ['ADMIN'] } } });
  // What the web console sends is executed as well.
  expect((await post({ query: consoleOperations['Caller'] })).json).toMatchObject({ data: { caller: { scopes: ['ADMIN'] } } });
  expect(await post({ query: '{ __typename }' })).toMatchObject({ status: 400, json: { errors: [{}] } });
  expect(await stop()).toMatchObject({ code: 0 });
});

/** Puts a file in its place at once. */
const replace = (name: string, content: string) => renameSync(write(`${name}.new`, content), join(folder, name));

const other = 'query Other { caller { number } }';

test('serve reads a changed file again, and keeps what it has while the file is invalid or gone', async () => {
  replace('changed.json', JSON.stringify({ first: caller }));
  const PERSISTED_OPERATIONS = join(folder, 'changed.json');
  const { url, output, stop } = await serve({ DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: token, PERSISTED_OPERATIONS });
  /** How many of several requests with an id are accepted. */
  const accepts = async (documentId: string) => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => sendRequest(url, 'POST', '/graphql', { token, body: { documentId } })),
    );
    const accepted = replies.filter(({ status }) => status === 200).length;
    return accepted === 0 ? 'none' : accepted === replies.length ? 'all' : 'some';
  };
  /** Waits until a text was logged so often. */
  const untilLogged = (text: string, times = 1) => until(() => output.stderr.split(text).length > times, `${text} is logged`);
  const readAgain = 'changed and was read again';

  await untilLogged('listening on');
  replace('changed.json', JSON.stringify({ second: other }));
  await untilLogged(readAgain);
  expect([await accepts('first'), await accepts('second')]).toEqual(['none', 'all']);

  replace('changed.json', JSON.stringify({ first: caller, second: '{ nothing }' }));
  await untilLogged('Cannot query field \\"nothing\\"');
  expect([await accepts('first'), await accepts('second')]).toEqual(['none', 'all']);

  rmSync(PERSISTED_OPERATIONS);
  await untilLogged('cannot be read: ENOENT');
  expect(await accepts('second')).toBe('all');

  replace('changed.json', JSON.stringify({ first: caller }));
  await untilLogged(readAgain, 2);
  expect([await accepts('first'), await accepts('second')]).toEqual(['all', 'none']);

  // As long and as old as before, like a copy that keeps times.
  utimesSync(PERSISTED_OPERATIONS, 0, 0);
  await untilLogged(readAgain, 3);
  write('changed.json', JSON.stringify({ third: caller }));
  utimesSync(PERSISTED_OPERATIONS, 0, 0);
  await untilLogged(readAgain, 4);
  expect([await accepts('first'), await accepts('third')]).toEqual(['none', 'all']);
  expect(await stop()).toMatchObject({ code: 0 });
});

test('a folder of files is followed, also when its links are switched as Kubernetes does', async () => {
  const volume = join(folder, 'volume');
  const addVersion = (name: string, files: Record<string, object>) => {
    mkdirSync(join(volume, name), { recursive: true });
    for (const [file, documents] of Object.entries(files)) writeFileSync(join(volume, name, file), JSON.stringify(documents));
    symlinkSync(name, join(volume, '..data_tmp'));
    renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
  };
  addVersion('..1', { 'web.json': { web: caller } });
  symlinkSync(join('..data', 'web.json'), join(volume, 'web.json'));
  const { url } = await serve({ DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: token, PERSISTED_OPERATIONS: volume });
  const statusOf = async (documentId: string) =>
    (await sendRequest(url, 'POST', '/graphql', { token, body: { documentId } })).status;
  expect([await statusOf('web'), await statusOf('web-2')]).toEqual([200, 400]);

  addVersion('..2', { 'web.json': { web: caller, 'web-2': other }, 'mobile.json': { mobile: other } });
  await until(async () => (await statusOf('web-2')) === 200, 'the switched version is in force');
  symlinkSync(join('..data', 'mobile.json'), join(volume, 'mobile.json'));
  await until(async () => (await statusOf('mobile')) === 200, 'the added file is in force');
});

test('a folder that is gone, comes back as it was and is gone again is logged each time', async () => {
  const [mounted, unmounted] = [join(folder, 'mounted'), join(folder, 'unmounted')];
  mkdirSync(mounted);
  writeFileSync(join(mounted, 'web.json'), JSON.stringify({ web: caller }));
  const { output } = await serve({ DATABASE_URL: database.url, PERSISTED_OPERATIONS: mounted });
  const untilLogged = (text: string, times: number) =>
    until(() => output.stderr.split(text).length > times, `${text} is logged ${times} times`);
  for (const times of [1, 2]) {
    renameSync(mounted, unmounted);
    await untilLogged('cannot be read: ENOENT', times);
    renameSync(unmounted, mounted);
    await untilLogged('changed and was read again', times);
  }
});

test('without the console its operations are rejected like any other', async () => {
  const persistedOperationsPath = write('without-console.json', JSON.stringify({ 'caller-1': caller }));
  const config = { ...readConfig({}, false), persistedOperationsPath };
  const params = { query: consoleOperations['Caller'] };
  expect((await readPersistedOperations({ ...config, console: true }))?.resolve(params)).toEqual(params);
  const operations = await readPersistedOperations({ ...config, console: false });
  expect(() => operations?.resolve(params)).toThrow('not a persisted operation');
});

test.each<[string, () => string, RegExp[]]>([
  ['that does not exist', () => join(folder, 'missing.json'), [/cannot be read: ENOENT.*missing\.json/]],
  [
    'that is a folder without one',
    () => {
      mkdirSync(join(folder, 'folder'));
      return join(folder, 'folder');
    },
    [/cannot be read: the folder .*folder has no file whose name ends in \.json/],
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
  const { code, stdout, stderr } = await run(['serve'], { DATABASE_URL: database.url, PERSISTED_OPERATIONS: makeFile() });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const lines = stderr.trimEnd().split('\n');
  expect(lines).toEqual([
    'Invalid settings; nothing was started:',
    ...problems.map((problem) => expect.stringMatching(new RegExp(`^  PERSISTED_OPERATIONS ${problem.source}`, problem.flags))),
  ]);
});
