// Checks that no line of a comment is longer than the code may be, because the formatter does not wrap comments. Prints each that
// is, and exits with 1.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { lineWidth } = JSON.parse(readFileSync('biome.json', 'utf8')).formatter;
/** A line of a comment by itself, or one that ends with a comment. */
const comment = /^\s*(?:\/\/|\/\*|\*(?:\s|$))|[;,{}()\]]\s+(?:\/\/|\/\*) /;
/** A comment with an address cannot always be wrapped. */
const address = /https?:\/\/\S/;

const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
const files = tracked.split('\0').filter((file) => /\.(?:[cm]?[jt]s|tsx|css)$/.test(file) && !/generated/.test(file));
const problems = files.filter(existsSync).flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      line.length > lineWidth && comment.test(line) && !address.test(line)
        ? [`${file}:${index + 1}: the comment has ${line.length} columns; wrap it at ${lineWidth}.`]
        : [],
    ),
);
process.stderr.write(problems.map((problem) => `${problem}\n`).join(''));
process.exitCode = problems.length === 0 ? 0 : 1;
