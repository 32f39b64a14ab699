// Writes dist-package: the folder that is published. It contains everything that runs, the packages that are not bundled too. So
// npm installs nothing else but the bundled PostgreSQL, which differs from platform to platform.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { unbundledPackages } from './distributed-packages.js';

const root = new URL('../', import.meta.url);
const output = new URL('dist-package/', root);
const contents = ['dist', 'dist-web', 'deploy', 'prisma/migrations', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'];
contents.push(...unbundledPackages.map((name) => `node_modules/${name}`));

rmSync(output, { recursive: true, force: true });
mkdirSync(output);
for (const name of contents) {
  cpSync(fileURLToPath(new URL(name, root)), fileURLToPath(new URL(name, output)), {
    recursive: true,
    filter: (file) => !file.endsWith('.map'),
  });
}
const { workspaces, scripts, dependencies, devDependencies, overrides, ...manifest } = JSON.parse(
  readFileSync(new URL('package.json', root), 'utf8'),
);
manifest.dependencies = Object.fromEntries(unbundledPackages.map((name) => [name, dependencies[name]]));
manifest.bundleDependencies = unbundledPackages;
writeFileSync(new URL('package.json', output), `${JSON.stringify(manifest, undefined, 2)}\n`);
