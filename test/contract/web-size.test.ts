import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/package-root.ts';

interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
}

const folder = fileURLToPath(new URL('dist-web', packageRoot));
const manifest: Readonly<Record<string, Chunk>> = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));

/** The files that a browser loads before it shows these chunks. */
function filesOf(keys: readonly string[], seen = new Set<string>()): string[] {
  const added = keys.filter((key) => !seen.has(key));
  for (const key of added) seen.add(key);
  return added.flatMap((key) => {
    const { file, css = [], imports = [] } = manifest[key] as Chunk;
    return [file, ...css, ...filesOf(imports, seen)];
  });
}

const gzippedBytes = (keys: readonly string[]): number =>
  [...new Set(filesOf(keys))].reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0);

test.each([
  ['the list of groups', ['console.html', 'console/groups/groups.tsx'], 120_000],
  ['the overview', ['console.html', 'console/overview/overview.tsx'], 120_000],
  ['a page with an editor', ['console.html', 'console/docs-config/docs-config.tsx', 'console/ui/editor.ts'], 300_000],
])('%s of the console loads little', (_, keys, mostBytes) => {
  expect(gzippedBytes(keys)).toBeLessThan(mostBytes);
});
