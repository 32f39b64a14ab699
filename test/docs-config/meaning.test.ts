import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFixes } from '../../src/docs-config/apply-fixes.ts';
import { codes } from '../../src/docs-config/rules/registry.ts';
import { validateDocsConfig } from '../../src/docs-config/validate.ts';

/** Every rule is an error, so its fixes would be applied, too. */
const strict = { strict: true, severities: Object.fromEntries(codes.map((code) => [code, 'error' as const])) };

const inDocument = (value: string) => `{\n  "name": ${value},\n  "navigation": []\n}\n`;

test.each(['"Acme Pro”', '"Acme \\"Pro\\"”', '"C:\\\\docs\\\\”'])(
  '--fix replaces a closing quote of another kind: %s',
  (text) => {
    const source = `{\n"name": ${text},\n"navigation": []}`;
    expect(applyFixes(source, {}).text).toBe(source.replace('”', '"'));
  },
);

test('--fix does not divide a text with a comma in a list, whose opening quote is missing', () => {
  const source = '{"name": "Acme", "navigation": [], "openapi": ["a.yaml", Fast, simple"]}';
  expect(applyFixes(source, {})).toEqual({ text: source, fixes: [], fixCount: 0 });
});

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
  ['a word in doubled quotes', '"Acme ""Pro"" Docs"'],
  ['a word in doubled quotes at the end', '"Acme ""Pro"""'],
  ['a word in doubled quotes at the begin', '"""Acme"" Pro"'],
  ['nothing but a word in doubled quotes', '""Acme""'],
  ['strings side by side', '"a" "b" "c"'],
  ['two strings side by side', '"a" "b"'],
  ['a text that ends with a single quote', '"Acme\''],
  ['a text that ends with a backtick', '"Acme`'],
  ['a text that ends with a single curly quote', '"Acme’'],
  ['a text that ends with curly quotes', '"He said “hi”'],
  ['a length in inches', '"24""'],
  ['a quotation of which one mark is escaped', '"Acme \\"Pro""'],
  ['a folder whose last separator is before the quotation mark', '"C:\\\\dir\\\\""'],
  ['a length in inches behind a word', '"Screen 24""'],
  ['a length in inches without quotes', 'Screen 24"'],
  ['lengths in inches', '"24"" x 36"""'],
  ['quotes inside of quotes', "'say 'hi', ok'"],
  ['quotes inside of curly quotes', '“say "hi" now”'],
  ['an apostrophe', "'it's here'"],
  ['a raw string', "r'C:\\docs'"],
  ['an escaped backtick in curly quotes, and quotes of more than one string', '“a\n\n  b\\"[\\`\nb”'],
  ['a tab in curly quotes, and quotes of more than one string', '“a\n\n  b\\": \t\r\n b"'],
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

