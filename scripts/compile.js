// Compiles src to dist, and copies the runtime of Prisma's client into it, so that dist does not need `@prisma/client`: that package
// has 72 MB with the query compilers of every database, of which the gateway uses five.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const runtime = join(root, 'node_modules/@prisma/client/runtime');
// Compiled next to dist, which is replaced only when everything is complete: a running gateway loads modules from it on demand.
const [next, previous, dist] = ['dist.next', 'dist.previous', 'dist'].map((name) => join(root, name));

for (const folder of [next, previous]) rmSync(folder, { recursive: true, force: true });
const compiler = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', next];
const { status } = spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(1);
copyRuntime(join(next, 'generated/prisma'));
if (existsSync(dist)) renameSync(dist, previous);
renameSync(next, dist);
rmSync(previous, { recursive: true, force: true });

/**
 * Makes the compiled client in `folder` import the runtime from a folder next to it, and copies what it imports there.
 *
 * @param {string} folder
 */
function copyRuntime(folder) {
  const target = join(folder, 'runtime');
  mkdirSync(target);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    const toRuntime = dirname(file) === '.' ? './runtime' : '../runtime';
    const changed = text.replace(/(["'])@prisma\/client\/runtime\/([a-z_.0-9-]+)\1/g, (_, quote, name) => {
      // A name without extension means a module in either format.
      const module = name.endsWith('.mjs') ? name : `${name}.mjs`;
      cpSync(join(runtime, module), join(target, module));
      return `${quote}${toRuntime}/${module}${quote}`;
    });
    if (changed !== text) writeFileSync(join(folder, file), changed);
  }
  cpSync(join(runtime, '../LICENSE'), join(target, 'LICENSE'));
}
