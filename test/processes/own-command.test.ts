import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownCommand } from '../../src/commands/serve.ts';
import { launch } from '../support/process.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'user-group-gateway-test-')));
/** A package as npx installs it into its cache from a tarball, in a path that a shell would split. */
const cache = join(folder, "npx's cache");
const installed = join(cache, 'node_modules/user-group-gateway');
const bin = join(cache, 'node_modules/.bin/user-group-gateway');
const checkout = join(folder, 'checkout');
const elsewhere = join(folder, 'elsewhere');

beforeAll(() => {
  cpSync('dist', join(installed, 'dist'), { recursive: true });
  cpSync('package.json', join(installed, 'package.json'));
  for (const path of [join(cache, 'node_modules/.bin'), join(checkout, 'scripts'), elsewhere])
    mkdirSync(path, { recursive: true });
  symlinkSync('../user-group-gateway/dist/main.js', bin);
  writeFileSync(join(checkout, 'scripts/gateway.js'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

const startedBy = (packageRoot: string, script: string, cwd: string) => ownCommand(pathToFileURL(`${packageRoot}/`), script, cwd);

test('is the npm script in the folder of a checkout', () => {
  expect(startedBy(checkout, join(checkout, 'scripts/gateway.js'), checkout)).toBe('npm run -s gateway --');
});

test('is npx only where the binary is installed in the current folder', () => {
  expect(startedBy(installed, bin, cache)).toBe('npx user-group-gateway');
});

test.each([
  ['elsewhere than in the checkout', checkout, join(checkout, 'scripts/gateway.js'), elsewhere, 'node ../checkout', '/checkout/'],
  ['in a folder above the checkout', checkout, join(checkout, 'scripts/gateway.js'), folder, 'node /', 'node checkout/'],
])('is the path of the script %s', (_, packageRoot, script, cwd, unexpected, expected) => {
  const command = startedBy(packageRoot, script, cwd);
  expect(command).toContain(expected);
  expect(command).not.toContain(unexpected);
});

test('runs the same gateway when npx started it from its cache', async () => {
  const command = startedBy(installed, bin, elsewhere);
  expect(command).not.toContain('npx user-group-gateway');
  const { code, stdout, stderr } = await launch('sh', ['-c', `${command} --help`], {}, { cwd: elsewhere }).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('Usage: user-group-gateway COMMAND');
});
