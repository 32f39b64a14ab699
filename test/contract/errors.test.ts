import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ErrorCatalogEntry, type ErrorCode, errorCatalog } from '../../src/error-catalog.ts';
import { headersOf } from '../../src/http/problem.ts';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
  .map((file) => readFileSync(join('src', file), 'utf8'));

test('every error code is returned by something', () => {
  const isReturned = (code: string) =>
    sources.some((text) => new RegExp(`(?:GatewayError\\(\\s*|super\\(|\\bcode: )'${code}'`).test(text));
  expect(Object.keys(errorCatalog).filter((code) => !isReturned(code))).toEqual([]);
});

test.each(Object.entries(errorCatalog))('%s has a status, a title and a remedy', (code, { status, title, remedy }) => {
  expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(title).toMatch(/^[A-Z].*[^.]$/);
  expect(remedy).toMatch(/^[A-Z].*[.…]$/s);
});

test.each<[string, ErrorCatalogEntry]>(Object.entries(errorCatalog))(
  '%s has the headers that its status calls for, and that its remedy names',
  (code, { status, remedy, retryAfterSeconds }) => {
    const headers = headersOf({ code: code as ErrorCode });
    expect(Object.hasOwn(headers, 'www-authenticate')).toBe(status === 401);
    expect(Object.hasOwn(headers, 'retry-after')).toBe(/Retry-After/.test(remedy));
    if (retryAfterSeconds !== undefined) expect(headers['retry-after']).toBe(String(retryAfterSeconds));
  },
);
