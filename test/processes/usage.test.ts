import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { run, runAlone } from '../support/process.ts';

/** If a command connected to the database, it would fail after ten seconds with exit status 1. */
const settings = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none', API_TOKEN: 'ugk_of-the-table' };

test.each<[args: string, message: RegExp]>([
  ['', /^Usage: user-group-gateway/],
  ['sevre', /^error: unknown command 'sevre'\n\(Did you mean serve\?\)/],
  ['token create --environment none', /^error: required option '--name <name>' not specified/],
  ['token create --name n --environment testing', /Allowed choices are Customer, Testing, none\./],
  ['token create --name n --environment none --scope groups', /It must be one of groups:read, groups:write, /],
  ['token create --name n --environment none --expires-in 90', /It must be a number and a unit, such as 30m, 12h, 90d or 52w\./],
  ['token revoke 1e3', /It must be a number that `list` shows\./],
  ['webhooks create --url https://a.example --environment none', /It must be one of Customer, Testing, Untagged, None\./],
  ['groups import a.txt', /^--format is required: "a\.txt" does not end with/],
  ['groups import /nowhere/a.csv', /^Cannot read \/nowhere\/a\.csv: ENOENT.* Nothing was imported\./],
  ['listen --forward-to ftp://127.0.0.1/', /It must be an http or https URL\./],
  ['listen --forward-to http://127.0.0.1/ --secret whsec_x', /It must be whsec_ and 24 to 64 bytes in Base64\./],
])('%s: exit status 2, one message, no effect', async (args, message) => {
  const { code, stdout, stderr } = await run(args.split(' ').filter(Boolean), settings);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test.each<[args: string, text: RegExp]>([
  ['help', /Commands:\n {2}serve .*\n {2}token .*Settings are environment variables:\n\n {2}HOST /s],
  ['token create --help', /--name <name>.*Scopes:/s],
  ['webhooks create --help', /Types of events:\n {2}user_group\.created\n/],
  ['groups import --help', /Fields: user_group_id, .*Exit status:/s],
  ['doctor --help', /Checks: settings, /],
])('%s: exit status 0, the help on standard output', async (args, text) => {
  const { code, stdout, stderr } = await run(args.split(' '), settings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(text);
});

test('on an unsupported Node.js prints one line, before anything else is loaded', async () => {
  const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })";
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(old)}`;
  const { code, stderr } = await runAlone(['serve'], { NODE_OPTIONS });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^Node\.js v18\.20\.8 cannot run the gateway, which needs [^\n]+\n$/),
  ]);
  // Its modules need a newer Node.js.
  expect(readFileSync('dist/main.js', 'utf8')).not.toMatch(/^\s*import\b(?!.*from ["']node:(?:fs|module)["'])(?! *\()/m);
});
