import { expect, test } from 'vitest';
import { codes, type Rule, rules, type ValidateOptions, validate, withDefaults } from '../src/index.ts';
import { validateValue } from './documents.ts';

const navigation = [{ group: 'Guides', pages: ['guides/start'] }];

function check(fields: object, options?: ValidateOptions) {
  return validateValue({ name: 'Acme', navigation, ...fields }, options);
}

/** The diagnostics as `code pointer`, in document order. */
function diagnosticsOf(fields: object, options?: ValidateOptions): string[] {
  return check(fields, options).diagnostics.map(({ code, pointer }) => `${code} ${pointer}`);
}

const button = { name: 'Go', url: 'https://example.com' };

const cases: readonly [name: string, fields: object, expected: string[]][] = [
  ['the least', {}, []],
  ['$schema', { $schema: 7 }, []],
  ['no name', { name: undefined }, ['required /name']],
  ['no navigation', { navigation: undefined }, ['required /navigation']],
  ['button without name', { topbarCtaButton: { url: 'https://example.com' } }, ['required /topbarCtaButton/name']],
  ['link button without name', { topbarCtaButton: { type: 'link', url: 'x' } }, ['required /topbarCtaButton/name']],
  ['button of another type without name', { topbarCtaButton: { type: 'x', url: 'x' } }, ['enum /topbarCtaButton/type']],
  ['button of no type without name', { topbarCtaButton: { type: 1, url: 'x' } }, ['type /topbarCtaButton/type']],
  [
    'background without light',
    { colors: { primary: '#fff', background: { dark: '#000' } } },
    ['background-incomplete /colors/background/light'],
  ],
  ['null', { favicon: null }, ['type /favicon']],
  ['number for a listed value', { modeToggle: { default: 1 } }, ['type /modeToggle/default']],
  ['unlisted value', { modeToggle: { default: 'drak' } }, ['enum /modeToggle/default']],
  ['listed value in another case', { api: { playground: { mode: 'Show' } } }, ['enum /api/playground/mode']],
  ['color that is not hexadecimal', { anchors: [{ name: 'a', url: 'guides', color: 'red' }] }, ['hex-color /anchors/0/color']],
  [
    'gradient that is not hexadecimal',
    { anchors: [{ name: 'a', url: 'guides', color: { from: '#ff', to: '#fff' } }] },
    ['hex-color /anchors/0/color/from'],
  ],
  ['hex of four digits', { colors: { primary: '#ffff' } }, ['hex-color /colors/primary']],
  ['hex with a line break', { colors: { primary: '#fff\n' } }, ['hex-color /colors/primary']],
  [
    'nested group, whose inside is checked',
    { navigation: [{ group: 'a', pages: [{ group: 1, pages: ['b', { pages: null }] }] }] },
    [
      'nested-group /navigation/0/pages/0',
      'type /navigation/0/pages/0/group',
      'nested-group /navigation/0/pages/0/pages/1',
      'missing-field /navigation/0/pages/0/pages/1/group',
      'type /navigation/0/pages/0/pages/1/pages',
    ],
  ],
  [
    'unlisted platform with no string',
    { footerSocials: { x: 1 } },
    ['social-platform /footerSocials/x', 'type /footerSocials/x'],
  ],
  ['basic with one name', { api: { auth: { method: 'basic', name: 'user' } } }, ['basic-auth-name /api/auth/name']],
  ['basic with an empty half', { api: { auth: { method: 'basic', name: 'user:' } } }, ['basic-auth-name /api/auth/name']],
  ['basic with a name of another type', { api: { auth: { method: 'basic', name: 1 } } }, ['type /api/auth/name']],
  ['unknown key', { favicn: 'x' }, ['unknown-property /favicn']],
  ['unknown key with a slash and a tilde', { 'a/b~c': 1 }, ['unknown-property /a~1b~0c']],
  [
    'prototype keys',
    { ['__proto__']: 1, constructor: 1, toString: 1 },
    ['unknown-property /__proto__', 'unknown-property /constructor', 'unknown-property /toString'],
  ],
  ['blank name', { name: ' ' }, ['empty-value /name']],
  ['empty url', { topbarCtaButton: { ...button, url: '' } }, ['empty-value /topbarCtaButton/url']],
  ['empty navigation', { navigation: [] }, ['empty-value /navigation']],
  ['empty pages', { navigation: [{ group: 'a', pages: [] }] }, ['empty-value /navigation/0/pages']],
  [
    'empty page',
    { navigation: [{ group: 'a', pages: ['', ''] }] },
    ['empty-value /navigation/0/pages/0', 'empty-value /navigation/0/pages/1'],
  ],
  [
    'page twice, in two groups',
    { navigation: [...navigation, { group: 'b', pages: ['/guides/start'] }] },
    ['duplicate-page /navigation/1/pages/0'],
  ],
  [
    'undeclared version',
    { versions: ['1'], anchors: [{ name: 'a', url: 'guides', version: '2' }] },
    ['undeclared-version /anchors/0/version'],
  ],
  ['no versions declared', { anchors: [{ name: 'a', url: 'guides', version: '2' }] }, ['undeclared-version /anchors/0/version']],
  ['url that starts no page', { tabs: [{ name: 'a', url: 'api/' }] }, ['unmatched-url /tabs/0/url']],
  ['url that starts a page', { tabs: [{ name: 'a', url: '/guides/' }] }, []],
  [
    'addresses',
    { anchors: ['https://a.example', 'mailto:a@a.example', '//a.example', '#'].map((url) => ({ name: 'a', url })) },
    [],
  ],
];

