import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { importText } from '../support/group-files.ts';
import { binary, launch, run } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';

/** It colors and conceals text, moves the cursor, and reverses the text after it. */
const hostile = 'a\u001b[8m\u009b2Jb\u202e\u2066\u0008c';

let database: TestDatabase;
let folder: string;
const settings = () => ({ DATABASE_URL: database.url });
beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'terminal-'));
  const request = { name: 'stored', environmentTag: null, scopes: ['admin'], expiresAt: null } as const;
  const { apiToken } = await createApiToken(contextOn(database), request);
  await database.prisma.apiToken.update({ where: { id: apiToken.id }, data: { name: hostile } });
  const line = { user_group_id: 'a', name: 'A', mapping: { [hostile]: hostile }, properties: { [hostile]: hostile } };
  await importText(database, JSON.stringify(line), { environment: null });
  writeFileSync(
    join(folder, `${hostile}.json`),
    JSON.stringify({ name: hostile, [hostile]: hostile }).replaceAll('\\u001b', '\u001b'),
  );
  writeFileSync(join(folder, 'groups.ndjson'), `{"${hostile}":1}\n{"user_group_id":"a","environment":"${hostile}"}\n`);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

/** What a text does to a terminal besides beginning a line. */
const controlsIn = (text: string) => text.match(/[^\n\P{Cc}]|[\u202a-\u202e\u2066-\u2069]/gu);

test.each<[args: string[], extra?: Record<string, string>]>([
  [[hostile]],
  [['token', hostile]],
  [
    [
      'token',
      'create',
      hostile,
      `--${hostile}`,
      '--name',
      hostile,
      '--environment',
      hostile,
      '--scope',
      hostile,
      '--expires-in',
      hostile,
    ],
  ],
  [['token', 'list']],
  [['token', 'list', '--json']],
  [['token', 'revoke', '1']],
  [['keys', hostile]],
  [['keys', 'list', hostile]],
  [['groups', hostile]],
  [['groups', 'import', `FOLDER/${hostile}.ndjson`]],
  [['groups', 'import', 'FOLDER/groups.ndjson', '--dry-run', '--report', `FOLDER/${hostile}.report`]],
  [['groups', 'export']],
  [['groups', 'export', '--output', `FOLDER/${hostile}.ndjson`]],
  [['groups', 'export', '--output', `FOLDER/${hostile}/a.ndjson`]],
  [['backup', hostile, hostile]],
  [['doctor', hostile]],
  [['doctor'], { PORT: hostile, LOG_LEVEL: hostile }],
  [['doctor', '--json'], { PORT: hostile, DATABASE_URL: `postgresql://127.0.0.1:1/${hostile}` }],
  [['migrate'], { LOG_LEVEL: hostile }],
  [['docs-config', hostile]],
  [['docs-config', 'check', `--${hostile}`]],
  [['docs-config', 'check', `--severity=${hostile}`, 'a']],
  [['docs-config', 'check', `FOLDER/${hostile}.json`, hostile]],
  ...['json', 'sarif', 'github'].map((format): [string[]] => [
    ['docs-config', 'check', `FOLDER/${hostile}.json`, '--format', format],
  ]),
])('%j writes no control characters but line breaks', async (args, extra = {}) => {
  const { code, stdout, stderr } = await run(
    args.map((argument) => argument.replace('FOLDER', folder)),
    { ...settings(), ...extra },
  );
  expect([0, 1, 2]).toContain(code);
  expect(stdout + stderr).not.toBe('');
  expect(controlsIn(stdout + stderr)).toBeNull();
});

test('nor does a command that says which folder it uses', async () => {
  const cwd = join(folder, hostile);
  mkdirSync(cwd);
  const { stderr } = await launch(process.execPath, [binary, 'token', 'list'], {}, { cwd }).ended;
  expect(stderr).toContain('using the database in');
  expect(controlsIn(stderr)).toBeNull();
});

test('the values of JSON and NDJSON are those stored', async () => {
  const listed = await run(['token', 'list', '--json'], settings());
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: hostile }]);
  const exported = await run(['groups', 'export'], settings());
  expect(JSON.parse(exported.stdout)).toMatchObject({
    user_group_id: 'a',
    name: 'A',
    mapping: { [hostile]: hostile },
    properties: { [hostile]: hostile },
  });
});
