import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFixes } from '../../src/docs-config/apply-fixes.ts';
import { codes } from '../../src/docs-config/rules/registry.ts';
import { validateDocsConfig } from '../../src/docs-config/validate.ts';

/** Every rule is an error, so its fixes would be applied, too. */
const strict = { strict: true, severities: Object.fromEntries(codes.map((code) => [code, 'error' as const])) };

const inDocument = (value: string) => `{\n  "name": ${value},\n  "navigation": []\n}\n`;

test.each([
  ['a hexadecimal escape', "'Acme\\xa0Docs'"],
  ['backslashes of a path', "'C:\\Users\\Docs'"],
  ['a code point in braces', "'Smile \\u{1F600}'"],
  ['an octal escape', "'a\\0b'"],
  ['an unknown escape in curly quotes', '“a\\d”'],
  ['an unknown escape in full-width quotes', '＂a\\d＂'],
  ['an unfinished escape in backticks', '`a\\u12`'],
  ['a continued line', '"Acme \\\nDocs"'],
  ['a continued line (CRLF)', '"Acme \\\r\n  Docs"'],
  ['a continued line in single quotes', "'Acme \\\nDocs'"],
  ['a continued line that begins with a bracket', '"Acme \\\n[Docs]"'],
  ['a line like a comment', '"see\n//cdn.acme.com/x"'],
  ['a line like a comment, and a comma in the string', '"see,\n//cdn.acme.com/x"'],
  ['a line like a comment, not the next one', '"see\n\n  # x"'],
  ['a line that begins with a bracket', '"see\n[docs] for more"'],
  ['a line that begins with a quote', '"see\n\'docs\' for more"'],
  ['a line in backticks that begins with a quote', '`see\n"docs"\nfor more`'],
  ['a template', '`\u0024{base}/docs`'],
  ['three double quotes', '"""Acme"""'],
  ['three single quotes', "'''Acme\n'Docs', \"API\"\n'''"],
  ['doubled quotes', "'Acme''s docs'"],
  ['doubled double quotes', '"Acme""s docs"'],
  ['quotes inside of quotes', "'say 'hi', ok'"],
  ['quotes inside of curly quotes', '“say "hi" now”'],
  ['an apostrophe', "'it's here'"],
  ['a raw string', "r'C:\\docs'"],
  ['a comment in an unclosed string', '"Acme, // the name'],
])('--fix leaves a string as it is whose meaning is not certain: %s', (_, value) => {
  const source = inDocument(value);
  for (const options of [{}, strict]) {
    expect(applyFixes(source, options)).toEqual({ text: source, fixes: [], fixCount: 0 });
    expect(validateDocsConfig(source, options).diagnostics[0]).toMatchObject({
      code: 'json-syntax',
      severity: 'error',
      fix: null,
    });
  }
});

test.each([
  ['a blank line and an indentation', '"one\n\n    two"', 'one\n\n    two'],
  ['a line break (CRLF)', '"one \r\n\ttwo"', 'one \n\ttwo'],
  ['a line break in backticks', '`one\n  two`', 'one\n  two'],
  ['known escapes in other quotes', "'\\u00e9\\n\\\\d\\'\\\"'", 'é\n\\d\'"'],
  ['an unclosed string before a key', '"one', 'one'],
])('--fix keeps what a string means: %s', (_, value, meant) => {
  expect(JSON.parse(applyFixes(inDocument(value)).text).name).toBe(meant);
});

test('a rule offers no fix for what was guessed', () => {
  const source =
    '{"name": "Acme", "navigation": [], "colors": {"primary": "0d\\9373"}, "footerSocials": {"G\\itHub": "https://a.test"}}';
  expect(applyFixes(source, strict)).toEqual({ text: source, fixes: [], fixCount: 0 });
});

/** A text where a value belongs, with what it means; without it, a reader cannot know. */
interface Fragment {
  readonly text: string;
  readonly means?: { readonly value: unknown };
  /** Whether every mistake in it has a fix. */
  readonly fixable: boolean;
}

interface Piece {
  readonly text: string;
  readonly means?: string;
}

const knownPieces: readonly Piece[] = [
  ...['a', 'Docs', ' ', ', ', ': ', '//x', ' # x', '[', '}', '"', "'", '`', '“', '’', 'é', '\u00a0', '😀', '$'].map((text) => ({
    text,
    means: text,
  })),
  ...['n', 't', '"', '\\', '/', 'u00e9', 'ud83d', 'u0000'].map((code) => ({
    text: `\\${code}`,
    means: JSON.parse(`"\\${code}"`),
  })),
  ...["'", '`'].map((quote) => ({ text: `\\${quote}`, means: quote })),
  ...['\t', '\u0000', '\u001f', '\nb', '\n\n  b', ' \n\tb'].map((text) => ({ text, means: text })),
  { text: '\r\n b', means: '\n b' },
];

