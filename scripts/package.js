// Writes dist-package: the folder that is published. It contains everything that runs, bundled. So
// npm installs nothing else but the bundled PostgreSQL, which differs from platform to platform.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const output = new URL('dist-package/', root);
const contents = ['dist', 'dist-web', 'deploy', 'prisma/migrations', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'];

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
writeFileSync(new URL('package.json', output), `${JSON.stringify(manifest, undefined, 2)}\n`);
