// Builds the pages of this folder into dist-web: pages with placeholders, assets whose names change with their content, each
// also compressed. Types are checked elsewhere, by `npm run check`.
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';

// Also when a test run builds: Vite would otherwise take the development version of React.
process.env.NODE_ENV = 'production';

const root = fileURLToPath(new URL('..', import.meta.url));
// Written next to dist-web, which is replaced only when everything is complete: a running gateway serves files from it. The
// previous build is kept, because people may have its pages open, which load more of it later.
const [next, previous, output] = ['dist-web.next', 'dist-web.previous', 'dist-web'].map((name) => join(root, name));

const compressible = new Set(['.js', '.css', '.svg', '.json', '.map', '.wasm', '.ttf']);
/** Smaller files fit into one packet anyway. */
const minCompressedBytes = 1_024;
/** Above this length the best compression takes seconds, and gains a few percent. */
const maxBestBytes = 500_000;

await build({ configFile: fileURLToPath(new URL('vite.config.js', import.meta.url)), logLevel: 'warn' });
await Promise.all(readdirSync(join(next, 'assets')).map((name) => compress(join(next, 'assets', name))));
if (existsSync(output)) {
  rmSync(previous, { recursive: true, force: true });
  renameSync(output, previous);
}
renameSync(next, output);

/** Writes `file.br` and `file.gz`, if they are smaller. */
async function compress(file) {
  if (!compressible.has(extname(file))) return;
  const content = await readFile(file);
  if (content.length < minCompressedBytes) return;
  const quality = content.length > maxBestBytes ? 9 : 11;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(content, { params }),
    promisify(gzip)(content, { level: 9 }),
  ]);
  if (brotli.length < content.length) await writeFile(`${file}.br`, brotli);
  if (gzipped.length < content.length) await writeFile(`${file}.gz`, gzipped);
}