test.each([
  ['colors in a list', '"x": [#fff, #000\n]'],
  ['an item like a comment', '"x": ["a", #b, "c"\n]'],
  ['a URL in a list', '"x": ["a", //cdn.acme.com/x\n]'],
  ['a URL between items', '"x": ["a", //cdn.acme.com/x, "c"\n]'],
  ['a URL at the begin of a list', '"x": [\n  //cdn.acme.com/x\n]'],
  ['a comment without a space before an item', '"x": [\n  //b\n  "c"\n]'],
  ['a comment without a space, with punctuation', '"x": ["a", //b: c\n]'],
  ['a comment without a space, with a bracket', '"x": ["a", //b ["c"]\n]'],
  ['a comment with a space, then a URL', '"x": [\n  //cdn.acme.com/x, // one\n  //cdn.acme.com/y\n]'],
  ['a color of seven digits', '"x": {"primary": #0d93731, "light": "#abc"}'],
  ['a color that may be a word', '"primary": #bad\n  "#fff"'],
  ['a name', '"x": #Acme, "y": []'],
  ['a URL', '"favicon": //cdn.acme.com/f.svg,\n  "x": []'],
  ['a URL without a comma after it', '"favicon": //cdn.acme.com/f.svg\n  "x": []'],
  ['an item after an item', '"x": ["a" #b, "c"\n]'],
  ['a color after an item', '"x": ["#fff" #000]'],
  ['a key like a comment', '"x": { "a": 1, #b: 2 }'],
  ['a hexadecimal number beyond 2^53', '"x": 0xFFFFFFFFFFFFFFFFFF'],
  ['a hexadecimal number', '"x": [0x1F, +0x1F]'],
  ['a hexadecimal number where a string belongs', '"openapi": 0x1F'],
  ['numbers without a digit before or behind the point where strings belong', '"versions": [0x10, .5, 1., +1.50]'],
  ['a number that may be a color', '"colors": {"primary": 0xff00\n}'],
  ['a color as a number', '"x": 0x0d9373'],
  ['a short color as a number', '"x": 0xfff'],
  ['numbers of other languages', '"x": [1_000, 10n, 0b101, 0o17, 5.e3, 0xF_F, Infinity, -Infinity, nan]'],
  ['words of other languages', '"x": [yes, no, On, tRUE, none]'],
  ['a number and a comment', '"x": 5//five'],
  ['a word and a comment', '"x": true#five'],
  ['a string without its closing quote, then a key', '"x": "Acme, "favicon": "/f.svg"'],
  ['a string without its closing quote, then a literal', '"x": "Acme, "y": true'],
  ['a string with another closing quote', '"x": "abc”, "y": 1'],
  ['a string that ends in a backslash', '"x": "C:\\", "y": "d"'],
  ['a quote for the colon before a URL', '"favicon"" "//cdn.acme.com/f.svg"'],
  ['a quote for the colon before a color', '"x": {"primary"" "#0d9373"\n}'],
  ['a semicolon for the quote of a key before a color', '"x": {"primary;: "#0d9373"\n}'],
  ['what may be a comment, directly behind a quote', '"x": "a"// b'],
  ['what may be a comment, or a key without its opening quote', '#b": 1'],
  ['a key behind what may be a comment', '/*b*/c": 1'],
  ['a value behind what may be a comment', '"x": /*b*/ c"'],
  ['a dash before an item', '"x": ["a",-\n "b"]'],
  ['punctuation as an item', '"x": ["a", /, "b"]'],
  ['a dash and a quote', '"x": -"'],
  ['a dash as a key', '-: 1'],
  ['a key of strings side by side', '"a" "b" "c": 1'],
  ['a key with a length in inches', '"24"": 1'],
  ['a key with a length in inches, then text', '"24" wide": 1'],
  ['strings side by side behind a key without its colon', '"x" "a" "b" "c"'],
  ['numbers and calculations of other languages', '"x": [\n1L,\n1.0f,\n12345d,\n60/2,\n5m,\n-1f,\n2024-01-31,\n0d9373\n]'],
  ['a value behind a mark of a comment', '"favicon":// "/f.svg",\n  "y": 1'],
  ['a value behind a mark of a comment, and a space', '"favicon": # /f.svg\n  "y": 1'],
  ['a key behind a mark of a comment', '"x": {"y": 1},# "logo": {\n  "light": "/l.svg",\n  "dark": "/d.svg"\n}'],
  ['what may be the first line of an object, or a comment', '# "logo": {\n  "light": "/l.svg"\n}'],
  ['two objects without the braces between them', '"x": [{\n"group": "a",\n"pages": ["a"]\n"group": "b",\n"pages": ["b"]\n}]'],
  ['a brace too many, of which it is not known which', '"x": {"anchors": {"from": "#abc"}, "to": "#fff"}}, "favicon": "/f.svg"'],
  ['what is left of a merge conflict', '"x": "A",\n||||||| base\n"x": "B",\n=======\n"x": "C",\n>>>>>>> theirs'],
  ['a last mark of a merge conflict', '"x": "A"\n>>>>>>> theirs\n"y": "B",'],
])('--fix leaves text as it is whose meaning is not certain: %s', (_, members) => {
  const source = `{\n  "name": "Acme", "navigation": [],\n  ${members}\n}\n`;
  for (const options of [{}, strict]) {
    expect(applyFixes(source, options)).toEqual({ text: source, fixes: [], fixCount: 0 });
    const syntax = validateDocsConfig(source, options).diagnostics.filter(({ code }) => code === 'json-syntax');
    expect(syntax[0]).toMatchObject({ severity: 'error', fix: null });
  }
});

