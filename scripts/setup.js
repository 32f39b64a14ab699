// Prepares a checkout with only Node.js and npm: installs the packages, compiles, and builds the pages; installs the tools only
// on request. Each step runs only if its inputs changed since its last run, so a warm call takes a few milliseconds.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acquireLock } from './lock.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamps = join(root, '.setup');

const steps = [
  {
    name: 'packages',
    message: 'Installing packages (first run, or package-lock.json changed)',
    inputs: ['package.json', 'package-lock.json'],
    output: 'node_modules/.package-lock.json',
    isUpToDate: () => installedByHand('.', ['esbuild', 'vitest']),
    run: () => install('.'),
  },
  {
    name: 'compiled',
    message: 'Compiling',
    inputs: ['package-lock.json', 'tsconfig.json', 'scripts/compile.js', ...filesBelow('src')],
    output: 'dist/main.js',
    run: () => node(['scripts/compile.js']),
  },
  {
    name: 'web-packages',
    message: 'Installing packages of the pages (first run, or web/package-lock.json changed)',
    inputs: ['web/package.json', 'web/package-lock.json'],
    output: 'web/node_modules/.package-lock.json',
    isUpToDate: () => installedByHand('web', ['vite', 'react']),
    run: () => install('web'),
  },
  {
    name: 'web',
    message: 'Building the pages',
    inputs: filesBelow('web'),
    output: 'dist-web/manifest.json',
    run: () => node(['web/build.js']),
  },
  {
    name: 'tools',
    message: 'Installing tools (first run, or tools/package-lock.json changed)',
    inputs: ['tools/package.json', 'tools/package-lock.json'],
    output: 'tools/node_modules/.package-lock.json',
    isUpToDate: () => installedByHand('tools', ['prisma']),
    run: () => install('tools'),
  },
];

/** The steps that starting and testing need. */
const defaultSteps = ['packages', 'compiled', 'web-packages', 'web'];

/**
 * Runs the named steps, or those that starting and testing need, where they are out of date. Logs each to standard error; a
 * warm call logs nothing.
 *
 * @param {string[]} names
 */
export function setUp(names = defaultSteps) {
  const requested = steps.filter(({ name }) => names.includes(name));
  if (requested.every(isDone)) return;
  const release = acquireLock(join(stamps, 'lock'));
  try {
    for (const step of requested) {
      if (isDone(step)) continue; // another process has completed it in the meantime
      const digest = digestOf(step);
      if (!step.isUpToDate?.()) {
        process.stderr.write(`${step.message} ...\n`);
        step.run();
      }
      writeFileSync(join(stamps, step.name), digest);
    }
  } finally {
    release();
  }
}

function isDone(step) {
  const stamp = join(stamps, step.name);
  return existsSync(join(root, step.output)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digestOf(step);
}

function digestOf({ inputs }) {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const input of inputs) hash.update(input).update(readFileSync(join(root, input)));
  return hash.digest('hex');
}

/** Whether the packages of `folder` were installed by hand since they last changed, including those for development (`names`). */
function installedByHand(folder, names) {
  const time = (file) => statSync(join(root, folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const installed = time('node_modules/.package-lock.json');
  const isCurrent = installed > time('package-lock.json') && installed > time('package.json');
  return isCurrent && names.every((name) => existsSync(join(root, folder, 'node_modules', name, 'package.json')));
}

/** The files below a folder of the checkout, but not the packages installed in it. */
function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

/** Installs the packages of `folder`, including those for development regardless of NODE_ENV. Install scripts are not needed. */
function install(folder) {
  const args = ['ci', '--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('.js')) execute(process.execPath, [cli, ...args], { folder });
  else execute('npm', args, { folder, shell: process.platform === 'win32' });
}

function node(args) {
  execute(process.execPath, args, {});
}

/** Runs a program silently. If it fails, prints its output and ends the process. */
function execute(program, args, { folder = '.', shell = false }) {
  try {
    execFileSync(program, args, { cwd: join(root, folder), stdio: ['ignore', 'pipe', 'pipe'], shell, maxBuffer: 1 << 26 });
  } catch (error) {
    process.stderr.write(`${error.stdout ?? ''}${error.stderr ?? ''}\nSetup failed at: ${program} ${args.join(' ')}\n`);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setUp(process.argv.length > 2 ? process.argv.slice(2) : undefined);
