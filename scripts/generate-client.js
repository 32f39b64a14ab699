// Generates the database client from prisma/schema.prisma into src/generated. It is committed, so that starting and testing
// need no generator. With --check, changes nothing and fails if the committed files differ.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestFiles, readFiles } from './generated-digest.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const committed = join(root, 'src/generated/prisma');

// The output path is relative to the schema, and the client contains the schema's text, so this generates from a copy of the
// schema in another folder. It is inside the checkout, where the generator finds the client's package.
const folder = join(root, '.setup/generate-client');
const generated = join(folder, 'src/generated/prisma');
rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, 'prisma'), { recursive: true });
cpSync(join(root, 'prisma/schema.prisma'), join(folder, 'prisma/schema.prisma'));

const { status, stdout, stderr } = spawnSync('npx prisma generate --schema ../.setup/generate-client/prisma/schema.prisma', {
  cwd: join(root, 'tools'),
  encoding: 'utf8',
  shell: true,
});
if (status !== 0) {
  process.stderr.write(`${stdout}${stderr}\nprisma generate failed (see above).\n`);
  process.exit(1);
}

if (process.argv.includes('--check')) {
  const expected = readFiles(generated);
  const actual = readFiles(committed);
  const differing = [...new Set([...expected.keys(), ...actual.keys()])].filter(
    (file) => expected.get(file) !== actual.get(file),
  );
  if (differing.length > 0) {
    const list = differing.map((file) => `  src/generated/prisma/${file}\n`).join('');
    process.stderr.write(`These files differ from what prisma/schema.prisma generates; run npm run generate:\n${list}`);
    process.exitCode = 1;
  }
} else {
  rmSync(committed, { recursive: true, force: true });
  cpSync(generated, committed, { recursive: true });
  writeFileSync(join(root, 'src/generated/prisma.sha256'), `${digestFiles(committed)}\n`);
}
rmSync(folder, { recursive: true, force: true });
