import { expect, test } from 'vitest';
import { codes } from '../../../src/docs-config/rules/registry.ts';
import { renderCodePage, renderIndexPage } from '../../../src/http/pages/docs-config.ts';

test.each(codes)('renders the page of %s and links to it from the index', (code) => {
  const page = renderCodePage(code);
  expect(page).toContain(`<code>${code}</code>`);
  expect(page).not.toMatch(/<script|undefined|\[object/);
  expect(renderIndexPage()).toContain(`href="/docs/docs-config/${code}"`);
});
