import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import draft04 from 'ajv-draft-04';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { type CheckedFile, codes, type Rule, formats as renderers, rules, validate } from '../src/index.ts';

/** The published schema of SARIF 2.1.0, which this package contains. */
const sarifSchema = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'), 'utf8'),
);
const ajv = new draft04.default({ strict: false, unicodeRegExp: false });
formats.default(ajv);
const isSarif = ajv.compile(sarifSchema);

function checked(source: string, file = 'mint.json'): CheckedFile {
  return { file, report: validate(source) };
}

const source = `{
  "name": "Acme",
  "colors": { "primary": "0d9373" },
  "navigation": []
}
`;

test('pretty: position, code frame with the range underlined, suggestion, and a summary', () => {
  expect(renderers.pretty([checked(source), checked('[1}', 'b.json')])).toMatchInlineSnapshot(`
    "mint.json:3:26 error hex-color /colors/primary
      "primary" is "0d9373", which is not a color like "#0d9373".

        1 | {
        2 |   "name": "Acme",
      > 3 |   "colors": { "primary": "0d9373" },
          |                          ^^^^^^^^
        4 |   "navigation": []

      → Write "#0d9373".
        see docs-config explain hex-color

    mint.json:4:17 warning empty-value /navigation
      "navigation" is empty.

        2 |   "name": "Acme",
        3 |   "colors": { "primary": "0d9373" },
      > 4 |   "navigation": []
          |                 ^^
        5 | }

      → Fill it in.
        see docs-config explain empty-value

    b.json:1:3 error json-syntax
      Close the list with ], not with \`}\`.

      > 1 | [1}
          |   ^

        see docs-config explain json-syntax

    2 files checked: 2 errors, 1 warning.
    "
  `);
});

test('no format passes control characters of a file to the terminal', () => {
  const hostile = checked('{"\u001b[31m\u202e": 1, "name": "a\u009b", "navigation": 1}', 'a\u001b.json');
  for (const render of Object.values(renderers))
    for (const steering of '\u001b\u009b\u202e') expect(render([hostile])).not.toContain(steering);
});

test('pretty: underlines the range after tabs, wide characters and far to the right', () => {
  const lines = (text: string) => renderers.pretty([checked(text)]).split('\n');
  const underlined = (text: string) => {
    const all = lines(text);
    const at = all.findIndex((line) => line.includes('^'));
    return [all[at - 1], all[at]];
  };
  expect(underlined('{"name": "文檔", "navigation": 1}')).toEqual([
    '  > 1 | {"name": "文檔", "navigation": 1}',
    `      | ${' '.repeat(31)}^`, // two of the letters are two cells wide
  ]);
  expect(underlined('{"name": "a",\n\t"navigation": 1}')[1]).toBe(`      | ${' '.repeat(16)}^`);
  const far = underlined(`{"name": "${'a'.repeat(5000)}", "navigation": 1}`);
  expect(far[0]?.[(far[1] ?? '').indexOf('^')]).toBe('1');
  expect((far[0] ?? '').length).toBeLessThan(130);
});

test('json: one object, as documented', () => {
  expect(JSON.parse(renderers.json([checked('{"name": "a", "navigation": 1}')]))).toEqual({
    files: [
      {
        file: 'mint.json',
        valid: false,
        diagnostics: [
          {
            code: 'type',
            severity: 'error',
            pointer: '/navigation',
            message: '"navigation" must be an array of objects, but is the number 1.',
            range: { start: { line: 1, column: 29, offset: 28 }, end: { line: 1, column: 30, offset: 29 } },
            suggestion: 'Write an array of objects.',
          },
        ],
      },
    ],
  });
});

test('SARIF: valid against the published schema, for every code', () => {
  const files = codes.map((code) => checked((rules[code] satisfies Rule).wrong, `docs/${code} %#.json`));
  const log = JSON.parse(
    renderers.sarif([...files, checked(source, '-'), checked(source, '/site/a.json'), checked('', 'C:\\a.json')]),
  );
  expect(isSarif(log), JSON.stringify(isSarif.errors)).toBe(true);
  const results = log.runs[0].results as { ruleId: string; ruleIndex: number }[];
  for (const { ruleId, ruleIndex } of results) expect(log.runs[0].tool.driver.rules[ruleIndex].id).toBe(ruleId);
  const uris = new Set(results.map((result) => JSON.stringify(result).match(/"uri":"([^"]*)"/)?.[1]));
  expect([...uris]).toEqual(
    expect.arrayContaining(['docs/type%20%25%23.json', 'stdin', 'file:///site/a.json', 'file:///C:/a.json']),
  );
  log.runs[0].results[0].level = 'fatal';
  expect(isSarif(log)).toBe(false);
});

test('GitHub: one workflow command per diagnostic, escaped', () => {
  const annotations = renderers.github([
    checked('{"name": "100%\\n", "navigation": [{"group": "a,b:c", "pages": [{\n}]}]}', 'a,b:c%.json'),
  ]);
  expect(annotations.split('\n').filter((line) => line.includes('nested-group'))).toEqual([
    '::error file=a%2Cb%3Ac%25.json,line=1,endLine=2,title=docs-config nested-group::Element 1 of "pages" is a group; only paths of pages are allowed here. Move the group to "navigation", or allow nested groups.',
  ]);
  expect(renderers.github([checked('{"name": "a", "navigation": "50%"}')])).toBe(
    '::error file=mint.json,line=1,endLine=1,col=29,endColumn=34,title=docs-config type::"navigation" must be an array of objects, but is the string "50%25". Write an array of objects.\n',
  );
});