test.each([
  ['[ // one\n  # two\n  //"b",\n  #-----\n  "c" //third\n]', '[ \n  "c" \n]'],
  ['{"a": "b" // it\'s "c"\n}', '{"a": "b" \n}'],
  ['[ "a",\n  /*b*/ "c" ]', '[ "a",\n   "c" ]'],
  ['{"light": #0d9373, "dark": #fff, anchor: #000}', '{"light": "#0d9373", "dark": "#fff", "anchor": "#000"}'],
  ['{"light": #0d9373\n  "dark": #fff}', '{"light": "#0d9373",\n  "dark": "#fff"}'],
  ['{"a": 1, // {\n  // "b": [2]\n  // }\n "c": [3] }', '{"a": 1, \n "c": [3] }'],
  ['{"a":\n  // "b"\n  "c"}', '{"a":\n  "c"}'],
  ['[{"a": 1\n"ab": 2}]', '[{"a": 1,\n"ab": 2}]'],
  ['[a/b#c, https://a.test/#b, 1.2.3, d93730]', '["a/b#c", "https://a.test/#b", "1.2.3", "d93730"]'],
])('--fix writes %s as %s', (value, fixed) => {
  expect(applyFixes(`{"name": "Acme", "x": ${value}}`).text).toBe(`{"name": "Acme", "x": ${fixed}}`);
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
  '\\xa0',
  '\\d',
  '\\0',
  '\\u{1F600}',
  '\\u12',
  '\\U0001F600',
  '\\é',
  '\\\u0000',
  '\\\nb',
  '\\\r\n  b',
  '\\\n[',
  '\n[b]',
  '\n// b',
  '\n"b',
  "\n  'b",
  '\n}',
];

const quotes = ['""', "''", '``', '“”', '””', '„“', '“"', '‘’', "’'", '＂＂'] as const;

const closersOf: Readonly<Record<string, string>> = { '“': '”“"', '”': '”“"', '„': '”“"', '‘': "’‘'", '’': "’‘'", '＂': '＂"' };

const words = fc.array(fc.constantFrom(...knownPieces), { maxLength: 6 });

const strings: fc.Arbitrary<Fragment> = fc.record({ quotes: fc.constantFrom(...quotes), words }).map(({ quotes, words }) => {
  const closers = closersOf[quotes[0] as string] ?? (quotes[0] as string);
  const kept = words.filter(({ text }) => text.startsWith('\\') || ![...closers].some((quote) => text.includes(quote)));
  const text = kept.map((piece) => piece.text).join('');
  const isTemplate = quotes === '``' && text.includes('${');
  // Its quotes may as well be characters of other strings.
  const spansStrings = quotes !== '""' && /"\s*[:,[\]{}]|[:,[\]{}]\s*"/.test(text);
  const isUnknown = isTemplate || spansStrings;
  // A text in three quotes is another string.
  const inner = `v${text}v`;
  const means = { value: `v${kept.map((piece) => piece.means).join('')}v` };
  return { text: quotes[0] + inner + quotes[1], fixable: !isUnknown, ...(!isUnknown && { means }) };
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

const numbersAndWords = fc.constantFrom<Fragment>(
  ...[
    ['1', 1],
    ['-0', -0],
    ['1e3', 1000],
    ['True', true],
    ['a/b', 'a/b'],
    ['https://a.test/#b', 'https://a.test/#b'],
    ['1.2.3', '1.2.3'],
    ['null', null],
    ['FALSE', false],
  ].map(([text, value]) => ({ text: text as string, means: { value }, fixable: true })),
  ...[
    '+1',
    '.5',
    '-.5e1',
    '5.',
    '0x1F',
    '007',
    '0xFFFFFFFFFFFFFFFFFF',
    '0xfff',
    '1_000',
    '10n',
    'Infinity',
    'NaN',
    'None',
    'yes',
    '5//five',
    'a b',
    '…',
  ].map((text) => ({
    text,
    fixable: false,
  })),
);

/** Strings with quotes inside of them, as they are or doubled. */
const quotedWords: fc.Arbitrary<Fragment> = fc
  .record({
    words: fc.array(fc.constantFrom('Acme', ' Pro ', ' Docs', '24', '5.5', 'é', 'a b', '(x)'), { minLength: 2, maxLength: 4 }),
    quote: fc.constantFrom('"', '""'),
    end: fc.constantFrom('', '""'),
  })
  .map(({ words, quote, end }) => ({ text: `"${words.join(quote)}${end}"`, fixable: false }));

/** What may be a comment as well. */
const marks = fc.constantFrom<Fragment>(
  ...['#0d93731', '#b', '//cdn.a.test/x', '//b', '#/x', '#!x', '//b c'].map((text) => ({ text, fixable: false })),
);

const fragments = fc.oneof({ weight: 5, arbitrary: strings }, unknownStrings, otherStrings, quotedWords, numbersAndWords, marks);

/** As a member, a color is one for certain. */
const memberFragments = fc.oneof(
  { weight: 5, arbitrary: fragments },
  fc.constantFrom<Fragment>(...['#fff', '#0D9373'].map((text) => ({ text, means: { value: text }, fixable: true }))),
  fc.constantFrom<Fragment>(
    ...['"a" "b"', '"a" "b" "c"', '"a " "b" " c"', '"a" 24 "b"'].map((text) => ({ text, fixable: false })),
  ),
);

const comments = fc.constantFrom(
  '',
  '',
  '',
  '// a, "b"\n',
  '# [a]\n',
  '/* [] */',
  '<!-- {} -->',
  '//"b",\n',
  '#-- {}\n',
  '// a\n  # b\n',
);

/** Documents of a list and of members, with what they mean, and `null` for what a reader cannot know. */
const oddDocuments = fc
  .record({
    items: fc.array(fragments, { maxLength: 3 }),
    members: fc.array(memberFragments, { maxLength: 3 }),
    comments: fc.array(comments, { minLength: 8, maxLength: 8 }),
    separator: fc.constantFrom(', ', ',\n  ', ',\r\n\t'),
    trailing: fc.constantFrom('', ','),
  })
  .map(({ items, members, comments, separator, trailing }) => {
    const texts = items.map(({ text }, index) => `${comments[index]} ${text}`);
    const list = `[${texts.join(separator)}${items.length > 0 ? trailing : ''}\n${comments[3]}]`;
    const all = [`"list": ${list}`, ...members.map(({ text }, index) => `${comments[4 + index]}'k${index}': ${text}`)];
    return { source: `{${all.join(separator)}${trailing}\n}\n`, items, members, fragments: [...items, ...members] };
  });

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

test('--fix writes what the document means, and nothing in place of what a reader cannot know', () => {
  let parsed = 0;
  fc.assert(
    fc.property(oddDocuments, fc.constantFrom({}, strict), ({ source, items, members, fragments }, options) => {
      const { text } = applyFixes(source, options);
      const unknown = fragments.filter(({ means }) => !means);
      // With two mistakes on a line, either may be where it does not show: then nothing there is fixed.
      const areApart = fragments.every(({ text }, index) => {
        const before = fragments[index - 1]?.text;
        return before === undefined || !new RegExp(`${escapeRegExp(before)}[^\\n]*${escapeRegExp(text)}`).test(source);
      });
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
      else if (areApart && fragments.every(({ fixable }) => fixable)) expect(isJson(text), `${source} ${text}`).toBe(true);
      if (!isJson(masked)) return;
      parsed++;
      const meant = {
        list: items.map(known),
        ...Object.fromEntries(members.map((member, index) => [`k${index}`, known(member)])),
      };
      expect(JSON.parse(masked), `${source} ${text}`).toEqual(meant);
    }),
    { numRuns: 1_100 },
  );
  expect(parsed).toBeGreaterThan(100); // of about 350: the comparison is made
}, 60_000);

/** All that may be lost is what Z marks: the comments. */
const typed = [
  '{"name": "Acme", "favicon": "//cdn.a.test/f.svg", "colors": {"light": "#0d9373", "dark": "#fff"}, "x": ["#a", "//b", 1, true]}',
  '{\n  "favicon": "//cdn.a.test/f.svg",\n  "colors": {\n    "light": "#0d9373"\n  },\n  "x": [\n    "//b",\n    "c #d"\n  ],\n  "//e": "f // g"\n}\n',
  '{"a":"/*b*/c","d":{"#e":"f"},"g":["h/*i","j*/k"],"l":"<!--m-->"}\n',
  '{ // ZZ\n  "a": "//b", // ZZ\n  # ZZ\n  "c": "#d" /* ZZ */\n}\n',
];

test('after any mistyped character of punctuation, --fix loses no letter and no digit but those of a comment', () => {
  const severities = Object.fromEntries(codes.filter((code) => code !== 'json-syntax').map((code) => [code, 'off' as const]));
  const lost: string[] = [];
  for (const source of typed) {
    for (let at = 0; at <= source.length; at++) {
      // The end of a line ends a comment.
      const isKept = /(?:[a-zA-Z0-9]|ZZ\n)$/.test(source.slice(0, at + 1));
      for (const text of ['', ...'"\'`“:;,.-+=(){}[] \n\t\\']) {
        const rest = source.slice(at + 1);
        const edits = [
          `${source.slice(0, at)}${text}${source.slice(at)}`,
          ...(isKept ? [] : [source.slice(0, at) + text + rest]),
        ];
        for (const edit of edits) {
          const fixed = applyFixes(edit, { severities }).text;
          if (!isWithin(edit.replaceAll(/[\WZ_]/g, ''), fixed)) lost.push(`${edit} -> ${fixed}`);
        }
      }
    }
  }
  expect(lost).toEqual([]);
}, 60_000);

/** Whether all characters are in a text, in their order. */
function isWithin(characters: string, text: string): boolean {
  let from = 0;
  return [...characters].every((character) => {
    from = text.indexOf(character, from) + 1;
    return from > 0;
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
