// What a published package of the gateway contains of other packages.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const read = (name) => readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8');
const readJson = (name) => JSON.parse(read(name));

/**
 * The packages that are bundled into `dist` and `dist-web`, and the PostgreSQL that npm installs next to
 * them; each once, sorted by name. From the lock file are the digest `integrity`, such as `sha512-…`, whether only development
 * needs the package, and the versions of Node.js that it runs on.
 *
 * @returns {{ name: string, version: string, license: string, integrity?: string, isDevelopment: boolean, node?: string }[]}
 * @throws Error when `dist` or `dist-web` is not built, or its list of packages is empty.
 */
export function distributedPackages() {
  if (!existsSync(new URL('../dist/packages.json', import.meta.url))) throw new Error('Run `node scripts/setup.js` first.');
  const locked = readJson('package-lock.json').packages;
  const parts = {
    'dist/packages.json': readJson('dist/packages.json').map((entry) => withLockEntry(entry, locked)),
    'dist-web/licenses.md': packagesOfPages().map((entry) => withLockEntry(entry, locked)),
    'optionalDependencies of package.json': Object.keys(readJson('package.json').optionalDependencies).map((name) =>
      withLockEntry({ name, ...locked[`node_modules/${name}`] }, locked),
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

function withLockEntry({ name, version, license }, locked) {
  const found = Object.entries(locked).find(
    ([path, { version: installed }]) => path.endsWith(`node_modules/${name}`) && installed === version,
  );
  const { integrity, dev = false, engines } = found?.[1] ?? {};
  return { name, version, license, integrity, isDevelopment: dev, node: engines?.node };
}
