import { expect, test } from 'vitest';
import { applyFixes } from '../../../src/docs-config/apply-fixes.ts';
import { validateDocsConfig } from '../../../src/docs-config/validate.ts';

const head = '{"name": "Acme", "navigation": [{"group": "Start", "pages": ["intro"]}]';

/** A text, its offending part, a pattern of the message and suggestion, and the text after --fix when there is a fix. */
const cases: readonly [name: string, text: string, offending: string, says: RegExp, fixed?: string][] = [
  ['trailing comma in an object', `${head},}`, ',', /comma.*Remove this comma/, `${head}}`],
  ['trailing comma in an array', `${head}, "versions": ["a",]}`, ',', /Remove this comma/, `${head}, "versions": ["a"]}`],
  ['comma twice', `${head},, "versions": []}`, ',', /nothing before this comma/, `${head}, "versions": []}`],
  ['missing comma between members', `${head} "versions": []}`, '"versions"', /comma is missing/, `${head}, "versions": []}`],
  [
    'missing comma between elements',
    `${head}, "versions": ["a" "b"]}`,
    '"b"',
    /comma is missing/,
    `${head}, "versions": ["a", "b"]}`,
  ],
  [
    'missing braces between objects',
    '{"name": "Acme", "navigation": [{"group": "A", "pages": ["a"] "group": "B", "pages": ["b"]}]}',
    '"group"',
    /comma is missing.*Put }, { before it if/,
  ],
  ['missing colon', `${head}, "favicon" "/f.svg"}`, '"/f.svg"', /colon is missing/, `${head}, "favicon": "/f.svg"}`],
  ['equals sign', `${head}, "favicon" = "/f.svg"}`, '=', /colon is expected/, `${head}, "favicon" : "/f.svg"}`],
  ['semicolon for a comma', `${head}; "versions": []}`, ';', /semicolon/, `${head}, "versions": []}`],
  ['semicolon at the end', `${head}};`, ';', /semicolon/i, `${head}}`],
  ['line comment', `${head} // why\n}`, '// why', /no comments/, `${head} \n}`],
  [
    'comment on its own lines',
    `{\n  // one\n  # two\n${head.slice(1)}}`,
    '// one\n  # two',
    /no comments/,
    `{\n${head.slice(1)}}`,
  ],
  ['block comment', `${head} /* why */}`, '/* why */', /no comments/, `${head} }`],
  ['block comment without end', `${head}} /* why`, '/* why', /never closed/],
  ['single quotes', `${head}, 'favicon': "it's"}`, "'favicon'", /straight double quotes/, `${head}, "favicon": "it's"}`],
  ['smart quotes', `${head}, “favicon”: "/f.svg"}`, '“favicon”', /straight double quotes/, `${head}, "favicon": "/f.svg"}`],
  ['backticks', `${head}, "favicon": \`/f.svg\`}`, '`/f.svg`', /straight double quotes/, `${head}, "favicon": "/f.svg"}`],
  ['unquoted key', `${head}, favicon: "/f.svg"}`, 'favicon', /not in quotes/, `${head}, "favicon": "/f.svg"}`],
  ['unquoted value', `${head}, "favicon": /f.svg}`, '/f.svg', /not in quotes/, `${head}, "favicon": "/f.svg"}`],
  [
    'unquoted color',
    `${head}, "colors": {"primary": #0d9373}}`,
    '#0d9373',
    /not in quotes/,
    `${head}, "colors": {"primary": "#0d9373"}}`,
  ],
  [
    'Python literal',
    `${head}, "feedback": {"raiseIssue": True}}`,
    'True',
    /Write true/,
    `${head}, "feedback": {"raiseIssue": true}}`,
  ],
  ['nothing of JavaScript', `${head}, "favicon": undefined}`, 'undefined', /remove the key/],
  ['number with a plus', `${head}, "extra": +1}`, '+1', /Write 1, or put it in double quotes/],
  ['number without a digit in front', `${head}, "extra": .5}`, '.5', /Write 0.5, or/],
  ['key without a value', `${head}, "favicon"}`, '"favicon"', /no value/],
  ['key with a colon and no value', `${head}, "favicon": }`, '"favicon"', /no value/],
  ['value without a key', `${head}, : 1}`, ':', /key in double quotes is expected here/],
  ['unclosed string', `${head}, "favicon": "/f.svg\n}`, '"/f.svg', /not closed/, `${head}, "favicon": "/f.svg"\n}`],
  ['line break in a string', `${head}, "favicon": "/f\n.svg"}`, '\n', /line break/, `${head}, "favicon": "/f\\n.svg"}`],
  ['tab in a string', `${head}, "favicon": "/f\t.svg"}`, '\t', /a tab/, `${head}, "favicon": "/f\\t.svg"}`],
  ['NUL in a string', `${head}, "favicon": "/f\u0000.svg"}`, '\u0000', /U\+0000/, `${head}, "favicon": "/f\\u0000.svg"}`],
  ['unknown escape', `${head}, "favicon": "C:\\docs"}`, '\\d', /no escape/],
  ['escaped single quote', `${head}, "favicon": "it\\'s"}`, "\\'", /without the backslash/, `${head}, "favicon": "it's"}`],
  ['unclosed key', `${head}, "favicon: "/f.svg"}`, '"favicon', /not closed/, `${head}, "favicon": "/f.svg"}`],
  ['key with mixed quotes', `${head}, "favicon': "/f.svg"}`, '"favicon', /not closed/, `${head}, "favicon": "/f.svg"}`],
  ['unclosed object', head, '{', /never closed/],
  ['unclosed array', `{"name": "Acme", "navigation": [{"group": "Start", "pages": ["intro"]}`, '[', /never closed/],
  [
    'unclosed list before a key',
    `{"navigation": [{"pages": ["intro", "group": "Start"}], "name": "Acme"}`,
    '"group"',
    /list before the key/,
  ],
  [
    'unclosed object before its sibling',
    `{"name": "Acme", "navigation": [{"group": "A", "pages": ["a"], {"group": "B", "pages": ["b"]}]}`,
    '{',
    /not closed/,
  ],
  [
    'wrong bracket',
    '{"name": "Acme", "navigation": [\n  {"group": "A", "pages": [\n    "a"\n  }}\n]}',
    '}',
    /is closed by }/,
    '{"name": "Acme", "navigation": [\n  {"group": "A", "pages": [\n    "a"\n  ]}\n]}',
  ],
  ['forgotten bracket', `{"name": "Acme", "navigation": [{"group": "A", "pages": ["a"}]}`, '}', /not closed before this }/],
  ['bracket too many', `${head}]}`, ']', /one too many/],
  [
    'brace too many before the next key',
    `{"name": "Acme", "colors": {"primary": "#fff"}}, "navigation": []}`,
    '}',
    /one too many: the document continues/,
  ],
  [
    'brace too many between a comma and the next key',
    `{"name": "Acme",}\n  "navigation": []}`,
    '}',
    /one too many: the document continues/,
  ],
  ['opening brace missing', `${head}, "feedback": "suggestEdit": true}, "versions": []}`, '"suggestEdit"', /no { before the key/],
  ['text before', `module.exports = ${head}}`, 'module.exports =', /text before the document/],
  ['text after', `${head}}}`, '}', /document ends before/],
  ['two documents', `${head}} {}`, '{}', /document ends before/],
  ['fence around', `\`\`\`json\n${head}}\n\`\`\`\n`, '```json', /text before the document/],
  ['byte order mark', `\ufeff${head}}`, '\ufeff', /byte order mark/, `${head}}`],
  ['no-break space', `${head},\u00a0"versions": []}`, '\u00a0', /U\+00A0/, `${head}, "versions": []}`],
  ['empty', '', '', /empty/],
  ['blank', ' \n', ' \n', /empty/],
  ['no JSON', 'name: Acme', 'name: Acme', /contains no JSON/],
  [
    'merge conflict',
    `{"name": "Acme",\n<<<<<<< ours\n"navigation": []\n=======\n"navigation": [{}]\n>>>>>>> theirs\n}`,
    '<<<<<<< ours',
    /merge conflict/,
  ],
  ['left mark of a conflict', `${head}\n>>>>>>> theirs\n}`, '>>>>>>> theirs', /left behind/],
];

