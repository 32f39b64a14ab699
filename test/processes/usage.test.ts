import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UsageError } from '../../src/commands/options.ts';
import { token } from '../../src/commands/token.ts';
import { describeScope, scopeNames } from '../../src/scopes.ts';
import { launch, run, runAlone } from '../support/process.ts';

/** If a command connected to the database, it would fail after ten seconds with exit code 1. */
const nowhere = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' };

beforeEach(() => {
  vi.stubEnv('DATABASE_URL', nowhere.DATABASE_URL);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  ['no command', [], /Usage: user-group-gateway COMMAND/],
  ['an unknown command', ['start'], /^Unknown command "start"\.\n\nUsage: user-group-gateway COMMAND/],
  ['a mistyped command', ['sevre'], /^Unknown command "sevre"\. Did you mean serve\?\n\nUsage: user-group-gateway COMMAND/],
  ['a command with the name of a method of objects', ['toString'], /^Unknown command "toString"/],
  ['an unknown token command', ['token', 'delete', '1'], /Unknown command "token delete".*token create --name/s],
  [
    'an unknown option of serve',
    ['serve', '--workers', '2'],
    /^Unknown option --workers\.\nserve takes no options\. Settings, such as PORT, are environment/,
  ],
  ['an unknown option of migrate', ['migrate', '--dry-run'], /migrate/],
])('%s: exit code 2, the help on standard error, no effect', async (_, args, text) => {
  const { code, stdout, stderr } = await run(args, nowhere);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(text);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test.each([
  ['token create --name "$name" --environment none', /^The argument "a�" is not UTF-8/],
  ['groups export --environment Customer --output "$name.csv"', /^The argument "a�\.csv" is not UTF-8/],
  ['docs-config check "$name"', /^The argument "a�" is not UTF-8/],
  ['backup --to="$name"', /^The argument "--to=a�" is not UTF-8/],
])('%s with a byte that is not UTF-8: exit code 2', async (command, text) => {
  const program = `name=$(printf 'a\\376'); exec "$0" dist/main.js ${command}`;
  const ended = await launch('sh', ['-c', program, process.execPath], nowhere).ended;
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(text) });
});

test('DATA_DIR with a byte that is not UTF-8 is refused', async () => {
  const program = `DATA_DIR=$(printf '/dev/null/\\376') exec "$0" dist/main.js token create --name a --environment none`;
  const { code, stderr } = await launch('sh', ['-c', program, process.execPath], {}).ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^ {2}DATA_DIR must be UTF-8/m) });
});

test.each([
  [['help'], /Usage: user-group-gateway COMMAND.*serve.*token.*migrate/s],
  [['serve', '--help'], /serve/],
  [['migrate', '--help'], /migrate/],
  [['token', 'create', '--help'], /token create --name/],
  [['-h'], /Usage: user-group-gateway COMMAND/],
  [['serve', '-h'], /serve/],
  [['migrate', '-h'], /migrate/],
  [['token', '-h'], /token create --name/],
  [['keys', 'list', '-h'], /keys rotate/],
  [['--version'], /^\d+\.\d+\.\d+\n$/],
])('%j: exit code 0, the help or the version on standard output', async (args, text) => {
  const { code, stdout, stderr } = await run(args, nowhere);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(text);
});

test.each([[['version']], [['--version']]])('%j: the version in package.json, in a process of its own', async (args) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await runAlone(args, nowhere)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('the help describes every scope', async () => {
  const { stdout } = await run(['token', '--help'], nowhere);
  for (const scope of scopeNames) expect(stdout).toMatch(new RegExp(`\\n  ${scope} +${describeScope(scope).slice(0, 20)}`));
});

test.each([
  ['no action', [], /token create --name/],
  ['no name', ['create'], /--name/],
  ['an empty name', ['create', '--name', ''], /--name/],
  ['a name too long', ['create', '--name', 'x'.repeat(256)], /--name must have 1 to 255 characters/],
  ['a name without a value', ['create', '--name', '--environment', 'none'], /--name needs a value\.\n\n/],
  [
    'a name given twice',
    ['create', '--name', 'a', '--name', 'b', '--environment', 'none'],
    /--name is given more than once\.\n\n/,
  ],
  ['no environment', ['create', '--name', 'n'], /--environment is required: Customer, Testing or none/],
  ['an unknown environment', ['create', '--name', 'n', '--environment', 'testing'], /--environment.*Customer, Testing or none/],
  ['an unknown scope', ['create', '--name', 'n', '--scope', 'groups'], /groups:read, groups:write/],
  ['a time without a unit', ['create', '--name', 'n', '--expires-in', '90'], /--expires-in.*90d/],
  ['a time of nothing', ['create', '--name', 'n', '--expires-in', '0d'], /--expires-in/],
  ['a time that no calendar reaches', ['create', '--name', 'n', '--expires-in', '999999w'], /--expires-in/],
  ['an unknown option', ['create', '--name', 'n', '--scopes', 'admin'], /--scopes.*token create --name/s],
  ['an option with one dash', ['create', '-name', 'n'], /Unknown option -name\. Did you mean --name\?\n/],
  ['an option for the value of another one', ['create', '--name', '--json'], /--name needs a value\.\n/],
  ['one word too many', ['create', 'n', '--name', 'n'], /token create --name/],
  ['no id', ['revoke'], /token revoke/],
  ['an invalid id', ['revoke', '1e3'], /token revoke/],
  ['an id with a zero in front', ['revoke', '007'], /token revoke/],
  ['two ids', ['revoke', '1', '2'], /token revoke/],
  ['an option of list that it does not have', ['list', '--all'], /--all/],
])('token: %s is a usage error, reported before anything is opened', async (_, args, text) => {
  const failure = await token(args, process).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(UsageError);
  expect((failure as Error).message).toMatch(text);
});
