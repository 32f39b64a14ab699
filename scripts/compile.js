// Bundles src and the packages that it imports into dist: a start then reads a few files instead of more than a thousand, and an
// installed gateway needs few packages. Types are checked elsewhere, by `npm run check`.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
// Written next to dist, which is replaced only when everything is complete: a running gateway loads modules from it on demand.
const [next, previous, dist] = ['dist.next', 'dist.previous', 'dist'].map((name) => join(root, name));

for (const folder of [next, previous]) rmSync(folder, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/main.ts' },
  outdir: next,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  chunkNames: 'chunks/[name]-[hash]',
  // pg-native is optional, and not used.
  external: ['pg-native'],
  // Its main file cannot be bundled: it requires others by a function that is passed to it.
  alias: { 'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js' },
  // Packages in CommonJS require modules of Node, which a module has no `require` for.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
  },
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  tsconfig: 'tsconfig.json',
  logLevel: 'warning',
}).catch(() => process.exit(1)); // esbuild has printed what is wrong
assertNothingEarly();
const packages = usedPackages();
writeFileSync(join(next, 'licenses.txt'), packages.map(licenseOf).join('\n\n'));
writeFileSync(
  join(next, 'packages.json'),
  JSON.stringify(packages.map(({ name, version, license }) => ({ name, version, license }))),
);
// What /openapi.json serves.
writeFileSync(join(next, 'openapi.json'), JSON.stringify(parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'))));
if (existsSync(dist)) renameSync(dist, previous);
renameSync(next, dist);
rmSync(previous, { recursive: true, force: true });

/** src/main.ts checks the version of Node.js and sets runtime flags before anything else is loaded. */
function assertNothingEarly() {
  const early = metafile.outputs['dist.next/main.js'].imports.find(
    ({ kind, external }) => kind === 'import-statement' && !external,
  );
  if (early) throw new Error(`src/main.ts would load ${early.path} first. Import it dynamically.`);
}

/** The packages that are in the bundle or beside it, with the folders in which they are installed. */
function usedPackages() {
  const folders = new Set(
    Object.keys(metafile.inputs).flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []),
  );
  return [...folders]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((folder) => ({ folder, ...JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) }));
}

/** The license of a package, which it requires to be distributed with it. */
function licenseOf({ folder, name, version, license }) {
  const files = readdirSync(join(root, folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
  return [`${name} ${version}: ${license}`, ...texts].join('\n\n');
}
