import { expect, test } from 'vitest';
import { prefersHtml } from '../../src/http/media-types.ts';

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
  ['text/html', true],
  ['TEXT/HTML; Q=0.5', true],
  ['text/html, */*', true],
  ['text/html, application/json', true],
  ['text/html;q=0.9, application/*;q=0.8', true],
  ['application/json, text/html', false],
  ['application/problem+json, text/html', false],
  ['application/json, text/html;q=0.9', false],
  ['text/html;q=0.8, application/json', false],
  ['text/html;q=0.5, */*;q=0.9', false],
  ['text/html;q=0.5, application/*', false],
  ['text/html;q=0', false],
  ['text/html;q=0, */*;q=0', false],
  ['*/*', false],
  ['application/json', false],
  ['application/json, text/plain, */*', false],
  ['text/htmlx, image/png', false],
  ['text/*', false],
  ['', false],
  [',;,/;q=', false],
  [undefined, false],
])('Accept: %s prefers HTML: %s', (accept, expected) => {
  expect(prefersHtml(accept)).toBe(expected);
});
