import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A package to compare with that is not a dependency of the project. */
export interface CachedPackage {
  readonly name: string;
  readonly version: string;
  /** The module to import, from the folder of the package. */
  readonly entry: string;
}

/**
 * Installs a package into a cache folder unless it is already there, without running its scripts.
 *
 * @returns the path of its module; undefined when it cannot be installed.
 */
export function installPackage({ name, version, entry }: CachedPackage): string | undefined {
  const folder = fileURLToPath(new URL(`../node_modules/.cache/bench/${name}-${version}/`, import.meta.url));
  const module = join(folder, 'node_modules', name, entry);
  if (existsSync(module)) return module;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--save-exact',
    `${name}@${version}`,
  ];
  try {
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
    return module;
  } catch {
    return undefined;
  }
}
