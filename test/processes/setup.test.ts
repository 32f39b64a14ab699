import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let checkout: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'gateway-setup-'));
  const manifests = ['.', 'client', 'packages/docs-config', 'web'].map((folder) => join(folder, 'package.json'));
  for (const file of [...manifests, 'package-lock.json', 'client/tsconfig.json', 'scripts/setup.js', 'scripts/lock.js'])
    cpSync(file, join(checkout, file));
  for (const folder of ['src', 'client/src', 'packages/docs-config/src', 'tools'])
    mkdirSync(join(checkout, folder), { recursive: true });
});
afterEach(() => {
  rmSync(checkout, { recursive: true });
});

/** Sets up the checkout, which must fail before anything is installed. @returns its only line after those about progress. */
function setUp(settings: NodeJS.ProcessEnv = {}): string {
  const options = { cwd: checkout, env: { ...process.env, ...settings }, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, 'scripts/setup.js')], options);
  const lines = stderr.split('\n').filter((text) => text !== '' && !text.endsWith(' ...') && !text.startsWith('npm warn'));
  expect([status, lines.length]).toEqual([1, 1]);
  expect(existsSync(join(checkout, 'node_modules/esbuild'))).toBe(false);
  return lines[0] as string;
}

test('a Node.js that is too old gets one line that says which is needed', () => {
  const file = join(checkout, 'package.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), engines: { node: '>=98.0.0' } }));
  expect(setUp()).toBe(
    `Node.js ${process.version} cannot run the gateway, which needs >=98.0.0. Install one of these and try again.`,
  );
});

test('without its registry, npm gets one line that says what to set', () => {
  const npm = { registry: 'http://127.0.0.1:1/', fetch_retries: '0', cache: join(checkout, 'cache') };
  const line = setUp(Object.fromEntries(Object.entries(npm).map(([name, value]) => [`npm_config_${name}`, value])));
  expect(line).toMatch(/^npm cannot reach its package registry \(ECONNREFUSED\), so nothing was installed\. Connect to it/);
});