test.each(cases)('%s', (_, fields, expected) => {
  expect(diagnosticsOf(fields)).toEqual(expected);
});

test.each(['[]', '"x"', '7', 'true', 'null'])('rejects the document %s, which is not an object', (source) => {
  expect(validate(source).diagnostics).toMatchObject([
    { code: 'root-type', pointer: '', range: { start: { offset: 0 }, end: { offset: source.length } } },
  ]);
});

const newer = { navigation: { tabs: [{ tab: 'Guides', pages: [1, null] }] }, colors: {}, extra: 1 };
const schema = { $schema: 'https://mintlify.com/docs.json' };

test.each<[string, object, string, ValidateOptions?]>([
  ['an object as navigation', newer, 'format: "navigation" is an object. This tool checks mint.json.'],
  ['the address of its schema', schema, 'format: "$schema" is "https://mintlify.com/docs.json". This'],
  ['the name docs.json', {}, 'format: the file is named docs.json. This', { fileName: 'docs.json' }],
  ['all of them', { ...schema, ...newer }, 'named docs.json, and "$schema" is', { fileName: 'site/docs.json' }],
])('a document with %s is in the newer format: one error that says so', (_, fields, message, options) => {
  const report = check(fields, { strict: true, ...options });
  expect(report).toMatchObject({ valid: false, errorCount: 1, warningCount: 0 });
  expect(report.diagnostics).toMatchObject([
    { code: 'newer-format', severity: 'error', pointer: '', range: { start: { offset: 0 } } },
  ]);
  expect(report.diagnostics[0]?.message).toContain(message);
});

test('a theme alone, and the schema of this format, do not make the newer format; off, it is checked as usual', () => {
  expect(diagnosticsOf({ theme: 'mint', $schema: 'http://localhost/schemas/docs-config.json' })).toEqual([
    'unknown-property /theme',
  ]);
  expect(diagnosticsOf(newer, { severities: { 'newer-format': 'off' } })).toContain('type /navigation');
  expect(check(newer, { severities: { 'newer-format': 'warning' } })).toMatchObject({ valid: true, warningCount: 1 });
});

test('members of the newer format say what they are called here', () => {
  const { diagnostics } = check({ navbar: {}, footer: { socials: {} }, fonts: {} });
  expect(diagnostics.map(({ message, suggestion }) => `${message} ${suggestion?.slice(0, 28)}`)).toEqual([
    '"navbar" belongs to docs.json; in mint.json it is topbarLinks. Did you mean "topbarLinks"?',
    '"footer" belongs to docs.json; in mint.json it is footerSocials. Did you mean "footerSocials"',
    '"fonts" belongs to docs.json; mint.json has nothing like it. Expected one of: "name", "na',
  ]);
});

test('lists the known keys of an object once', () => {
  const { diagnostics } = check({ zzz: 1, yyy: 2, feedback: { zzz: 1 } });
  expect(diagnostics.map(({ suggestion }) => suggestion?.slice(0, 23))).toEqual([
    'Expected one of: "name"',
    'Correct or remove it.',
    'Expected one of: "sugge',
  ]);
});

test('limits pointers to 4,096 characters', () => {
  const key = 'k'.repeat(5000);
  const pages = [{ group: 'a', pages: [1], [key]: { a: 1 } }];
  const pointers = check({ navigation: pages, [key]: 1 }).diagnostics.map(({ code, pointer }) => `${code} ${pointer}`);
  expect(pointers).toEqual(['type /navigation/0/pages/0', 'unknown-property /navigation/0', 'unknown-property ']);
});

