// Compiles the competitors, because a loader that compiles at run time would distort the measurement. Before, generates types and
// data model of the Pothos plugin from the gateway's schema, which does not have that generator.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const fromRoot = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const run = (program, args, folder) =>
  execFileSync(program, args, { cwd: fromRoot(folder), stdio: 'inherit', shell: process.platform === 'win32' });

const program = JSON.stringify(fromRoot('bench/node_modules/@pothos/plugin-prisma/bin/generator.js')).slice(1, -1);
const generator = `
generator pothos {
  provider     = "node ${program}"
  clientOutput = "../../src/generated/prisma/client.ts"
  output       = "pothos.ts"
}
`;
const schema = readFileSync(fromRoot('prisma/schema.prisma'), 'utf8').replace('../src/generated', '../../src/generated');
mkdirSync(fromRoot('bench/generated'), { recursive: true });
writeFileSync(fromRoot('bench/generated/schema.prisma'), schema + generator);
run('npx', ['prisma', 'generate', '--schema', '../bench/generated/schema.prisma', '--generator', 'pothos'], 'tools');
run('npx', ['tsc', '-p', 'bench/tsconfig.json'], '.');
