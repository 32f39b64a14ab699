// What a published package of the gateway contains of other packages.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const read = (name) => readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8');
const readJson = (name) => JSON.parse(read(name));

/**
 * The packages that are bundled into `dist` and `dist-web`, and the PostgreSQL that npm installs next to them; each once, sorted
 * by name. `integrity` is the digest of the package in the lock file, such as `sha512-…`.
 *
 * @returns {{ name: string, version: string, license: string, integrity: string | undefined }[]}
 * @throws Error when `dist` or `dist-web` is not built, or its list of packages is empty.
 */
export function distributedPackages() {
  if (!existsSync(new URL('../dist/packages.json', import.meta.url))) throw new Error('Run `node scripts/setup.js` first.');
  const root = readJson('package-lock.json').packages;
  const web = readJson('web/package-lock.json').packages;
  const parts = {
    'dist/packages.json': readJson('dist/packages.json').map((entry) => withIntegrity(entry, root)),
    'dist-web/licenses.md': packagesOfPages().map((entry) => withIntegrity(entry, web)),
    'optionalDependencies of package.json': Object.keys(readJson('package.json').optionalDependencies).map((name) =>
      withIntegrity({ name, ...root[`node_modules/${name}`] }, root),
    ),
  };
  for (const [place, packages] of Object.entries(parts)) if (packages.length === 0) throw new Error(`${place} names no package.`);
  const all = Object.values(parts).flat();
  const unique = new Map(all.map((entry) => [`${entry.name}@${entry.version}`, entry]));
  return [...unique.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The headings of the list of licenses that Vite writes. */
function packagesOfPages() {
  return [...read('dist-web/licenses.md').matchAll(/^## (\S+) - (\S+) \((.+)\)$/gm)].map(([, name, version, license]) => ({
    name,
    version,
    license,
  }));
}

function withIntegrity({ name, version, license }, locked) {
  const entry = Object.entries(locked).find(
    ([path, { version: installed }]) => path.endsWith(`node_modules/${name}`) && installed === version,
  );
  return { name, version, license, integrity: entry?.[1].integrity };
}