test('reports a duplicate key at its second occurrence in any object, and uses the last value', () => {
  const source = '{"name": "A", "name": "Acme", "navigation": [], "extra": {"a": 1, "a": 2}}';
  const report = validate(source, { severities: { 'empty-value': 'off', 'unknown-property': 'off' } });
  expect(report.diagnostics.map(({ code, pointer, range }) => `${code} ${pointer} ${range.start.column}`)).toEqual([
    'duplicate-key /name 15',
    'duplicate-key /extra/a 67',
  ]);
  expect(withDefaults(report)?.name).toBe('Acme');
});

test('finds files with and without extensions, and suggests none for one that is missing', () => {
  const fields = {
    logo: '/logo.SVG',
    openapi: ['https://a.example/api.json', 'api.json'],
    navigation: [{ group: 'a', pages: ['start', 'old/end', 'GET /users', 'none', 'guides/instal'] }],
  };
  const { diagnostics } = check(fields, { files: ['./start.mdx', 'guides/install.mdx', 'new/end.md', 'logo.svg'] });
  expect(diagnostics.map(({ pointer, suggestion }) => [pointer, suggestion])).toEqual(
    ['/navigation/0/pages/1', '/navigation/0/pages/3', '/navigation/0/pages/4', '/logo', '/openapi/1'].map((pointer) => [
      pointer,
      'Add the file, or correct the path.',
    ]),
  );
});

test('suggests the most similar name', () => {
  const suggestions = (fields: object) => check(fields).diagnostics.map(({ suggestion }) => suggestion);
  expect(suggestions({ topbarCTAButon: {} })).toEqual(['Did you mean "topbarCtaButton"?']);
  expect(suggestions({ lgoo: '/logo.svg' })).toEqual(['Did you mean "logo"?']);
  expect(suggestions({ footerSocials: { x: 'a', 'Hacker News': 'a', github: 'a', myspace: 'a' } })).toEqual([
    'Did you mean "twitter"?',
    'Did you mean "hacker-news"?',
    'Expected one of: "website", "facebook", "twitter", "discord", "slack", "github", "linkedin", "instagram", "hacker-news".',
  ]);
  expect(suggestions({ api: { auth: { method: 'baerer' } } })).toEqual(['Did you mean "bearer"?']);
  expect(suggestions({ navbar: [] })).toEqual(['Did you mean "topbarLinks"?']);
  expect(suggestions({ feedback: { zzz: 1 } })).toEqual(['Expected one of: "suggestEdit", "raiseIssue".']);
});

test('applies the options for severities, strict and nested groups', () => {
  const fields = { favicn: 'x', navigation: [{ group: 'a', pages: [{ group: 'b', pages: ['c'] }] }] };
  const summary = (options?: ValidateOptions) =>
    check(fields, options).diagnostics.map(({ code, severity }) => `${code} ${severity}`);
  expect(summary()).toEqual(['nested-group error', 'unknown-property warning']);
  expect(summary({ strict: true })).toEqual(['nested-group error', 'unknown-property error']);
  expect(summary({ allowNestedGroups: true, strict: true })).toEqual(['unknown-property error']);
  expect(summary({ severities: { 'nested-group': 'warning', 'unknown-property': 'off' } })).toEqual(['nested-group warning']);
  expect(summary({ severities: { 'nested-group': 'off' } })).toEqual(['unknown-property warning']);
});

test('fills in every default, and keeps only fields of the schema', () => {
  const fields = { extra: 1, logo: { light: 'a', dark: 'b' }, topbarCtaButton: button, anchors: [{ name: 'a', url: 'guides' }] };
  expect(withDefaults(check(fields))).toEqual({
    name: 'Acme',
    navigation,
    logo: { light: 'a', dark: 'b', href: '/' },
    topbarCtaButton: { type: 'link', ...button },
    anchors: [{ name: 'a', url: 'guides', isDefaultHidden: false, iconType: 'duotone' }],
    topAnchor: { name: 'Documentation', icon: 'book-open', iconType: 'duotone' },
    api: { playground: { mode: 'show' } },
    feedback: { suggestEdit: false, raiseIssue: false },
    modeToggle: { isHidden: false },
  });
  expect(withDefaults(check({ name: undefined }))).toBeNull();
  expect(withDefaults(check({ favicon: 1 }, { severities: { type: 'off' } }))).toBeNull();
});

test.each(codes)('%s: the wrong example yields only this code, the right one nothing', (code) => {
  const { wrong, right, files }: Rule = rules[code];
  const options = files ? { files } : {};
  const found = new Set(validate(wrong, options).diagnostics.map((diagnostic) => diagnostic.code));
  // too-many-findings never comes alone.
  expect([...found].at(-1)).toBe(code);
  if (code !== 'too-many-findings') expect(found.size).toBe(1);
  expect(validate(right, options)).toMatchObject({ valid: true, diagnostics: [] });
});
