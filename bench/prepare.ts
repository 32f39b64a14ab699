import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));
const generated = join(bench, 'generated');

/**
 * Prepares the benchmark: installs the competitors' packages, and compiles competitors and load generator, because a loader that
 * compiles at run time would distort the measurement. The packages are installed when their lock file has changed.
 */
export function prepare(logProgress: (text: string) => void): void {
  once('bench-packages', [join(bench, 'package-lock.json'), process.versions.node], join(bench, 'node_modules'), () => {
    logProgress('Installing the competitors (first run, or bench/package-lock.json changed) ...');
    // PostGraphile is optional: npm omits it if Node.js is too old for it.
    const options = ['--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    run('npm', ['ci', ...options], bench);
  });
  once('bench-types', [join(root, 'prisma/schema.prisma'), join(bench, 'package-lock.json')], generated, generateTypes);
  run('npx', ['tsc', '-p', 'bench/tsconfig.json'], root);
}

/** Generates the types and data model of the Pothos plugin from the gateway's schema, which does not have that generator. */
function generateTypes(): void {
  const schema = readFileSync(join(root, 'prisma/schema.prisma'), 'utf8').replace('../src/generated', '../../src/generated');
  const generator = `
generator pothos {
  provider     = "node ${JSON.stringify(join(bench, 'node_modules/@pothos/plugin-prisma/bin/generator.js')).slice(1, -1)}"
  clientOutput = "../../src/generated/prisma/client.ts"
  output       = "pothos.ts"
}
`;
  mkdirSync(generated, { recursive: true });
  writeFileSync(join(generated, 'schema.prisma'), schema + generator);
  run('node', ['scripts/setup.js', 'tools'], root);
  const schemaPath = relative(join(root, 'tools'), join(generated, 'schema.prisma'));
  run('npx', ['prisma', 'generate', '--schema', schemaPath, '--generator', 'pothos'], join(root, 'tools'));
}

/** Runs a step unless it has been run with the same inputs. */
function once(name: string, inputs: string[], output: string, step: () => void): void {
  const stamp = join(root, '.setup', name);
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(input.endsWith('.json') || input.endsWith('.prisma') ? readFileSync(input) : input);
  const digest = hash.digest('hex');
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  step();
  writeFileSync(stamp, digest);
}

/** Runs a program silently. @throws Error with its output when it fails. */
function run(program: string, args: string[], cwd: string): void {
  try {
    execFileSync(program, args, {
      cwd,
      shell: process.platform === 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 26,
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: Buffer; stderr?: Buffer };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout ?? ''}${stderr ?? ''}`);
  }
}
