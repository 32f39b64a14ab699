// Makes a checkout ready to run, with nothing but Node and npm: installs the packages, generates the database client, compiles.
// Each step is done only when what it depends on has changed since, so a warm call costs some milliseconds.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamps = join(root, '.setup');

const steps = [
  {
    name: 'packages',
    says: 'Installing packages (first run, or package-lock.json changed)',
    inputs: ['package.json', 'package-lock.json'],
    output: 'node_modules/.package-lock.json',
    // Compiling needs the development packages, whatever NODE_ENV says; install scripts are not needed at all.
    run: () =>
      npm(['ci', '--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']),
  },
  {
    name: 'client',
    says: 'Generating the database client',
    inputs: ['package-lock.json', 'prisma/schema.prisma', 'prisma.config.ts'],
    output: 'src/generated/prisma/client.ts',
    run: () => node(['node_modules/prisma/build/index.js', 'generate']),
  },
  {
    name: 'compiled',
    says: 'Compiling',
    inputs: ['package-lock.json', 'prisma/schema.prisma', 'tsconfig.json', 'tsconfig.build.json', ...filesBelow('src')],
    output: 'dist/main.js',
    run: () => node(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']),
  },
];

/** Brings every step up to date. What it does is told on standard error; a warm call says nothing. */
export function setUp() {
  if (!existsSync(join(root, 'package-lock.json'))) return; // an installed package comes compiled
  for (const step of steps) {
    const hash = createHash('sha256').update(process.versions.modules);
    for (const input of step.inputs) hash.update(input).update(readFileSync(join(root, input)));
    const digest = hash.digest('hex');
    const stamp = join(stamps, step.name);
    if (existsSync(join(root, step.output)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) continue;
    process.stderr.write(`${step.says} ...\n`);
    step.run();
    mkdirSync(stamps, { recursive: true });
    writeFileSync(stamp, digest);
  }
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length))
    .filter((file) => !file.includes('generated'))
    .sort();
}

function npm(args) {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('.js')) return node([cli, ...args]);
  execute('npm', args, process.platform === 'win32');
}

function node(args) {
  execute(process.execPath, args, false);
}

/** Runs a program, silent unless it fails: then all that it said is shown, and the set-up ends. */
function execute(program, args, shell) {
  try {
    execFileSync(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], shell, maxBuffer: 1 << 26 });
  } catch (error) {
    process.stderr.write(`${error.stdout ?? ''}${error.stderr ?? ''}\nSet-up failed at: ${program} ${args.join(' ')}\n`);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setUp();