test.each(cases)('%s', (_, text, offending, says, fixed) => {
  const { diagnostics, valid } = validateDocsConfig(text);
  const [first] = diagnostics.filter(({ code }) => code === 'json-syntax');
  expect(valid).toBe(false);
  expect(first).toMatchObject({ severity: 'error', pointer: '' });
  expect(first && text.slice(first.range.start.offset, first.range.end.offset)).toBe(offending);
  expect(`${first?.message} ${first?.suggestion}`).toMatch(says);
  if (fixed === undefined) expect(first?.fix).toBeNull();
  else expect(applyFixes(text).text).toBe(fixed);
});

test('reports one diagnostic per syntax error, without follow-up errors', () => {
  for (const [name, text] of cases) {
    if (name === 'fence around') continue; // one before, one behind
    const errors = validateDocsConfig(text).diagnostics.filter(({ severity }) => severity === 'error');
    expect(
      errors.map(({ code, message }) => `${code} ${message}`),
      name,
    ).toHaveLength(1);
  }
});

test.each([
  ['a brace too many', '{"name": "Acme", "feedback": {"raiseIssue": true}}, "favicon": 1, "navigation": []}'],
  ['an opening brace missing', '{"name": "Acme", "feedback": "raiseIssue": true}, "favicon": 1, "navigation": []}'],
])('checks the keys after %s', (_, text) => {
  const { diagnostics } = validateDocsConfig(text);
  expect(diagnostics.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
    'json-syntax ',
    'type /favicon',
    'empty-value /navigation',
  ]);
});

