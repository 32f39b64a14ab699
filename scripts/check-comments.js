// Checks that no line of a comment is longer than the code may be, because the formatter does not wrap comments. Prints each that
// is, and exits with 1.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['src', 'packages', 'test', 'drill', 'scripts', 'bench', 'web', 'client', 'examples', 'tools'];
const excluded = new Set(['node_modules', 'dist', 'generated', 'generated.ts']);
const { lineWidth } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')).formatter;
if (!Number.isInteger(lineWidth)) throw new Error('biome.json has no formatter.lineWidth: nothing to compare the comments with.');

/** A line of a comment by itself, or one that ends with a comment. */
const comment = /^\s*(?:\/\/|\/\*|\*(?:\s|$))|[;,{}()\]]\s+(?:\/\/|\/\*) /;
/** A comment with an address cannot always be wrapped. */
const address = /https?:\/\/\S/;

function* filesIn(folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (excluded.has(entry.name) || entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* filesIn(path);
    else if (/\.(?:[cm]?[jt]s|tsx|css)$/.test(entry.name)) yield path;
  }
}

let files = 0;
const problems = [];
for (const path of folders.flatMap((folder) => [...filesIn(folder)])) {
  files += 1;
  for (const [index, line] of readFileSync(join(root, path), 'utf8').split('\n').entries()) {
    if (line.length > lineWidth && comment.test(line) && !address.test(line))
      problems.push(`${path}:${index + 1}: the comment has ${line.length} columns; wrap it at ${lineWidth}.`);
  }
}

if (problems.length === 0) process.stdout.write(`checked the comments of ${files} files\n`);
else process.stderr.write(`${problems.join('\n')}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
