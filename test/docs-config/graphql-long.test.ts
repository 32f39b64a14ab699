import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Report, validateDocsConfig } from '../../src/docs-config/validate.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { validateValue } from './documents.ts';

let gateway: TestGateway;
let token: string;
beforeAll(async () => {
  gateway = await startGateway();
  token = (await gateway.issue({ scopes: ['groups:read'] })).secret;
});
afterAll(() => gateway.close());

const query = `query ($input: DocsConfigInput!, $options: DocsConfigOptions) {
  report: validateDocsConfig(input: $input, options: $options) {
    valid errorCount warningCount diagnostics { code message pointer range { start { offset } } } config
  }
}`;
const check = async (input: unknown, options = {}) => (await gateway.graphql(query, { input, options }, { token })).json;

/** The part of a report that the query above selects. */
const selected = ({ valid, errorCount, warningCount, diagnostics, config }: Report) => ({
  valid,
  errorCount,
  warningCount,
  diagnostics: diagnostics.map(({ code, message, pointer, range: { start } }) => ({
    code,
    message,
    pointer,
    range: { start: { offset: start.offset } },
  })),
  config,
});

/** A document of about as many characters, with a mistake in every third page. */
function documentOf(characters: number, name: unknown = 'Acme') {
  const pages = Array.from({ length: Math.floor(characters / 60) }, (_, index) => [
    `guides/page-${index}`,
    1,
    `reference/page-${index}`,
  ]);
  return { name, favicon: '/f.svg', navigation: [{ group: 'Guides', pages: pages.flat() }] };
}

test('reports a long document like a short one, as text and as value', async () => {
  const broken = documentOf(100_000);
  const right = {
    name: 'Acme',
    navigation: [{ group: 'A', pages: Array.from({ length: 5000 }, (_, index) => `page-number-${index}`) }],
  };
  const options = { files: ['page-number-1.mdx'], strict: false };
  const reportOf = async (input: unknown) => (await check(input, options)).data.report;
  expect(await reportOf({ source: JSON.stringify(broken) })).toEqual(
    selected(validateDocsConfig(JSON.stringify(broken), options)),
  );
  expect(await reportOf({ value: broken })).toEqual(selected(validateValue(broken, options)));
  expect(await reportOf({ value: right })).toEqual(selected(validateValue(right, options)));
  expect(await reportOf({ value: right })).toMatchObject({ valid: true, config: { name: 'Acme' } });
});

test('serves other requests while documents of 300 KB are checked', async () => {
  // The most work for its size: every second character is a diagnostic.
  const source = `{"name": "Acme", "navigation": [{"group": "a", "pages": [${'1,'.repeat(150_000)}1]}]}`;
  const completed: string[] = [];
  const checked = check({ source }).finally(() => completed.push('check'));
  let alive = 0;
  while (!completed.includes('check')) {
    expect((await gateway.send('GET', '/livez', { token: null })).status).toBe(200);
    alive++;
  }
  expect(await checked).toMatchObject({ data: { report: { errorCount: 150_001, valid: false } } });
  // Reading the body and writing the response take turns with these, and let three pass; the check itself, by far the most of
  // it, lets all of them pass: hundreds.
  expect(alive).toBeGreaterThan(20);
});
