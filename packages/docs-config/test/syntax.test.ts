import { expect, test } from 'vitest';
import { validate } from '../src/index.ts';

/** Where the one diagnostic is, as the marked text, and what it says. */
function problemOf(source: string | Uint8Array): [marked: string, message: string] {
  const { text, diagnostics } = validate(source);
  expect(diagnostics).toHaveLength(1);
  const { code, severity, message, range, suggestion } = diagnostics[0] as (typeof diagnostics)[number];
  expect([code, severity, suggestion]).toEqual(['json-syntax', 'error', null]);
  return [text.slice(range.start.offset, range.end.offset), message];
}

test.each([
  ['{"a": 1,}', ',', 'Remove this comma: nothing follows it before `}`.'],
  ['{"a": [1,\n]}', ',', 'Remove this comma: nothing follows it before `]`.'],
  ['{"a": 1\n"icon": 2}', '"icon"', 'Put a comma before `"icon"`.'],
  ['[1 2]', '2', 'Put a comma before `2`.'],
  ['{"a":[1,2}', '}', 'Close the list with ] before `}`.'],
  ['[{"a": 1]', ']', 'Close the object with } before `]`.'],
  ['[1}', '}', 'Close the list with ], not with `}`.'],
  ['[{"a": 1, {"a": 2}]', '{', 'The object before is not closed. Put } before the comma.'],
  ['}', '}', 'Nothing is open. Remove `}`.'],
  ['{"a" 1}', '1', 'Put a colon before `1`.'],
  ['{"a": }', '}', 'The key has no value. Write one before `}`.'],
  ['{"a"}', '}', 'The key has no value. Put a colon and a value before `}`.'],
  ['{"a":, "b": 1}', ':,', 'This key has no value. Write one before the comma.'],
  ['{"a", "b": 1}', ',', 'This key has no value. Put a colon and a value before the comma.'],
  ['[1,,2]', ',', 'Remove one of the two commas.'],
  ['[,1]', ',', 'Remove this comma: there is nothing before it.'],
  ['["a": 1]', ':', 'A colon follows only a key of an object. Put { before the key, or a comma in place of the colon.'],
  ['{1: 2}', '1', 'A key must stand here. Write it in double quotes, in place of `1`.'],
  ['{"a": 1} x', 'x', 'Put `x` in double quotes.'],
  ['{"a": 1} 2', '2', 'The document ends before `2`. Remove what follows it, or the closing bracket too many before it.'],
  ['{"a": 1}}', '}', 'The document ends before `}`. Remove what follows it, or the closing bracket too many before it.'],
  ['{"a": 1 // one\n}', '// one', 'JSON has no comments. Remove this one.'],
  ['{ /* one */ "a": 1}', '/* one */', 'JSON has no comments. Remove this one.'],
  ['{ # one\n"a": 1}', '#', 'JSON has no comments. Remove this one.'],
  ['{"a": #fff}', '#fff', 'Put `#fff` in double quotes.'],
  ['{a: 1}', 'a', 'Put `a` in double quotes.'],
  ["{'a': 1}", "'a'", 'Write " in place of `\'` around keys and strings.'],
  ['{“a”: 1}', '“a”', 'Write " in place of `“` around keys and strings.'],
  ['{"a": "b\n}', '"b', 'The string `"b` is not closed. Put a quote at its end, on the same line.'],
  ['{"a": b"}', 'b', 'Put a quote before `b`.'],
  ['{"a": "b "c" d"}', 'c', 'A comma or a quote is misplaced before `c`. Write \\" for a quote inside of a string.'],
  ['{"a": "\\d"}', '"\\d"', 'The string `"\\d"` has an escape that JSON does not have. Write \\\\ for a backslash.'],
  ['{"a": "\\u12"}', '"\\u12"', 'The string `"\\u12"` has \\u without four hexadecimal digits. Complete them.'],
  ['{"a": "\t"}', '"\t"', 'The string `" "` has a control character. Write \\t for a tab, or another escape.'],
  ['[.5]', '.5', 'The number at `.5` is not written as in JSON. Correct it, or put it in double quotes.'],
  ['[0x1F]', 'x1F', 'The number at `x1F` is not written as in JSON. Correct it, or put it in double quotes.'],
  ['{"a"= 1}', '=', 'Write : in place of `=`.'],
  ['{"a":\u00a01}', '\u00a01', 'The character U+00A0 is invisible, and not JSON. Replace it with a space.'],
  ['\ufeff{}', '\ufeff', 'The file begins with a byte order mark. Save it as UTF-8 without one.'],
  [
    '{\n<<<<<<< HEAD\n}',
    '<<<<<<<',
    'The file has a merge conflict. Keep one of the two versions, and remove the lines <<<<<<<, ======= and >>>>>>>.',
  ],
  ['', '', 'The file is empty. Write an object with at least "name" and "navigation".'],
  [' \n', '', 'The file is empty. Write an object with at least "name" and "navigation".'],
  ['{"a": [1', '1', 'The file ends too early: 2 brackets are open. Complete it, and close them with ]}.'],
  ['{"a": 1\n\n', '1', 'The file ends too early: 1 bracket is open. Complete it, and close it with }.'],
  ['{"a":', ':', 'The file ends too early: 1 bracket is open. Complete it, and close it with }.'],
  ['["a', 'a', 'The file ends inside a string: 1 bracket is open. Complete it, and close it with ].'],
])('%j', (source, marked, message) => {
  expect(problemOf(source)).toEqual([marked, message]);
});

test('says what is wrong with bytes that are not UTF-8', () => {
  expect(problemOf(Buffer.from('{"name": "Zürich"}', 'latin1'))).toEqual(['\ufffd', 'The file is not UTF-8. Save it as UTF-8.']);
  expect(validate(Buffer.from('{"name": "Zürich", "navigation": []}')).valid).toBe(true);
});

test('a text that is not JSON has no other diagnostic, whatever the options', () => {
  const source = '{"name": 1, "favicn": "x", "navigation": {},}';
  for (const options of [{ strict: true }, { files: [] }, { fileName: 'docs.json' }])
    expect(validate(source, options).diagnostics.map(({ code }) => code)).toEqual(['json-syntax']);
  for (const level of ['warning', 'off'] as const)
    expect(validate(source, { severities: { 'json-syntax': level } })).toMatchObject({ valid: false, errorCount: 1 });
});
