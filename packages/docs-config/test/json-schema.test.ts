import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getLanguageService, type JSONSchema, TextDocument } from 'vscode-json-languageservice';
import { docsConfigJsonSchema, type JsonSchemaOptions } from '../src/json-schema.ts';
import { documents, spots, validateValue, withValue } from './documents.ts';

/** The codes that JSON Schema cannot express, as the documentation lists them. */
const beyondSchema = ['duplicate-page', 'undeclared-version', 'unmatched-url'];
const replacements: readonly unknown[] = [
  '',
  ' ',
  'text',
  '#fff',
  '#ffff',
  'a:b',
  7,
  true,
  null,
  [],
  ['text'],
  {},
  { x: 'text' },
  { group: 'a' },
  undefined,
];

test.each<JsonSchemaOptions>([{}, { strict: true }, { allowNestedGroups: true }, { strict: true, allowNestedGroups: true }])(
  'agrees with the validator on valid and on mutated documents (%o)',
  (options) => {
    const validate = new Ajv2020({ strict: true, allErrors: false }).compile(docsConfigJsonSchema(options));
    const severities = Object.fromEntries(beyondSchema.map((code) => [code, 'off']));
    const changed = documents({ nested: true }).chain((document) => {
      const all = spots(document);
      return fc
        .tuple(fc.constant(document), fc.nat(all.length - 1), fc.constantFrom(...replacements), fc.boolean())
        .map(([, index, value, keep]) => {
          return keep ? document : withValue(document, all[index]?.path ?? [], value);
        });
    });
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(changed, (document) => {
        if (document === undefined) return;
        const report = validateValue(document, { ...options, severities });
        verdicts.add(report.valid);
        expect(validate(document), JSON.stringify([document, report.diagnostics, validate.errors])).toBe(report.valid);
      }),
      { numRuns: 120 },
    );
    expect(verdicts.size).toBe(2);
  },
);

test.each<JsonSchemaOptions>([{}, { strict: true }, { allowNestedGroups: true }])(
  'rejects a document in the newer format, like the validator (%o)',
  (options) => {
    const validate = new Ajv2020({ strict: true }).compile(docsConfigJsonSchema(options));
    const name = 'Acme';
    const navigation = [{ group: 'a', pages: ['b'] }];
    for (const document of [
      { name, navigation: { groups: [] } },
      { $schema: 'https://mintlify.com/docs.json', name, navigation },
    ])
      expect([validate(document), validateValue(document, options).valid]).toEqual([false, false]);
  },
);

const service = getLanguageService({});
service.configure({ schemas: [{ uri: 'docs-config', fileMatch: ['*.json'], schema: docsConfigJsonSchema() as JSONSchema }] });

/** Opens a text in the editor's service; `|` is the cursor. */
function open(text: string) {
  const document = TextDocument.create('file:///docs.json', 'json', 1, text.replace('|', ''));
  return { document, json: service.parseJSONDocument(document), position: document.positionAt(text.indexOf('|')) };
}

async function completions(text: string): Promise<string[]> {
  const { document, json, position } = open(text);
  return (await service.doComplete(document, position, json))?.items.map(({ label }) => label) ?? [];
}

async function hover(text: string): Promise<string> {
  const { document, json, position } = open(text);
  return JSON.stringify((await service.doHover(document, position, json))?.contents);
}

test('lets editors complete keys and enumerated values', async () => {
  expect(await completions('{"na|"}')).toEqual(expect.arrayContaining(['name', 'navigation', 'topbarCtaButton']));
  expect(await completions('{"api": {"playground": {"mode": |}}}')).toEqual(
    expect.arrayContaining(['"show"', '"simple"', '"hide"']),
  );
  expect(await completions('{"footerSocials": {"|"}}')).toContain('hacker-news');
});

test('lets editors describe fields', async () => {
  expect(await hover('{"favicon|": "/f.svg"}')).toContain('icon that browsers show');
  expect(await hover('{"colors": {"primary|": "#fff"}}')).toContain('accent in light mode');
  expect(await hover('{"navigation": [{"pages|": []}]}')).toContain('order in which they are shown');
});

test('lets editors underline errors and ignored keys', async () => {
  const { document, json } = open('{"name": "a", "navigation": [], "favicn": "x", "colors": {"primary": "red"}}|');
  const problems = await service.doValidation(document, json);
  expect(problems.map(({ range }) => document.getText(range))).toEqual(expect.arrayContaining(['"favicn": "x"', '"red"']));
  expect(problems).toHaveLength(2);
});
