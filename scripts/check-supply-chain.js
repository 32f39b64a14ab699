// Checks what the gateway is made of: exact versions, digests in the lock files, licenses that permit distribution, the oldest
// Node.js that it runs on. Prints what is wrong, and exits with 1. Known vulnerabilities are checked by `npm run audit`,
// which needs a registry.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minVersion, satisfies } from 'semver';
import { distributedPackages } from './distributed-packages.js';

/** Licenses (SPDX) that permit distribution with a notice, which dist/licenses.txt and dist-web/licenses.md contain. */
const permitted = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'PostgreSQL', 'Unlicense']);
const exact = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/;

const readJson = (name) => JSON.parse(readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8'));
const problems = [];

const examples = ['express', 'nextjs', 'sync-customers'].map((name) => `examples/${name}/`);
for (const folder of ['', 'client/', 'web/', 'tools/', 'bench/', ...examples]) {
  const { dependencies, devDependencies, optionalDependencies } = readJson(`${folder}package.json`);
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    // The examples have the client of this checkout.
    if (!exact.test(version) && version !== 'file:../../client')
      problems.push(`${folder}package.json: ${name} must have an exact version, not ${version}.`);
  }
}
for (const folder of ['', 'tools/', 'bench/']) {
  const locked = Object.entries(readJson(`${folder}package-lock.json`).packages);
  for (const [path, { integrity, link, resolved, inBundle, optional }] of locked) {
    if (!path.includes('node_modules/') || link || inBundle) continue;
    // Developers' tools have packages for platforms other than the one that the lock file was written on, without digests.
    if (!integrity?.startsWith('sha512-') && (folder === '' || !optional))
      problems.push(`${folder}package-lock.json: ${path} has no SHA-512 digest.`);
    if (resolved) problems.push(`${folder}package-lock.json: ${path} names the registry that it came from: ${resolved}`);
  }
}

const oldestNode = minVersion(readJson('package.json').engines.node);
const packages = distributedPackages();
for (const { name, version, license, integrity, isDevelopment, node } of packages) {
  const alternatives = String(license).replace(/[()]/g, '').split(' OR ');
  if (!alternatives.some((id) => permitted.has(id)))
    problems.push(`${name} ${version} has a license that is not permitted: ${license}.`);
  if (!integrity) problems.push(`${name} ${version} is distributed, but not in the lock file.`);
  if (isDevelopment) problems.push(`${name} ${version} is distributed: it belongs to "dependencies".`);
  if (node && !satisfies(oldestNode, node)) problems.push(`${name} ${version} needs Node.js ${node}; we promise ${oldestNode}.`);
}

if (problems.length === 0) process.stdout.write(`${packages.length} packages are distributed\n`);
else process.stderr.write(`${problems.join('\n')}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
