import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { launch, run, runAlone } from '../support/process.ts';

/** If a command connected to the database, it would fail after ten seconds with exit status 1. */
const settings = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none', API_TOKEN: 'ugk_of-the-table' };

test.each<[args: string, message: RegExp]>([
  ['', /^Usage: user-group-gateway/],
  ['sevre', /^error: unknown command 'sevre'\n\(Did you mean serve\?\)/],
  ['toString', /^error: unknown command/],
  ['serve --workers 2', /^error: unknown option '--workers'/],
  ['migrate --dry-run', /^error: unknown option/],
  ['migrate now', /^error: too many arguments/],
  ['token', /^Usage: user-group-gateway token/],
  ['token delete 1', /^error: unknown command 'delete'/],
  ['token create --environment none', /^error: required option '--name <name>' not specified/],
  ['token create --name n', /^error: required option '--environment <environment>' not specified/],
  ['token create --name n --environment testing', /Allowed choices are Customer, Testing, none\./],
  ['token create --name n --environment none --scop admin', /^error: unknown option '--scop'\n\(Did you mean --scope\?\)/],
  ['token create --name n --environment none --scope groups', /It must be one of groups:read, groups:write, /],
  ['token create --name n --environment none --expires-in 90', /It must be a number and a unit, such as 30m, 12h, 90d or 52w\./],
  ['token create --name n --environment none --expires-in 0d', /It must be a number and a unit/],
  ['token create --name n --environment none --expires-in 999999w', /It must be a number and a unit/],
  ['token create --name n --environment none --rate-limit 0', /It must be a whole number from 1 to 1000000\./],
  ['token create n --name n --environment none', /^error: too many arguments/],
  ['token list --all', /^error: unknown option '--all'/],
  ['token update 1', /^token update needs --name, /],
  ['token update 1 --enable --disable', /exclude each other/],
  ['token rotate 1 --overlap 8d', /It must be at most 7d\./],
  ['token revoke', /^error: missing required argument 'id'/],
  ['token revoke 1e3', /It must be a number that `list` shows\./],
  ['token revoke 007', /It must be a number/],
  ['token revoke 1 2', /^error: too many arguments/],
  ['webhooks create --type user_group.created', /^error: required option '--url <url>'/],
  ['webhooks create --url https://a.example --type created', /It must be one of user_group\.created, /],
  ['webhooks create --url https://a.example --environment none', /It must be one of Customer, Testing, Untagged, None\./],
  ['webhooks enable hooks', /It must be a number/],
  ['webhooks deliveries 1 --status lost', /Allowed choices are pending, delivered, failed\./],
  ['webhooks deliveries 1 --limit 1001', /It must be a whole number from 1 to 1000\./],
  ['webhooks redeliver 1', /needs --event, once for each event, or --after\./],
  ['webhooks redeliver 1 --event x --after y', /needs --event/],
  ['keys rotate', /^Usage: user-group-gateway keys rotate/],
  ['keys rotate all', /^error: unknown command 'all'/],
  ['keys rotate signing now', /^error: too many arguments/],
  ['groups import', /^error: missing required argument 'file'/],
  ['groups import a.csv b.csv', /^error: too many arguments/],
  ['groups import a.txt', /^--format is required: "a\.txt" does not end with/],
  ['groups import - --format xml', /Allowed choices are ndjson, csv\./],
  ['groups import - --on-existing x', /Allowed choices are skip, update, fail\./],
  ['groups import /nowhere/a.csv', /^Cannot read \/nowhere\/a\.csv: ENOENT.* Nothing was imported\./],
  ['groups import package.json --format csv --report ./package.json', /^--report must name another file/],
  ['groups import package.json --format csv --report /nowhere/a', /^\/nowhere\/a cannot be written: ENOENT/],
  ['groups export a.csv', /^error: too many arguments/],
  ['groups export --output a.txt', /^--format is required/],
  ['groups export --output /nowhere/a.csv', /^\/nowhere\/a\.csv cannot be written: ENOENT/],
  ['listen', /^error: required option '--forward-to <url>'/],
  ['listen --forward-to ftp://127.0.0.1/', /It must be an http or https URL\./],
  ['listen --forward-to http://127.0.0.1/ --type user_group.made', /It must be one of user_group\.created, /],
  ['listen --forward-to http://127.0.0.1/ --secret whsec_x', /It must be whsec_ and 24 to 64 bytes in Base64\./],
  ['doctor --jsn', /^error: unknown option '--jsn'\n\(Did you mean --json\?\)/],
  ['backup', /^error: missing required argument 'dir'/],
  ['restore a b', /^error: too many arguments/],
])('%s: exit status 2, one message, no effect', async (args, message) => {
  const { code, stdout, stderr } = await run(args.split(' ').filter(Boolean), settings);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('listen without an API token says where it belongs', async () => {
  const ended = await run(['listen', '--forward-to', 'http://127.0.0.1/'], {});
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(/^There is no API token: set the variable API_TOKEN/) });
});

test.each<[args: string, text: RegExp]>([
  ['help', /Commands:\n {2}serve .*\n {2}token .*Settings are environment variables:\n\n {2}HOST /s],
  ['--help', /Commands:/],
  ['help token', /Usage: user-group-gateway token.*Scopes:\n {2}groups:read /s],
  ['serve -h', /Usage: user-group-gateway serve/],
  ['token create --help', /--name <name>.*Scopes:/s],
  ['webhooks create --help', /Types of events:\n {2}user_group\.created\n/],
  ['groups import --help', /Fields: user_group_id, .*Exit status:/s],
  ['doctor --help', /Checks: settings, /],
])('%s: exit status 0, the help on standard output', async (args, text) => {
  const { code, stdout, stderr } = await run(args.split(' '), settings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(text);
});

test('--version is the version in package.json', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await runAlone(['--version'], settings)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('on an unsupported Node.js prints one line, before anything else is loaded', async () => {
  const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })";
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(old)}`;
  expect(await runAlone(['serve'], { NODE_OPTIONS })).toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'Node.js v18.20.8 cannot run the gateway, which needs ^20.19.0 || ^22.12.0 || >=24.0.0. Install one of these and try again.\n',
  });
  // Its modules need a newer Node.js.
  expect(readFileSync('dist/main.js', 'utf8')).not.toMatch(/^\s*import\b(?!.*from ["']node:(?:fs|module)["'])(?! *\()/m);
});

test('a reader that leaves early is no defect, and no success', async () => {
  const command = `{ "${process.execPath}" dist/main.js help; echo "status $?" >&2; } | true`;
  expect((await launch('sh', ['-c', command], settings).ended).stderr).toMatch(/^status [01]\n$/);
});
