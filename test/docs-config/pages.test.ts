import { codes } from '@user-group-gateway/docs-config';
import { expect, test } from 'vitest';
import { diagnosticPage, diagnosticsPage } from '../../src/docs-config/pages.ts';

test.each(codes)('renders the page of %s and links to it from the list', (code) => {
  const { title, heading, main } = diagnosticPage(code);
  expect([title, heading?.source]).toEqual([code, `<code>${code}</code>`]);
  expect(main.source).not.toMatch(/<script|undefined|\[object/);
  expect(diagnosticsPage().main.source).toContain(`href="docs/docs-config/${code}"`);
});