const unknownPieces = [
  ...['\\xa0', '\\d', '\\0', '\\u{1F600}', '\\u12', '\\U0001F600', '\\é', '\\\u0000'],
  ...['\\\nb', '\\\r\n  b', '\\\n[', '\n[b]', '\n// b', '\n"b', "\n  'b", '\n}'],
];

const quotes = ['""', "''", '``', '“”', '””', '„“', '“"', '‘’', "’'", '＂＂'] as const;

const closersOf: Readonly<Record<string, string>> = { '“': '”“"', '”': '”“"', '„': '”“"', '‘': "’‘'", '’': "’‘'", '＂': '＂"' };

const words = fc.array(fc.constantFrom(...knownPieces), { maxLength: 6 });

const strings: fc.Arbitrary<Fragment> = fc.record({ quotes: fc.constantFrom(...quotes), words }).map(({ quotes, words }) => {
  const closers = closersOf[quotes[0] as string] ?? (quotes[0] as string);
  const kept = words.filter(({ text }) => text.startsWith('\\') || ![...closers].some((quote) => text.includes(quote)));
  const text = kept.map((piece) => piece.text).join('');
  const isTemplate = quotes === '``' && text.includes('${');
  // A text in three quotes is another string.
  const inner = `v${text}v`;
  const means = { value: `v${kept.map((piece) => piece.means).join('')}v` };
  return { text: quotes[0] + inner + quotes[1], fixable: !isTemplate, ...(!isTemplate && { means }) };
});

const unknownStrings: fc.Arbitrary<Fragment> = fc
  .record({
    quotes: fc.constantFrom(...quotes),
    first: fc.constantFrom('a', 'Docs', '\\\\'),
    unknown: fc.constantFrom(...unknownPieces),
  })
  .filter(
    ({ quotes, unknown }) =>
      ![...(closersOf[quotes[0] as string] ?? (quotes[0] as string))].some((quote) => unknown.includes(quote)),
  )
  .map(({ quotes, first, unknown }) => ({ text: `${quotes[0]}v${first}${unknown} b${quotes[1]}`, fixable: false }));

const otherStrings = fc.constantFrom<Fragment>(
  ...['`a \u0024{b}`', '"""a"""', "'''a b'''", "'it's'", "'a''b'", '"a""b"', "r'a'", '“a "b" c”', "'a' + 'b'"].map((text) => ({
    text,
    fixable: false,
  })),
);

const fragments = fc.oneof({ weight: 3, arbitrary: strings }, unknownStrings, otherStrings);

/** Documents of a list and of members, with what they mean, and `null` for what a reader cannot know. */
const oddDocuments = fc
  .record({
    items: fc.array(fragments, { maxLength: 3 }),
    members: fc.array(fragments, { maxLength: 3 }),
    separator: fc.constantFrom(', ', ',\n  ', ',\r\n\t'),
    trailing: fc.constantFrom('', ','),
  })
  .map(({ items, members, separator, trailing }) => {
    const list = `[${items.map(({ text }) => text).join(separator)}${items.length > 0 ? trailing : ''}]`;
    const all = [`"list": ${list}`, ...members.map(({ text }, index) => `'k${index}': ${text}`)];
    return { source: `{${all.join(separator)}${trailing}\n}\n`, items, members, fragments: [...items, ...members] };
  });

test('--fix writes what the document means, and nothing in place of what a reader cannot know', () => {
  let parsed = 0;
  fc.assert(
    fc.property(oddDocuments, fc.constantFrom({}, strict), ({ source, items, members, fragments }, options) => {
      const { text } = applyFixes(source, options);
      const unknown = fragments.filter(({ means }) => !means);
      const known = (fragment: Fragment) => (fragment.means ? fragment.means.value : null);
      let masked = text;
      let from = 0;
      for (const fragment of unknown) {
        const at = masked.indexOf(fragment.text, from);
        expect(at, `${fragment.text} in ${text}`).toBeGreaterThanOrEqual(0);
        masked = `${masked.slice(0, at)}null${masked.slice(at + fragment.text.length)}`;
        from = at + 4;
      }
      if (unknown.length > 0) expect(validateDocsConfig(text, options).valid).toBe(false);
      if (unknown.length > 0) expect(isJson(text), text).toBe(false);
      else if (fragments.every(({ fixable }) => fixable)) expect(isJson(text), `${source} ${text}`).toBe(true);
      if (!isJson(masked)) return;
      parsed++;
      const meant = {
        list: items.map(known),
        ...Object.fromEntries(members.map((member, index) => [`k${index}`, known(member)])),
      };
      expect(JSON.parse(masked), `${source} ${text}`).toEqual(meant);
    }),
    { numRuns: 1500 },
  );
  expect(parsed).toBeGreaterThan(300);
}, 60_000);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
