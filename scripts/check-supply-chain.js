// Checks what the gateway is made of: exact versions, digests in the lock files, and of each package that is distributed its
// license and the oldest Node.js that it runs on. Prints what is wrong, and exits with 1.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minVersion, satisfies } from 'semver';

/** Licenses (SPDX) that permit distribution with a notice, which dist/licenses.txt and dist-web/licenses.md contain. */
const permitted = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'PostgreSQL', 'Unlicense']);
const exact = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/;

const read = (name) => readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8');
const readJson = (name) => JSON.parse(read(name));
const problems = [];

for (const folder of ['', 'client/', 'web/', 'packages/docs-config/', 'tools/', 'bench/']) {
  const { dependencies, devDependencies, optionalDependencies } = readJson(`${folder}package.json`);
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    if (!exact.test(version)) problems.push(`${folder}package.json: ${name} must have an exact version, not ${version}.`);
}
for (const folder of ['', 'tools/', 'bench/']) {
  for (const [path, { integrity, link, inBundle, optional }] of Object.entries(readJson(`${folder}package-lock.json`).packages)) {
    if (!path.includes('node_modules/') || link || inBundle) continue;
    // Tools have packages for platforms other than the one that the lock file was written on, without digests.
    if (!integrity?.startsWith('sha512-') && (folder === '' || !optional))
      problems.push(`${folder}package-lock.json: ${path} has no SHA-512 digest.`);
  }
}

const manifest = readJson('package.json');
const locked = Object.entries(readJson('package-lock.json').packages);
const oldestNode = minVersion(manifest.engines.node);
const bundled = readJson('dist/packages.json');
const ofPages = [...read('dist-web/licenses.md').matchAll(/^## (\S+) - (\S+) \((.+)\)$/gm)];
const distributed = [
  ...bundled,
  ...ofPages.map(([, name, version, license]) => ({ name, version, license })),
  ...Object.entries(manifest.optionalDependencies).map(([name, version]) => ({ name, version })),
];
if (bundled.length === 0 || ofPages.length === 0) problems.push('dist or dist-web names no package.');
for (const { name, version, license: stated } of distributed) {
  const isIt = ([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version;
  const { license = stated, dev, engines } = locked.find(isIt)?.[1] ?? {};
  const alternatives = String(license).replace(/[()]/g, '').split(' OR ');
  if (!alternatives.some((id) => permitted.has(id)))
    problems.push(`${name} ${version} has a license that is not permitted: ${license}.`);
  if (!locked.some(isIt)) problems.push(`${name} ${version} is distributed, but not in the lock file.`);
  if (dev) problems.push(`${name} ${version} is distributed: it belongs to "dependencies".`);
  if (engines?.node && !satisfies(oldestNode, engines.node))
    problems.push(`${name} ${version} needs Node.js ${engines.node}; we promise ${oldestNode}.`);
}

if (problems.length === 0) process.stdout.write(`${distributed.length} packages are distributed\n`);
else process.stderr.write(`${problems.join('\n')}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
