import { execFileSync, type StdioOptions, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { docsConfig } from '../../src/commands/docs-config.ts';
import { UsageError } from '../../src/commands/options.ts';
import { codes, rules } from '../../src/docs-config/rules/registry.ts';
import type { Rule } from '../../src/docs-config/rules/rule.ts';
import { binary } from '../support/process.ts';

const good = '{"name": "Acme", "navigation": [{"group": "Start", "pages": ["intro"]}]}';
const bad = '{"name": "Acme", "navigation": [{"group": "Start", "pages": ["intro",]}]}';
let cwd = '';

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'docs-config-'));
  await mkdir(join(cwd, 'empty'));
  await mkdir(join(cwd, 'node_modules'));
  await writeFile(join(cwd, 'intro.mdx'), '# Hello');
  await writeFile(join(cwd, 'good.json'), good);
  await writeFile(join(cwd, 'bad.json'), bad);
  await writeFile(join(cwd, 'empty', 'docs.json'), good);
  await mkdir(join(cwd, 'sites/one/.hidden'), { recursive: true });
  await mkdir(join(cwd, 'sites/two/node_modules/x'), { recursive: true });
  await mkdir(join(cwd, 'newer'));
  for (const file of ['sites/one/mint.json', 'sites/one/.hidden/mint.json', 'sites/two/node_modules/x/mint.json'])
    await writeFile(join(cwd, file), good);
  await writeFile(join(cwd, 'sites/two/mint.json'), bad);
  await writeFile(join(cwd, 'sites/two/docs.json'), bad);
  await writeFile(join(cwd, 'sites/[x].json'), good);
  await mkdir(join(cwd, 'names/deep/er'), { recursive: true });
  for (const name of ['a.json', 'b.json', 'ab.json', '(a)+b.json', '!a.json', 'a*.json', 'deep/a.json', 'deep/er/a.json'])
    await writeFile(join(cwd, 'names', name), good);
  await writeFile(join(cwd, 'newer/docs.json'), '{"theme": "mint", "name": "a", "navigation": {}}');
  await writeFile(join(cwd, 'latin.json'), Buffer.from([0x7b, 0xe9, 0x7d]));
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