test('checks the rest of a document with syntax errors', () => {
  const { diagnostics } = validateDocsConfig(`{
    name: 'Acme', // the name
    "colors": { "primary": "green" }
    "navigation": [ { "group": "Start", "pages": [ 7, ] } ],
    "footerSocials": { "x": "https://x.com/acme" },
  }`);
  expect(diagnostics.map(({ code, pointer, range }) => `${range.start.line} ${code} ${pointer}`)).toEqual([
    '2 json-syntax ',
    '2 json-syntax ',
    '2 json-syntax ',
    '3 hex-color /colors/primary',
    '4 json-syntax ',
    '4 type /navigation/0/pages/0',
    '4 json-syntax ',
    '5 social-platform /footerSocials/x',
    '5 json-syntax ',
  ]);
});

test('applies every fix at once', () => {
  const { text, fixes } = applyFixes(`\ufeff{
    // the name
    name: 'Acme',
    "colors": { "primary": d93730 }
    "navigation": [ { "group": “Start”, "pages": [ "intro", ] } ],
    "footerSocials": {
      "x": "https://x.com/acme",
      "github": "https://github.com/acme
    },
    "feedback": { "suggestEdit": True, "raiseIssue": "false" },
  }`);
  expect(text).toBe(`{
    "name": "Acme",
    "colors": { "primary": "#d93730" },
    "navigation": [ { "group": "Start", "pages": [ "intro" ] } ],
    "footerSocials": {
      "twitter": "https://x.com/acme",
      "github": "https://github.com/acme"
    },
    "feedback": { "suggestEdit": true, "raiseIssue": false }
  }`);
  expect(fixes).toHaveLength(14);
});

test('lists fixes with their ranges in the original text, including those of later rounds', () => {
  const source = `{ // the name
    name: 'Acme',
    "navigation": [{ "group": “Start", "pages": [] }]
    "feedback": { "suggestEdit": "true" },
  }`;
  const { text, fixes } = applyFixes(source);
  expect(JSON.parse(text)).toMatchObject({ name: 'Acme', feedback: { suggestEdit: true } });
  const listed = fixes.map(({ code, range: { start, end } }) => [start.line, code, source.slice(start.offset, end.offset)]);
  expect(listed).toEqual([
    [1, 'json-syntax', '// the name'],
    [2, 'json-syntax', 'name'],
    [2, 'json-syntax', "'Acme'"],
    [3, 'json-syntax', '“Start"'],
    [3, 'json-syntax', ''], // where the comma belongs
    [4, 'type', '"true"'],
    [4, 'json-syntax', ','],
  ]);
});
