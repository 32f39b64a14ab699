import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';

// JavaScript only: otherwise it looks for a Java or native program.
process.env['RECHECK_BACKEND'] = 'pure';
process.env['RECHECK_SYNC_BACKEND'] = 'pure';
const { checkSync } = await import('recheck');

const sources = fileURLToPath(new URL('../src', import.meta.url));

interface Expression {
  readonly pattern: string;
  readonly flags: string;
}

/** The regular expressions of a source text: literals, and those that are made from a text. */
function expressionsIn(source: string): Expression[] {
  const found: Expression[] = [];
  new Visitor({
    Literal(node) {
      if ('regex' in node && node.regex) found.push(node.regex);
    },
    NewExpression({ callee, arguments: [pattern] }) {
      if (callee.type === 'Identifier' && callee.name === 'RegExp')
        found.push({ pattern: pattern?.type === 'Literal' ? String(pattern.value) : '(not a literal)*', flags: '' });
    },
  }).visit(parseSync('source.ts', source).program);
  return found;
}

/** How the time grows with the text, unless it is linear. An analysis that times out counts as well. */
function superLinear({ pattern, flags }: Expression): string | undefined {
  if (pattern === '(not a literal)*') return 'is not built from a literal';
  // Whether the time is linear does not depend on the limits of repetitions; the time of the analysis does.
  const shortened = pattern.replace(/\d+(?=[\d,]*\})/g, (count) => String(Math.min(Number(count), 10)));
  // What the analysis cannot prove, such as with a look-behind, it tries on random texts: the same ones each time.
  const diagnostics = checkSync(shortened, flags, { timeout: 20_000, randomSeed: 1 });
  if (diagnostics.status === 'safe') return undefined;
  return diagnostics.status === 'vulnerable' ? diagnostics.complexity.summary : diagnostics.status;
}

test('every regular expression in src takes linear time', () => {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('generated'),
  );
  // The analysis takes long, and some occur several times.
  const all = new Map<string, Expression>();
  for (const file of files)
    for (const one of expressionsIn(readFileSync(join(sources, file), 'utf8'))) all.set(`/${one.pattern}/${one.flags}`, one);
  expect(all.size).toBeGreaterThan(50);
  const slow = [...all].map(([text, one]) => [text, superLinear(one)]).filter(([, growth]) => growth !== undefined);
  expect(slow).toEqual([]);
});

test.each(['const nested = /^(a+)+$/;', "const made = new RegExp('0+$');", 'const unknown = new RegExp(pattern);'])(
  'finds a slow one in %s',
  (source) => {
    expect(expressionsIn(source).map(superLinear)).toEqual([expect.stringMatching(/polynomial|exponential|literal/)]);
  },
);
