import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { binary } from '../support/process.ts';

const good = '{"name": "Acme", "navigation": [{"group": "Start", "pages": ["intro"]}]}';
const bad = '{"name": "Acme", "navigation": [{"group": "Start", "pages": ["intro",]}]}';
const main = resolve(binary);
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docs-config-'));
  const files = {
    'intro.mdx': '# Hello',
    'good.json': good,
    'bad.json': bad,
    'newer/docs.json': good,
    'names/a.json': good,
    'names/b.json': good,
    'names/[x].json': good,
    'names/deep/a.json': good,
    'sites/one/mint.json': good,
    'sites/one/.hidden/mint.json': good,
    'sites/two/mint.json': bad,
    'sites/two/docs.json': bad,
    'sites/two/node_modules/x/mint.json': good,
    'linked/guides/start.mdx': '# Start',
    'linked/mint.json': good.replace('"intro"', '"latest/start"'),
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  await writeFile(join(folder, 'latin.json'), Buffer.from([0x7b, 0xe9, 0x7d]));
  await symlink('guides', join(folder, 'linked/latest'));
  await symlink('..', join(folder, 'linked/guides/up'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the command in the folder. */
function run(args: readonly string[], input: string = '', env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: folder, input, env: { ...process.env, FORCE_COLOR: undefined, NO_COLOR: undefined, ...env } };
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'docs-config', ...args], {
    ...options,
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

test('exits with 0 when there are no errors, and with 1 otherwise', () => {
  expect(run(['check', 'good.json'])).toEqual({ status: 0, out: '1 file checked: no problems.\n', err: '' });
  expect(run(['check', 'bad.json']).status).toBe(1);
  expect(run(['check', 'good.json', 'bad.json']).out).toContain('2 files checked: 1 error');
});

test('exits with 2 when a file cannot be read, after checking the others', () => {
  const { status, out, err } = run(['check', 'none.json', 'latin.json', 'newer', 'names/*.yaml', '--format', 'json']);
  expect([status, err]).toEqual([
    2,
    'none.json: No such file.\nnewer: There is no mint.json in this folder or below.\nnames/*.yaml: No file matches.\n',
  ]);
  expect(JSON.parse(out).files).toMatchObject([
    {
      file: 'latin.json',
      valid: false,
      diagnostics: [{ code: 'json-syntax', message: 'The file is not UTF-8. Save it as UTF-8.' }],
    },
  ]);
});

test('reads standard input for -, without looking up references', () => {
  expect(run(['check', '-'], good.replace('intro', 'nowhere')).out).toBe('1 file checked: no problems.\n');
  const { status, out } = run(['check', '-', '--format=json'], `\ufeff${good}`);
  expect(status).toBe(1);
  expect(JSON.parse(out).files[0].diagnostics).toMatchObject([{ code: 'json-syntax', range: { start: { offset: 0 } } }]);
});

test('looks up references in the folder of each file, through links too', () => {
  expect(run(['check', 'names/a.json']).out).toContain('warning missing-file /navigation/0/pages/0');
  expect(run(['check', 'linked']).out).toBe('1 file checked: no problems.\n');
});

test('a docs.json is in the newer format, whatever it contains', () => {
  const { status, out } = run(['check', 'newer/docs.json', '--format', 'json']);
  expect(status).toBe(1);
  expect(JSON.parse(out).files[0].diagnostics).toMatchObject([{ code: 'newer-format', pointer: '' }]);
});

test.each([
  ['a folder: each mint.json in it and below', ['sites/'], ['sites/one/mint.json', 'sites/two/mint.json']],
  ['a glob', ['sites/*/*.json'], ['sites/one/mint.json', 'sites/two/docs.json', 'sites/two/mint.json']],
  ['a glob over folders', ['sites/**/mint.json'], ['sites/one/mint.json', 'sites/two/mint.json']],
  ['a glob with a choice', ['sites/{one,two}/mint.json'], ['sites/one/mint.json', 'sites/two/mint.json']],
  ['a glob with a class', ['names/[!b].json'], ['names/a.json']],
  ['a file whose name looks like a glob', ['names/[x].json'], ['names/[x].json']],
  ['a hidden folder by its name', ['sites/one/.hidden/'], ['sites/one/.hidden/mint.json']],
  ['each file once', ['sites/', 'sites/one/mint.json', 'sites/**/mint.json'], ['sites/one/mint.json', 'sites/two/mint.json']],
])('arguments: %s', (_, args, expected) => {
  const { out } = run(['check', '--format', 'json', ...args]);
  expect(new Set((JSON.parse(out).files as { file: string }[]).map(({ file }) => file))).toEqual(new Set(expected));
});

test('applies --strict, --severity and --allow-nested-groups', () => {
  const nested = '{"name": "a", "navigation": [{"group": "b", "pages": ["c", {"group": "d", "pages": ["e"]}]}], "extra": 1}';
  const status = (...options: string[]) => run(['check', '-', ...options], nested).status;
  expect(status()).toBe(1);
  expect(status('--allow-nested-groups')).toBe(0);
  expect(status('--allow-nested-groups', '--strict')).toBe(1);
  expect(status('--severity', 'nested-group=warning')).toBe(0);
  expect(status('--severity=nested-group=off', '--severity', 'unknown-property=error')).toBe(1);
});

test.each([
  [['check'], "missing required argument 'file'"],
  [['check', '-', '--fix'], "unknown option '--fix'"],
  [['check', '-', '--strct'], 'Did you mean --strict?'],
  [['check', '-', '--format', 'xml'], 'Allowed choices are pretty, json, sarif, github.'],
  [['check', '-', '--severity', 'hex-colour=off'], 'Expected hex-color.'],
  [['check', '-', '--severity', 'json-syntax=off'], 'json-syntax is always an error.'],
  [['check', '-', '--severity', 'hex-color=low'], 'Write hex-color=error, hex-color=warning or hex-color=off.'],
  [['explain', 'nothing'], 'Expected one of: json-syntax, '],
  [['explain', 'enum', 'type'], 'too many arguments'],
  [['schema', 'x'], 'too many arguments'],
  [['mint.json'], 'Did you mean: docs-config check mint.json'],
  [['chek', '-'], 'Did you mean: docs-config check -'],
  [[], 'docs-config check FILE… | explain CODE | schema'],
])('invalid arguments exit with 2: %j', (args, message) => {
  const { status, out, err } = run(args);
  expect([status, out, err]).toEqual([2, '', expect.stringContaining(message)]);
});

test('explains a code, prints the JSON Schema and the help', () => {
  expect(run(['explain', 'hex-color']).out).toMatch(/^hex-color: .*\n\nBy default an error\.\n/);
  expect(JSON.parse(run(['schema', '--strict']).out)).toMatchObject({ additionalProperties: false });
  expect(run(['check', '--help'])).toMatchObject({ status: 0, out: expect.stringContaining('--allow-nested-groups') });
});

test.each([
  [{}, false],
  [{ FORCE_COLOR: '1' }, true],
  [{ FORCE_COLOR: '0' }, false],
])('color without a terminal, with %o: %s', (env, colored) => {
  expect(run(['check', 'bad.json'], '', env).out.includes('\u001b[')).toBe(colored);
});

test('passes no control characters of a file name to the terminal, nor lines of their own', () => {
  const { err } = run(['check', 'a\n::error::b\u001b[31m\u061c.json']);
  expect(err).toBe('a\ufffd::error::b\ufffd[31m\ufffd.json: No file matches.\n');
});
