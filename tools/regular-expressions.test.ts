import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';

// JavaScript only: otherwise it looks for a Java or native program.
process.env['RECHECK_BACKEND'] = 'pure';
process.env['RECHECK_SYNC_BACKEND'] = 'pure';
const { checkSync } = await import('recheck');

const sources = fileURLToPath(new URL('../src', import.meta.url));

/** A regular expression and its location. */
interface Found {
  readonly place: string;
  readonly pattern: string;
  readonly flags: string;
}

/** The regular expressions of a source text, and the locations where one is built from something other than a literal. */
function expressionsIn(file: string, source: string): { found: Found[]; unknown: string[] } {
  const { program, errors } = parseSync(file, source);
  expect(errors, file).toEqual([]);
  const found: Found[] = [];
  const unknown: string[] = [];
  const placeOf = (node: Node) => `${file}:${source.slice(0, node.start).split('\n').length}`;
  const construct = (node: Node & { arguments: readonly Node[] }) => {
    const [pattern, flags] = node.arguments;
    const isText = (one: Node | undefined): one is Node & { value: string } =>
      one?.type === 'Literal' && typeof one.value === 'string';
    if (!isText(pattern) || (flags && !isText(flags))) unknown.push(placeOf(node));
    else found.push({ place: placeOf(node), pattern: pattern.value, flags: isText(flags) ? flags.value : '' });
  };
  new Visitor({
    Literal(node) {
      if ('regex' in node && node.regex) found.push({ place: placeOf(node), ...node.regex });
    },
    NewExpression(node) {
      if (node.callee.type === 'Identifier' && node.callee.name === 'RegExp') construct(node);
    },
    CallExpression(node) {
      const { callee } = node;
      if (callee.type === 'Identifier' && callee.name === 'RegExp') construct(node);
      // These methods convert a string to a regular expression.
      const isSearch =
        callee.type === 'MemberExpression' &&
        callee.property.type === 'Identifier' &&
        ['match', 'matchAll', 'search'].includes(callee.property.name);
      if (isSearch && node.arguments[0]?.type === 'Literal' && typeof node.arguments[0].value === 'string') construct(node);
    },
  }).visit(program);
  return { found, unknown };
}

/** How the time grows with the text, unless it is linear. An analysis that times out counts as well. */
function superLinear({ pattern, flags }: Found): string | undefined {
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
  const all = files.map((file) => expressionsIn(file, readFileSync(join(sources, file), 'utf8')));
  const found = all.flatMap((one) => one.found);
  expect(found.length).toBeGreaterThan(50);
  expect(all.flatMap((one) => one.unknown)).toEqual([]);
  const growths = new Map<string, string | undefined>(); // the analysis takes long, and some occur several times
  const slow = found.flatMap((one) => {
    const written = `/${one.pattern}/${one.flags}`;
    if (!growths.has(written)) growths.set(written, superLinear(one));
    const growth = growths.get(written);
    return growth ? [`${one.place} /${one.pattern}/${one.flags}: ${growth}`] : [];
  });
  expect(slow).toEqual([]);
});

test.each([
  `const zeros = /0+$/;`,
  String.raw`const rest = /^\s*,?\s*$/;`,
  `const query = /[?#].*$/;`,
  String.raw`const number = /^[+-]?(?:0[xX][0-9a-fA-F]+|\d*\.?\d+(?:[eE][+-]?\d+)?|\d+\.)$/;`,
  `const nested = /^(a+)+$/;`,
  `const same = /^(?:a|a)*$/u;`,
  `const comment = text.replace(/<!--.*?-->/g, '');`,
  String.raw`const made = new RegExp('\\s+$', 'm');`,
  `const called = RegExp('0+$');`,
  `const searched = text.search('0+$');`,
])('finds a slow one in %s', (source) => {
  const { found } = expressionsIn('example.ts', source);
  expect(found.map(superLinear)).toEqual([expect.stringMatching(/polynomial|exponential/)]);
});

test('finds one that is not built from a literal', () => {
  expect(expressionsIn('example.ts', 'new RegExp(pattern);\nRegExp(a + b);').unknown).toEqual(['example.ts:1', 'example.ts:2']);
});
