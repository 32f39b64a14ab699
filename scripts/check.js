// Runs every check except the tests, even after a failure. The last line counts them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const toolTest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tools/vitest.config.ts'];

const checks = [
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'] },
  { name: 'types of the pages', args: ['node_modules/typescript/bin/tsc', '-p', 'web/tsconfig.json'] },
  { name: 'types of the benchmark', args: ['--import', 'tsx', 'bench/compile.ts'] },
  { name: 'lint and format', args: ['tools/node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'] },
  { name: 'width of comments', args: ['scripts/check-comments.js'] },
  { name: 'dead code', args: ['tools/node_modules/knip/bin/knip.js'] },
  { name: 'time of regular expressions', args: [...toolTest, 'regular-expressions'] },
  { name: 'snippets of GraphQL clients', args: [...toolTest, 'client-snippets'] },
  { name: 'REST clients', args: [...toolTest, 'rest-clients'] },
  { name: 'OpenAPI document', args: [...toolTest, 'openapi'] },
  {
    name: 'schema drift (fix: npm run schema)',
    args: ['node_modules/tsx/dist/cli.mjs', 'scripts/print-schema.ts'],
    expected: () => readFileSync(`${root}/schema.graphql`, 'utf8'),
  },
  {
    name: 'schema lint',
    args: [
      'tools/node_modules/eslint/bin/eslint.js',
      '--config',
      'tools/eslint.config.js',
      '--max-warnings',
      '0',
      'schema.graphql',
    ],
  },
  { name: 'schema compatibility', args: ['scripts/check-schema-changes.js'] },
  { name: 'database client drift (fix: npm run generate)', args: ['--import', 'tsx', 'scripts/generate-client.js', '--check'] },
  { name: "drift of the console's operations (fix: npm run generate)", args: ['tools/generate-operations.js', '--check'] },
  { name: 'supply chain', args: ['scripts/check-supply-chain.js'] },
  { name: 'bill of materials', args: [...toolTest, 'sbom'] },
  { name: 'tarball', args: ['scripts/check-tarball.js'], prints: true },
];

let failed = 0;
for (const { name, args, expected, prints } of checks) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  const passed = status === 0 && (!expected || expected() === stdout);
  if (!passed) failed += 1;
  process.stdout.write(`${passed ? 'ok  ' : 'FAIL'} ${name}\n`);
  if (prints || (!passed && !expected)) process.stdout.write(stdout.replace(/^(?=.)/gm, '     '));
  if (!passed) process.stdout.write(stderr);
}
process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
