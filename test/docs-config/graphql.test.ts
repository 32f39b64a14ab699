import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let token: string;
beforeAll(async () => {
  gateway = await startGateway();
  token = (await gateway.issue({ scopes: ['groups:read'] })).secret;
});
afterAll(() => gateway.close());

const send = async (query: string, variables: Record<string, unknown> = {}) =>
  (await gateway.graphql(query, variables, { token })).json;

const diagnostics = `query ($input: DocsConfigInput!, $options: DocsConfigOptions) {
  report: validateDocsConfig(input: $input, options: $options) {
    valid errorCount warningCount
    diagnostics { code severity pointer range { start { line column offset } end { line column offset } } suggestion url }
  }
}`;

const source =
  '{\n  "name": "Acme",\n  "colors": { "primary": "0d9373" },\n  "navigation": [{ "group": "Start", "pages": ["intro"] }]\n}';

test('reports a diagnostic with its range, suggestion and page', async () => {
  const { data } = await send(diagnostics, { input: { source } });
  expect(data.report).toEqual({
    valid: false,
    errorCount: 1,
    warningCount: 0,
    diagnostics: [
      {
        code: 'hex-color',
        severity: 'ERROR',
        pointer: '/colors/primary',
        range: { start: { line: 3, column: 26, offset: 45 }, end: { line: 3, column: 34, offset: 53 } },
        suggestion: 'Write "#0d9373".',
        url: '/docs/docs-config/hex-color',
      },
    ],
  });
});

test('checks a value like its text', async () => {
  const { data } = await send(diagnostics, { input: { value: JSON.parse(source) } });
  expect(data.report.diagnostics).toMatchObject([{ code: 'hex-color', pointer: '/colors/primary' }]);
});

test('returns the document with every default, as the JSON Schema describes it', async () => {
  const value = {
    name: 'Acme',
    logo: '/logo.svg',
    openapi: 'api.json',
    footerSocials: { 'hacker-news': 'https://news.example/acme' },
    anchors: [{ name: 'Blog', icon: 'rss', url: 'blog', color: { from: '#fff', to: '#000000' }, iconType: 'sharp-solid' }],
    navigation: [{ group: 'Start', pages: ['blog/intro', { group: 'Deeper', pages: ['blog/more'] }] }],
  };
  const query = `query ($input: DocsConfigInput!) {
    validateDocsConfig(input: $input, options: { allowNestedGroups: true }) { config }
  }`;
  expect((await send(query, { input: { value } })).data.validateDocsConfig.config).toEqual({
    ...value,
    anchors: [{ ...value.anchors[0], isDefaultHidden: false }],
    topAnchor: { name: 'Documentation', icon: 'book-open', iconType: 'duotone' },
    api: { playground: { mode: 'show' } },
    modeToggle: { isHidden: false },
    feedback: { suggestEdit: false, raiseIssue: false },
  });
});

test.each([
  [
    'in a variable',
    'query ($value: JSON!) { validateDocsConfig(input: { value: $value }) { valid } }',
    '{"value":{"name":[1e400]}}',
  ],
  ['in the document', '{ validateDocsConfig(input: { value: { name: [12345678901234567890] } }) { valid } }', '{}'],
])('rejects a value with a number that is not exact, %s', async (_, query, variables) => {
  const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  const { json } = await gateway.send('POST', '/graphql', { token, body });
  expect(json.errors[0]).toMatchObject({
    extensions: { code: 'INVALID_INPUT', issues: [{ path: ['input', 'value'], message: expect.stringContaining('exactly') }] },
  });
});

test.each([
  ['source', ' '.repeat(256 * 1_024 + 1)],
  ['value', { name: 'a'.repeat(256 * 1_024) }],
])('refuses a %s of more than 256 KiB, and checks one of 256 KiB on the spot', async (kind, input) => {
  const { data, errors } = await send(diagnostics, { input: { [kind]: input } });
  expect([data.report, errors[0].extensions.code, errors[0].message]).toEqual([
    null,
    'INVALID_INPUT',
    expect.stringContaining('must have at most 256 KiB'),
  ]);
  const long = { name: 'a'.repeat(256 * 1_024 - 30), navigation: [] };
  const accepted = await send(diagnostics, { input: { [kind]: kind === 'value' ? long : JSON.stringify(long) } });
  expect(accepted.data.report).toMatchObject({ valid: true, warningCount: 1 });
});

test('checks a value without indentation when that would be far longer', async () => {
  let value: unknown = Array(10_000).fill(1);
  for (let level = 0; level < 190; level++) value = [value];
  const { data } = await send(diagnostics, { input: { value: { name: 'a', navigation: [], value } } });
  expect(data.report.diagnostics).toMatchObject([
    { code: 'empty-value', range: { start: { line: 1 } } },
    { code: 'unknown-property', pointer: '/value' },
  ]);
});

test('returns no document when there are errors', async () => {
  const { data } = await send('{ validateDocsConfig(input: { source: "{}" }) { valid config } }');
  expect(data.validateDocsConfig).toEqual({ valid: false, config: null });
});

describe('options', () => {
  const nested = { name: 'A', navigation: [{ group: 'B', pages: [{ group: 'C', pages: ['d'] }] }] };
  const unknown = { name: 'A', navigation: [{ group: 'B', pages: ['d'] }], extra: 1 };
  test.each([
    ['unless nested groups are accepted', nested, { allowNestedGroups: true }, []],
    [
      'or the rule is set lower',
      nested,
      { severities: [{ code: 'nested-group', level: 'WARNING' }] },
      [['nested-group', 'WARNING']],
    ],
    ['and with strict an error', unknown, { strict: true }, [['unknown-property', 'ERROR']]],
    [
      'files are looked up in what is given',
      unknown,
      { files: ['other.mdx'], severities: [{ code: 'unknown-property', level: 'OFF' }] },
      [['missing-file', 'WARNING']],
    ],
  ])('%s', async (_, value, options, expected) => {
    const { data } = await send(diagnostics, { input: { value }, options });
    expect(data.report.diagnostics.map(({ code, severity }: Record<string, string>) => [code, severity])).toEqual(expected);
  });

  test('rejects an unknown rule and lists the known ones', async () => {
    const { data, errors } = await send(diagnostics, {
      input: { source },
      options: { severities: [{ code: 'hex-colour', level: 'OFF' }] },
    });
    expect([data.report, errors[0].extensions.code, errors[0].message]).toEqual([
      null,
      'INVALID_INPUT',
      expect.stringContaining('hex-color'),
    ]);
  });
});

describe('pages', () => {
  test('each diagnostic’s page is served', async () => {
    const { data } = await send(diagnostics, { input: { source } });
    const page = await gateway.send('GET', data.report.diagnostics[0].url, { token: null });
    expect([page.status, page.headers.get('content-type'), page.text.includes('<h1><code>hex-color</code></h1>')]).toEqual([
      200,
      'text/html; charset=utf-8',
      true,
    ]);
  });

  test.each(['/docs/docs-config/nothing', '/docs/docs-config/constructor'])('%s is not found', async (path) => {
    expect((await gateway.send('GET', path, { token: null })).json.code).toBe('NOT_FOUND');
  });

  test('the JSON Schema is served', async () => {
    const { status, json, headers } = await gateway.send('GET', '/schemas/docs-config.json', { token: null });
    expect([status, headers.get('content-type'), json.required]).toEqual([
      200,
      'application/schema+json',
      ['name', 'navigation'],
    ]);
  });
});
