// Runs every check except the tests, even after a failure. The last line counts them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const checks = [
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'] },
  { name: 'lint and format', args: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'] },
  { name: 'dead code', args: ['node_modules/knip/bin/knip.js'] },
  {
    name: 'schema drift (fix: npm run schema)',
    args: ['node_modules/tsx/dist/cli.mjs', 'scripts/print-schema.ts'],
    expected: () => readFileSync(`${root}/schema.graphql`, 'utf8'),
  },
];

let failed = 0;
for (const { name, args, expected } of checks) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  const passed = status === 0 && (!expected || expected() === stdout);
  if (!passed) failed += 1;
  process.stdout.write(`${passed ? 'ok  ' : 'FAIL'} ${name}\n${passed || expected ? '' : stdout}${passed ? '' : stderr}`);
}
process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
