// Runs every check except the tests, even after a failure. The last line counts them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// Where npm puts the programs of packages. Those of the checkout come first: both have a TypeScript.
process.env.PATH = [join(root, 'node_modules/.bin'), join(root, 'tools/node_modules/.bin'), process.env.PATH].join(delimiter);

const toolTest = 'vitest run --config tools/vitest.config.ts';

const checks = [
  { name: 'types', command: 'tsc -p tsconfig.json' },
  { name: 'types of the pages', command: 'tsc -p web/tsconfig.json' },
  { name: 'types of the client', command: 'tsc -p client/tsconfig.json' },
  { name: 'types of the benchmark', command: 'tsc -p bench/tsconfig.json --noEmit' },
  { name: 'lint and format', command: 'biome check --error-on-warnings .' },
  { name: 'width of comments', command: 'node scripts/check-comments.js' },
  { name: 'dead code', command: 'knip' },
  { name: 'time of regular expressions', command: `${toolTest} regular-expressions` },
  { name: 'snippets of GraphQL clients', command: `${toolTest} client-snippets` },
  { name: 'REST clients', command: `${toolTest} rest-clients` },
  { name: 'OpenAPI document', command: `${toolTest} openapi` },
  {
    name: 'schema drift (fix: npm run schema)',
    command: 'tsx scripts/print-schema.ts',
    expected: () => readFileSync(`${root}/schema.graphql`, 'utf8'),
  },
  { name: 'schema lint', command: 'eslint --config tools/eslint.config.js --max-warnings 0 schema.graphql' },
  {
    name: 'database client drift (fix: npm run generate)',
    command: 'node --import tsx scripts/generate-client.js --check',
  },
  {
    name: 'drift of the operations of console and client (fix: npm run generate)',
    command: 'node --import tsx tools/generate-operations.js --check',
  },
  { name: 'a new field of user groups, everywhere', command: `${toolTest} new-field --reporter verbose`, prints: true },
  { name: 'supply chain', command: 'node scripts/check-supply-chain.js' },
  { name: 'tarball', command: 'node scripts/check-tarball.js', prints: true },
];

let failed = 0;
for (const { name, command, expected, prints } of checks) {
  const { status, stdout, stderr } = spawnSync(command, { cwd: root, encoding: 'utf8', shell: true });
  const passed = status === 0 && (!expected || expected() === stdout);
  if (!passed) failed += 1;
  process.stdout.write(`${passed ? 'ok  ' : 'FAIL'} ${name}\n`);
  if (prints || (!passed && !expected)) process.stdout.write(stdout.replace(/^(?=.)/gm, '     '));
  if (!passed) process.stdout.write(stderr);
}
process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
