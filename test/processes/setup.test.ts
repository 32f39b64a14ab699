import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('a Node.js that is too old for a checkout gets one line that says which is needed', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'gateway-setup-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  for (const folder of ['src', 'client/src', 'packages/docs-config/src', 'web', 'tools'])
    mkdirSync(join(checkout, folder), { recursive: true });
  const manifests = ['', 'client/', 'packages/docs-config/', 'web/'].map((folder) => `${folder}package.json`);
  for (const name of [...manifests, 'package-lock.json', 'client/tsconfig.json', 'scripts/setup.js'])
    cpSync(name, join(checkout, name));
  const file = join(checkout, 'package.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), engines: { node: '>=98.0.0' } }));
  const { status, stderr } = spawnSync(process.execPath, ['scripts/setup.js'], { cwd: checkout, encoding: 'utf8' });
  expect([status, stderr]).toEqual([
    1,
    `Node.js ${process.version} cannot run the gateway, which needs >=98.0.0. Install one of these and try again.\n`,
  ]);
  expect(existsSync(join(checkout, 'node_modules'))).toBe(false);
});
