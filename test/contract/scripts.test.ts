import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const all = Object.entries(scripts);

test.each(all)('npm run %s works in a fresh clone: it runs the setup first', (_, script) => {
  // scripts/gateway.js runs the setup itself.
  expect(script).toMatch(/^(exec node scripts\/gateway\.js|node scripts\/setup\.js)\b/);
});

test.each(all)('npm run %s redirects no output into a file, which a failure would leave empty', (_, script) => {
  expect(script).not.toContain('>');
});
