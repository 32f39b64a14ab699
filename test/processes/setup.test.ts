import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let checkout: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'gateway-setup-'));
  for (const folder of ['scripts', 'src', 'client/src', 'packages/docs-config/src', 'web', 'tools'])
    mkdirSync(join(checkout, folder), { recursive: true });
  for (const file of [
    'package.json',
    'package-lock.json',
    'client/package.json',
    'client/tsconfig.json',
    'packages/docs-config/package.json',
    'web/package.json',
    'scripts/setup.js',
  ])
    cpSync(file, join(checkout, file));
});
afterEach(() => {
  chmodSync(checkout, 0o755);
  rmSync(checkout, { recursive: true });
});

test('a Node.js that is too old gets one line that says which is needed', () => {
  const manifest = readFileSync(join(checkout, 'package.json'), 'utf8');
  const engines = { node: '^97.2.0 || >=98.0.0' };
  writeFileSync(join(checkout, 'package.json'), JSON.stringify({ ...JSON.parse(manifest), engines }));
  expect(setUp()).toBe(
    `Node.js ${process.version} cannot run the gateway, which needs ^97.2.0 || >=98.0.0. Install one of these and try again.`,
  );
});

test('a checkout that cannot be written gets one line that says so', () => {
  chmodSync(checkout, 0o555);
  // Permissions do not stop root, a file system that is mounted read-only does.
  const mounted = [
    'unshare',
    '--mount',
    'sh',
    '-c',
    'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
    checkout,
  ];
  expect(setUp(process.getuid?.() === 0 ? mounted : [])).toMatch(
    / cannot be written \((EROFS|EACCES)\), so nothing can be installed/,
  );
});

test('without its registry, npm gets one line that says what to set', () => {
  const registry = 'http://127.0.0.1:1/';
  const line = setUp([], {
    npm_config_registry: registry,
    npm_config_fetch_retries: '0',
    npm_config_cache: join(checkout, 'cache'),
  });
  expect(line).toBe(
    'npm cannot reach its package registry (ECONNREFUSED), so nothing was installed. Connect to it, or set npm\'s "registry" or "proxy".',
  );
});

/** Sets up the checkout, which must fail before anything is installed. @returns its only line after those about progress. */
function setUp(prefix: readonly string[] = [], settings: NodeJS.ProcessEnv = {}): string {
  const [program = process.execPath, ...args] = [...prefix, process.execPath, join(checkout, 'scripts/setup.js')];
  const { status, stderr } = spawnSync(program, args, { cwd: checkout, env: { ...process.env, ...settings }, encoding: 'utf8' });
  const lines = stderr.split('\n').filter((text) => text !== '' && !text.endsWith(' ...') && !text.startsWith('npm warn'));
  expect(status).toBe(1);
  expect(existsSync(join(checkout, 'node_modules/esbuild'))).toBe(false);
  expect(lines).toHaveLength(1);
  return lines[0] as string;
}
