// Generates the database client from prisma/schema.prisma into src/generated. It is committed, so that starting and testing
// need no generator. With --check, changes nothing and fails if the committed files differ.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const committed = join(root, 'src/generated/prisma');

// The output path is relative to the schema, and the client contains the schema's text, so this generates from a copy of the
// schema in another folder. It is inside the checkout, where the generator finds the client's package.
const folder = join(root, '.setup/generate-client');
const generated = join(folder, 'src/generated/prisma');
rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, 'prisma'), { recursive: true });
cpSync(join(root, 'prisma/schema.prisma'), join(folder, 'prisma/schema.prisma'));
const args = ['prisma', 'generate', '--schema', '../.setup/generate-client/prisma/schema.prisma'];
execFileSync('npx', args, {
  cwd: join(root, 'tools'),
  stdio: ['ignore', 'ignore', 'inherit'],
  shell: process.platform === 'win32',
});

if (process.argv.includes('--check')) {
  const expected = readFiles(generated);
  const actual = readFiles(committed);
  const names = [...new Set([...expected.keys(), ...actual.keys()])].filter((name) => expected.get(name) !== actual.get(name));
  if (names.length > 0) {
    process.stderr.write(
      `These files differ from what prisma/schema.prisma generates; run npm run generate:\n${names.join('\n')}\n`,
    );
    process.exitCode = 1;
  }
} else {
  rmSync(committed, { recursive: true, force: true });
  cpSync(generated, committed, { recursive: true });
}
rmSync(folder, { recursive: true, force: true });

/** The text of each file below a folder, by its path. */
function readFiles(path) {
  const names = readdirSync(path, { recursive: true }).filter((name) => name.endsWith('.ts'));
  return new Map(names.map((name) => [name, readFileSync(join(path, name), 'utf8')]));
}
