// Prepares a checkout with only Node.js and npm: installs the packages, compiles, and builds the pages; tools and competitors
// only on request. Each step runs only if its inputs changed since its last run, so a warm call takes a few milliseconds.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamps = join(root, '.setup');

const steps = [
  {
    name: 'packages',
    message: 'Installing packages (first run, or package-lock.json changed)',
    inputs: ['package.json', 'client/package.json', 'packages/docs-config/package.json', 'web/package.json', 'package-lock.json'],
    output: 'node_modules/.package-lock.json',
    run: () => install('.'),
  },
  {
    name: 'compiled',
    message: 'Compiling',
    inputs: ['package-lock.json', 'tsconfig.json', 'openapi.yaml', 'scripts/compile.js', 'src', 'packages/docs-config/src'],
    output: 'dist/main.js',
    run: () => node('scripts/compile.js'),
  },
  {
    name: 'web',
    message: 'Building the pages',
    inputs: ['package-lock.json', 'src/token-prefixes.ts', 'web'],
    output: 'dist-web/manifest.json',
    run: () => node('web/build.js'),
  },
  {
    name: 'client',
    message: 'Compiling the client',
    inputs: ['package-lock.json', 'client/package.json', 'client/tsconfig.json', 'client/src'],
    output: 'client/dist/index.js',
    run: () => node('node_modules/typescript/bin/tsc', '-p', 'client', '--noEmit', 'false'),
  },
  {
    name: 'tools',
    message: 'Installing tools (first run, or tools/package-lock.json changed)',
    inputs: ['tools/package.json', 'tools/package-lock.json'],
    output: 'tools/node_modules/.package-lock.json',
    run: () => install('tools'),
  },
  {
    name: 'bench',
    message: 'Installing the competitors (first run, or bench/package-lock.json changed)',
    inputs: ['bench/package.json', 'bench/package-lock.json'],
    output: 'bench/node_modules/.package-lock.json',
    run: () => install('bench'),
  },
  {
    name: 'competitors',
    message: 'Compiling the competitors',
    inputs: ['bench/package-lock.json', 'bench/prepare.js', 'bench/encryption.ts', 'bench/competitors', 'prisma/schema.prisma'],
    output: 'bench/dist/bench/competitors/baseline.js',
    run: () => node('bench/prepare.js'),
  },
];

/** npm's codes for a registry that it cannot reach. */
const unreachable = new Set(['EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'ETIMEDOUT']);

/** The steps that starting and testing need; and the client, which the examples install from its folder. */
const defaultSteps = ['packages', 'compiled', 'web', 'client'];

/**
 * Runs the named steps where they are out of date. Logs each to standard error; a warm call logs nothing.
 *
 * @param {string[]} names
 */
export function setUp(names = defaultSteps) {
  const requested = steps.filter(({ name }) => names.includes(name));
  if (requested.every(isDone)) return;
  assertPossible();
  mkdirSync(stamps, { recursive: true });
  for (const step of requested) {
    if (isDone(step)) continue;
    const digest = digestOf(step);
    process.stderr.write(`${step.message} ...\n`);
    step.run();
    writeFileSync(join(stamps, step.name), digest);
  }
}

/** Ends the process with a line that says what to do, if this Node.js or this folder cannot run the steps. */
function assertPossible() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [major, minor] = process.versions.node.split('.').map(Number);
  const supported = engines.node.split(' || ').map((range) => /(\d+)\.(\d+)/.exec(range).slice(1).map(Number));
  const last = supported.at(-1)[0];
  if (!supported.some(([from, least]) => (from === major && least <= minor) || (from === last && major > last)))
    fail(`Node.js ${process.version} cannot run the gateway, which needs ${engines.node}. Install one of these and try again.`);
  try {
    accessSync(root, constants.W_OK);
  } catch ({ code }) {
    fail(`${root} cannot be written (${code}), so nothing can be installed in it. Copy the checkout to a folder of your own.`);
  }
}

function isDone(step) {
  const stamp = join(stamps, step.name);
  return existsSync(join(root, step.output)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digestOf(step);
}

function digestOf({ inputs }) {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const file of inputs.flatMap(filesOf)) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** A file, or the files below a folder of the checkout, but not the packages installed in it. */
function filesOf(path) {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(path, entry.name)) : [join(path, entry.name)]))
    .sort();
}

/** Installs the packages of `folder`, including those for development regardless of NODE_ENV. Install scripts are not needed. */
function install(folder) {
  const args = ['ci', '--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // As often as npm does by default, but not for a minute and more: a machine without a network should say so soon.
  args.push('--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000');
  execute('npm', args, { cwd: join(root, folder), shell: process.platform === 'win32' });
}

const node = (...args) => execute(process.execPath, args, { cwd: root });

/** Runs a program silently. If it fails, prints its output and ends the process. */
function execute(program, args, options) {
  try {
    execFileSync(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26 });
  } catch (error) {
    const output = `${error.stdout ?? ''}${error.stderr ?? ''}`;
    const [, code] = /npm error code (E\w+)/.exec(output) ?? [];
    if (unreachable.has(code))
      fail(
        `npm cannot reach its package registry (${code}), so nothing was installed. Connect to it, or set npm's "registry" or "proxy".`,
      );
    fail(`${output}\nSetup failed at: ${program} ${args.join(' ')}`);
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setUp(process.argv.length > 2 ? process.argv.slice(2) : undefined);