async function run(args: string[], { input = '', isTTY = false, env = {} as Record<string, string> } = {}) {
  const [stdout, stderr] = [collectText(), collectText()];
  const status = await docsConfig(args, {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: { ...stdout, isTTY },
    stderr,
    env,
    cwd,
  }).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n`);
    return 2;
  });
  return { status, out: stdout.texts.join(''), err: stderr.texts.join('') };
}

/** A stream that keeps what is written. */
function collectText() {
  const texts: string[] = [];
  const write = (text: string, written?: () => void) => {
    texts.push(text);
    written?.();
  };
  return { texts, write };
}

test('exits with 0 when there are no errors, and with 1 otherwise', async () => {
  expect(await run(['check', 'good.json'])).toEqual({ status: 0, out: '1 file checked: no problems.\n', err: '' });
  expect((await run(['check', 'bad.json'])).status).toBe(1);
  expect((await run(['check', 'good.json', 'bad.json'])).out).toContain('2 files checked: 1 error');
});

test('exits with 2 when a file cannot be read, after checking the others', async () => {
  const { status, out, err } = await run(['check', 'none.json', 'latin.json', 'bad.json', '--format', 'json']);
  expect(status).toBe(2);
  expect(err).toBe('none.json: No such file.\nlatin.json: The file is not UTF-8; save it as UTF-8.\n');
  expect(JSON.parse(out).files).toMatchObject([{ file: 'bad.json', valid: false }]);
});

test('exits with 2 for a path that is not a regular file, without reading it', async () => {
  const { status, err } = await run(['check', '/dev/zero']);
  expect([status, err]).toEqual([
    2,
    '/dev/zero: This is not a regular file. Pass other sources on standard input, with - as the file.\n',
  ]);
});

test('passes no control characters of a file name to the terminal, nor lines of their own', async () => {
  const folder = 'a\n::error::b\u001b[31m\u061c';
  await mkdir(join(cwd, folder));
  await writeFile(join(cwd, folder, 'docs.json'), good);
  await writeFile(join(cwd, folder, 'bad.json'), Buffer.from([0xff]));
  const shown = 'a\ufffd::error::b\ufffd[31m\ufffd';
  expect((await run(['check', folder])).err).toBe(
    `${shown}: There is no mint.json in this folder or below. It has ${shown}/docs.json; pass that file to check it.\n`,
  );
  expect((await run(['check', `${folder}/bad.json`])).err).toBe(`${shown}/bad.json: The file is not UTF-8; save it as UTF-8.\n`);
});

test('stops reading standard input at the limit of a file', async () => {
  let read = 0;
  const endless = Readable.from(
    (function* () {
      for (; read < 100; read += 1) yield Buffer.alloc(2 ** 20, ' ');
    })(),
  );
  const stderr = collectText();
  const status = await docsConfig(['check', '-'], { stdin: endless, stdout: collectText(), stderr, env: {}, cwd });
  expect([status, stderr.texts]).toEqual([2, ['-: Standard input exceeds the limit of 16 MiB.\n']]);
  expect(read).toBeLessThan(50);
});

test('reads standard input for -, without looking up references', async () => {
  expect((await run(['check', '-'], { input: good.replace('intro', 'nowhere') })).out).toBe('1 file checked: no problems.\n');
  const { status, out } = await run(['check', '-', '--format=json'], { input: `\ufeff${good}` });
  expect(status).toBe(1);
  expect(JSON.parse(out).files[0].diagnostics).toMatchObject([{ code: 'json-syntax', range: { start: { offset: 0 } } }]);
});

test('looks up references in the folder of each file', async () => {
  const { status, out } = await run(['check', 'empty/docs.json']);
  expect(status).toBe(0);
  expect(out).toContain('empty/docs.json:1:62 warning missing-file /navigation/0/pages/0');
});

const filesOf = async (...args: string[]) => {
  const { out } = await run(['check', '--format', 'json', ...args]);
  return (JSON.parse(out).files as { file: string }[]).map(({ file }) => file);
};

test.each([
  ['a folder: each mint.json in it and below', ['sites'], ['sites/one/mint.json', 'sites/two/mint.json']],
  ['a folder with a slash', ['sites/two/'], ['sites/two/mint.json']],
  ['a glob', ['sites/*/*.json'], ['sites/one/mint.json', 'sites/two/docs.json', 'sites/two/mint.json']],
  ['a glob over folders', ['**/mint.json'], ['sites/one/mint.json', 'sites/two/mint.json']],
  ['a glob with a choice', ['sites/{one,two}/mint.json'], ['sites/one/mint.json', 'sites/two/mint.json']],
  ['a file whose name looks like a glob', ['sites/[x].json'], ['sites/[x].json']],
  ['a hidden folder by its name', ['sites/one/.hidden'], ['sites/one/.hidden/mint.json']],
  ['each file once', ['sites', './sites/one/mint.json', 'sites/**/mint.json'], ['sites/one/mint.json', 'sites/two/mint.json']],
])('arguments: %s', async (_, args, expected) => {
  expect(await filesOf(...args)).toEqual(expected);
});

test.each([
  ['*.json', ['!a.json', '(a)+b.json', 'a*.json', 'a.json', 'ab.json', 'b.json']],
  ['?.json', ['a.json', 'b.json']],
  ['[a-a]*.json', ['a*.json', 'a.json', 'ab.json']],
  ['[!a(].json', ['b.json']],
  ['[^a].json', ['b.json']],
  ['{a,b}.json', ['a.json', 'b.json']],
  ['{a,{b,(a)+b}}.json', ['(a)+b.json', 'a.json', 'b.json']],
  ['a{,b}.json', ['a.json', 'ab.json']],
  ['!a*', ['!a.json']],
  ['(a)+?.json', ['(a)+b.json']],
  ['?\\*.json', ['a*.json']],
  ['*b*.json', ['(a)+b.json', 'ab.json', 'b.json']],
  ['**/a.json', ['a.json', 'deep/a.json', 'deep/er/a.json']],
  ['*/a.json', ['deep/a.json']],
  ['deep/**', ['deep/a.json', 'deep/er/a.json']],
  ['**/er/**/a.json', ['deep/er/a.json']],
])('the glob %s', async (glob, expected) => {
  expect(await filesOf(`names/${glob}`)).toEqual(expected.map((name) => `names/${name}`));
});

test('a link to a folder hides no file, and each file is checked once', async () => {
  const folder = '.linked'; // hidden from the checks of other tests
  for (const name of ['a/guides', 'a/z', 'b', 'c']) await mkdir(join(cwd, folder, name), { recursive: true });
  await writeFile(join(cwd, folder, 'a/guides/start.mdx'), '# Start');
  await writeFile(join(cwd, folder, 'a/mint.json'), good.replace('"intro"', '"guides/start", "z/latest/start"'));
  await writeFile(join(cwd, folder, 'b/mint.json'), bad);
  await symlink('../guides', join(cwd, folder, 'a/z/latest'));
  await symlink('../b', join(cwd, folder, 'c/link'));
  await symlink('..', join(cwd, folder, 'c/up'));
  for (const words of [['/{a,b}/mint.json'], ['/*/mint.json'], ['/**/mint.json'], [''], ['/a', '/b', '/c']])
    expect(await filesOf(...words.map((word) => folder + word))).toEqual([`${folder}/a/mint.json`, `${folder}/b/mint.json`]);
  expect(await filesOf(`${folder}/c`)).toEqual([`${folder}/c/link/mint.json`, `${folder}/c/up/a/mint.json`]);
  expect(await run(['check', `${folder}/a/mint.json`])).toMatchObject({ out: '1 file checked: no problems.\n' });
});

test('a glob that is too long is an invalid argument', async () => {
  expect(await run(['check', '*'.repeat(1_001)])).toEqual({
    status: 2,
    out: '',
    err: expect.stringMatching(/^The glob is longer than 1,000 characters: \*+…\n$/),
  });
});

test('a file among more than 100,000 others is not said to have no problems: its references cannot be checked', async () => {
  const folder = join(cwd, '.crowded'); // hidden from the checks of other tests
  await mkdir(join(folder, 'files'), { recursive: true });
  await writeFile(join(folder, 'mint.json'), good.replace('intro', 'none'));
  // 100,001 entries: mint.json, 99 folders of 1,000 files each, of which 98 are links to the first, and 901 files.
  for (let file = 1; file <= 1_000; file++) await writeFile(join(folder, 'files', String(file)), '');
  for (let link = 1; link <= 98; link++) await symlink('files', join(folder, `link${link}`));
  for (let file = 1; file <= 901; file++) await writeFile(join(folder, String(file)), '');
  const err =
    '.crowded/mint.json: There are more than 100,000 files and folders in its folder. Pass it on standard input to check all but its references.\n';
  expect(await run(['check', '.crowded/mint.json'])).toEqual({ status: 2, out: '', err });
  expect(await run(['check', '--fix', '.crowded/mint.json'])).toEqual({ status: 2, out: '', err });
  expect(await run(['check', '.crowded'])).toMatchObject({
    status: 2,
    err: expect.stringContaining('more than 100,000 files and folders in .crowded'),
  });
  await rm(join(folder, '1'));
  expect(await run(['check', '.crowded/mint.json'])).toMatchObject({ status: 0, out: expect.stringContaining('missing-file') });
});

test('a glob that would try too many ways to match a name ends with exit status 2', async () => {
  await mkdir(join(cwd, 'long'));
  await writeFile(join(cwd, 'long', 'a'.repeat(200)), '');
  const glob = 'long/*a*a*a*a*a*ab';
  expect(await run(['check', glob])).toEqual({
    status: 2,
    out: '',
    err: `${glob}: Matching the glob takes more than 3 seconds; use fewer wildcards.\n`,
  });
});

test.each([
  ['newer', 'newer: There is no mint.json in this folder or below. It has newer/docs.json; pass that file to check it.\n'],
  ['empty/*.yaml', 'empty/*.yaml: No file matches empty/*.yaml.\n'],
  ['nowhere/**/mint.json', 'nowhere/**/mint.json: No file matches nowhere/**/mint.json.\n'],
])('exits with 2 when %s matches no file', async (argument, problem) => {
  expect(await run(['check', argument])).toEqual({ status: 2, out: '', err: problem });
});

test('reports a file in the newer format as one error', async () => {
  const { status, out } = await run(['check', 'newer/docs.json', '--format', 'json']);
  expect(status).toBe(1);
  expect(JSON.parse(out).files[0].diagnostics).toMatchObject([{ code: 'newer-format', pointer: '' }]);
});

test('applies --strict, --severity and --allow-nested-groups', async () => {
  const nested = '{"name": "a", "navigation": [{"group": "b", "pages": ["c", {"group": "d", "pages": ["e"]}]}], "extra": 1}';
  const status = async (...options: string[]) => (await run(['check', '-', ...options], { input: nested })).status;
  expect(await status()).toBe(1);
  expect(await status('--allow-nested-groups')).toBe(0);
  expect(await status('--allow-nested-groups', '--strict')).toBe(1);
  expect(await status('--severity', 'nested-group=warning')).toBe(0);
  expect(await status('--severity=nested-group=off', '--severity', 'unknown-property=error')).toBe(1);
});

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '' }, true],
  [true, { NO_COLOR: '1' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [false, { FORCE_COLOR: 'true' }, true],
  [false, { FORCE_COLOR: '' }, false],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
])('color (terminal: %s, environment: %o): %s', async (isTTY, env, colored) => {
  const { out } = await run(['check', 'bad.json'], { isTTY, env: env as Record<string, string> });
  expect(out.includes('\u001b[')).toBe(colored);
});

test('--fix writes fixes through links, keeps the mode, and does not touch valid files', async () => {
  const path = join(cwd, 'broken.json');
  await writeFile(path, bad);
  await chmod(path, 0o666); // more than the usual umask lets a new file have
  await symlink(path, join(cwd, 'link.json'));
  expect(await run(['check', '--fix', 'link.json'])).toMatchObject({ status: 0, err: '' });
  expect(await readFile(path, 'utf8')).toBe(good);
  expect((await stat(path)).mode & 0o777).toBe(0o666);
  const before = (await stat(path)).mtimeMs;
  expect((await run(['check', '--fix', 'broken.json'])).status).toBe(0);
  expect((await stat(path)).mtimeMs).toBe(before);
});

test('--fix lists the first 1,000 of its fixes, and their number', async () => {
  await writeFile(join(cwd, 'many.json'), good.replace('}]}', `}${','.repeat(1500)}]}`));
  const { out } = await run(['check', '--fix', 'many.json', '--format', 'json']);
  const [{ fixes, fixCount }] = JSON.parse(out).files;
  expect([fixes.length, fixCount]).toEqual([1000, 1500]);
  await writeFile(join(cwd, 'many.json'), good.replace('}]}', `}${','.repeat(1500)}]}`));
  expect((await run(['check', '--fix', 'many.json'])).out).toMatch(/^many.json: fixed 1500\n(.+\n){1000} {2}and 500 more\n\n/);
});

test('--fix lists the applied fixes in each format', async () => {
  const fixed = async (format: string) => {
    await writeFile(join(cwd, 'fixable.json'), bad.replace('"name"', "'name'"));
    return run(['check', '--fix', 'fixable.json', 'good.json', '--format', format]);
  };
  const list =
    "fixable.json: fixed 2\n  1:2 json-syntax JSON strings are enclosed in straight double quotes, not as in `'name'`.\n" +
    '  1:69 json-syntax There is a trailing comma before the closing ].\n\n';
  expect(await fixed('pretty')).toEqual({ status: 0, out: `${list}2 files checked: no problems.\n`, err: '' });
  expect(await fixed('github')).toEqual({ status: 0, out: '', err: list });
  expect((await fixed('sarif')).err).toBe(list);
  const { out, err } = await fixed('json');
  expect(err).toBe('');
  expect(JSON.parse(out).files).toMatchObject([
    { fixes: [{ code: 'json-syntax', range: { start: { line: 1, column: 2 } } }, { code: 'json-syntax' }], fixCount: 2 },
    { fixes: [], fixCount: 0 },
  ]);
});

test('explains every code', async () => {
  for (const code of codes) {
    const { status, out } = await run(['explain', code]);
    const { title, explanation, severity }: Rule = rules[code];
    expect(status).toBe(0);
    for (const part of [
      code,
      title,
      explanation,
      `By default ${severity === 'error' ? 'an error' : 'a warning'}.`,
      'Wrong:',
      'Correct:',
    ])
      expect(out).toContain(part);
  }
  expect((await run(['explain', 'hex-color'])).out).toContain('"primary": "0d9373"');
});

test.each([
  [['check'], 'Specify the files to check, or - for standard input.'],
  [['check', '', '--fix'], 'The name of a file is empty. Specify . for the current folder.'],
  [['check', '-', '-'], 'Standard input (-) can be read once.'],
  [['check', '--fix', '-'], '--fix cannot be used with standard input (-): there is no file to write.'],
  [['check', 'a', '--strickt'], 'Unknown option --strickt. Did you mean --strict?'],
  [['check', 'a', '--format', 'srif'], '--format: Unknown format "srif". Did you mean sarif?'],
  [['check', 'a', '--severity', 'typ=off'], '--severity typ=off: Unknown code "typ". Did you mean type?'],
  [['check', 'a', '--severity', 'type'], '--severity type: write type=error, type=warning or type=off.'],
  [['check', 'a', '--format'], '--format needs a value.'],
  [
    ['check', '--format', '--fx', '-strict', 'a', '--fix=1'],
    '--format needs a value.\nUnknown option --fx. Did you mean --fix?\nUnknown option -strict. Did you mean --strict?\n--fix takes no value.',
  ],
  [['explain', '--all'], 'Unknown option --all.'],
  [['explain', 'hex-colr'], 'Unknown code "hex-colr". Did you mean hex-color?'],
  [['explain', 'type', 'enum'], 'explain takes one code, but got 2.'],
  [['schema', 'a'], 'schema takes no files, but got a.'],
])('rejects the arguments %j with 2 and a message', async (args, message) => {
  expect(await run(args)).toEqual({ status: 2, out: '', err: `${message}\n` });
});

test.each([
  [[], /^No subcommand was given\.\n\nUsage: docs-config check/],
  [['chek'], /^Unknown command "docs-config chek"\. Did you mean check\?\n\nUsage: docs-config check/],
])('rejects %j with 2 and the help', async (args, text) => {
  expect(await run(args)).toEqual({ status: 2, out: '', err: expect.stringMatching(text) });
});

test('prints help and the JSON Schema', async () => {
  for (const args of [['--help'], ['check', '-h'], ['schema', '--help']])
    expect((await run(args)).out).toMatch(/^Usage: docs-config check FILE…/);
  const plain = JSON.parse((await run(['schema'])).out);
  expect(plain).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', required: ['name', 'navigation'] });
  expect(JSON.parse((await run(['schema', '--strict'])).out)).toMatchObject({ additionalProperties: false });
});

/** Runs the command of the compiled gateway as a process of its own. */
function spawnCommand(
  args: string[],
  { input = '', nodeArgs = [] as string[], stdio = ['pipe', 'pipe', 'pipe'] as StdioOptions },
) {
  return spawnSync(process.execPath, [...nodeArgs, binary, 'docs-config', ...args], {
    input,
    cwd,
    stdio,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
}

const sizeMiB = 2;
const characters = sizeMiB * 2 ** 20;
const nested = `${'['.repeat(150)}${']'.repeat(150)},`;
const accepted = nested.repeat(characters / 10 / nested.length - 1);

test.each([
  ['refuses quotes', `{"a":[${'"'.repeat(characters)}]}`, 2],
  ['fixes arrays that never end', `{"a":[${'[,,,,'.repeat(characters / 5)}]}`, 1],
  ['refuses empty objects', `{"a":[${'{},'.repeat(characters / 3)}1],}`, 2],
  ['fixes a string in which each character needs an escape', `{"name":'\u{1f600}${'\u0001'.repeat(characters)}'}`, 1],
  ['fixes a mistake after as many arrays as it reads', `{"a":[${accepted}1],${'\n'.repeat(characters * 0.9)}"name":1,}`, 1],
])('--fix %s in 40 times the size of the file in memory', async (_, source, expected) => {
  const path = join(cwd, 'large.json');
  await writeFile(path, source);
  const { status, stdout, stderr } = spawnCommand(['check', 'large.json', '--fix', '--format', 'json'], {
    nodeArgs: [`--max-old-space-size=${40 * sizeMiB}`],
  });
  expect(status).toBe(expected);
  const { files } = JSON.parse(stdout);
  const [{ fixes, fixCount } = { fixes: [], fixCount: 0 }] = files;
  expect((await readFile(path, 'utf8')) === source).toBe(fixCount === 0);
  expect(fixes).toHaveLength(Math.min(fixCount, 1000));
  expect(stderr).toBe(
    status === 2
      ? 'large.json: The file has too many values or mistakes to fix, and was not changed. Check it without --fix.\n'
      : '',
  );
});

test('runs as a process with standard input, output and exit status', () => {
  const { status, stdout } = spawnCommand(['check', '-', '--format', 'github'], { input: bad });
  expect(stdout).toMatch(/^::error file=-,line=1,endLine=1,col=69,endColumn=70,title=docs-config json-syntax::/);
  expect(status).toBe(1);
});

test.skipIf(!existsSync('/dev/full')).each([
  ['pretty', 'stdout'],
  ['json', 'stdout'],
  ['github', 'stdout'],
  ['github', 'stderr'],
  ['sarif', 'stderr'],
])('--fix --format %s replaces no file when its report cannot be written to %s', async (format, stream) => {
  const folder = join(cwd, `full-${format}-${stream}`);
  await mkdir(folder);
  await writeFile(join(folder, 'one.json'), bad);
  await writeFile(join(folder, 'two.json'), bad);
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnCommand(
    ['check', join(folder, 'one.json'), join(folder, 'two.json'), '--fix', '--format', format],
    {
      stdio: stream === 'stdout' ? ['ignore', full, 'pipe'] : ['ignore', 'pipe', full],
    },
  );
  closeSync(full);
  expect(status).toBe(1);
  if (stream === 'stdout')
    expect(stderr).toContain('one.json: The file was not changed, because the report cannot be written.\n');
  expect(await readdir(folder)).toEqual(['one.json', 'two.json']);
  expect(await readFile(join(folder, 'one.json'), 'utf8')).toBe(bad);
  expect(await readFile(join(folder, 'two.json'), 'utf8')).toBe(bad);
});

test('--fix says which file was changed while the report was written, and ends with 2', async () => {
  const path = join(cwd, 'meanwhile.json');
  await writeFile(path, bad);
  await symlink(path, join(cwd, 'meanwhile-link.json'));
  expect(await run(['check', '--fix', 'meanwhile.json', 'meanwhile-link.json'])).toMatchObject({ status: 0, err: '' });
  expect(await readFile(path, 'utf8')).toBe(good);

  await writeFile(path, bad);
  const stderr = collectText();
  const status = await docsConfig(['check', '--fix', 'meanwhile.json'], {
    stdin: Readable.from([]),
    stdout: { write: (_, written) => void writeFile(path, 'edited').then(() => written?.()) },
    stderr,
    env: {},
    cwd,
  });
  expect({ status, err: stderr.texts.join('') }).toEqual({
    status: 2,
    err: 'meanwhile.json: The file has changed in the meantime, and was not replaced. Run the command again.\n',
  });
  expect(await readFile(path, 'utf8')).toBe('edited');
});

test.runIf(process.platform === 'linux').each([
  ['a folder', 'unreadable'],
  ['a glob', 'unreadable/**/mint.json'],
])('a folder that cannot be read is an error, given %s', async (_, argument) => {
  const odd = Buffer.from(`${cwd}/unreadable/d\xfe`, 'latin1'); // not UTF-8, so without a path in JavaScript
  await mkdir(odd, { recursive: true });
  await writeFile(join(cwd, 'unreadable/mint.json'), good);
  const { status, out, err } = await run(['check', argument]);
  expect([status, err]).toEqual([2, expect.stringMatching(/The folder .*unreadable.d\ufffd\/ cannot be read\.\n/)]);
  expect(out).toContain('1 file checked');
});

test.runIf(process.platform === 'linux').each([
  ['a folder', 'broken', ['link', 'loop', 'pipe']],
  ['a glob', 'broken/**/mint.json', ['link', 'loop', 'pipe']],
  ['a glob of other names', 'broken/**/docs.json', ['newer']],
])('a file that cannot be reached is an error, given %s', async (_, argument, names) => {
  for (const name of ['link', 'loop', 'newer', 'pipe']) await mkdir(join(cwd, 'broken', name), { recursive: true });
  const path = (name: string, file = 'mint.json') => join(cwd, 'broken', name, file);
  await writeFile(join(cwd, 'broken/mint.json'), good);
  await symlink('/nosuch/mint.json', path('link'));
  await symlink(path('loop'), path('loop'));
  await symlink('/nosuch/docs.json', path('newer', 'docs.json'));
  execFileSync('mkfifo', [path('pipe')]);
  onTestFinished(() => rm(join(cwd, 'broken'), { recursive: true }));
  const { status, err } = await run(['check', argument]);
  const reported = err.split('\n').map((line) => /^broken\/(\w+)\//.exec(line)?.[1]);
  expect([status, reported]).toEqual([2, [...names, undefined]]);
  expect(err).toMatch(/(mint|docs)\.json: No such file\.\n/);
});
