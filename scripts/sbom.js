// Writes dist/sbom.cdx.json: the software bill of materials of the published package, in CycloneDX 1.6. `npm sbom --omit dev`
// leaves out what a tool depends on as well, graphql and pg for instance.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { distributedPackages } from './distributed-packages.js';

const fromRoot = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const { name, version, license } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'));

const sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { ...component({ name, version, license }), type: 'application' } },
  components: distributedPackages().map(component),
};
writeFileSync(fromRoot('dist/sbom.cdx.json'), `${JSON.stringify(sbom, undefined, 2)}\n`);

function component({ name, version, license, integrity }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', 'bom-ref': purl, name, version, licenses: licenses(license), purl, hashes: hashes(integrity) };
}

/** An SPDX identifier, or an expression of several. */
function licenses(license) {
  return /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
}

function hashes(integrity) {
  if (!integrity?.startsWith('sha512-')) return undefined;
  return [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }];
}
