import { expect, test } from 'vitest';
import { checkNames } from '../../src/commands/doctor.ts';
import { type ErrorCode, errorCatalog } from '../../src/error-catalog.ts';
import { scopeNames } from '../../src/scopes.ts';
import { pages, readPage, snippetsOf } from '../support/snippets.ts';

test('docs/rest.md has the status of each code that it explains', () => {
  const documented = [...readPage('docs/rest.md').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)];
  expect(documented.length).toBeGreaterThan(10);
  for (const [, status, code = ''] of documented) {
    expect({ code, status: Number(status) }).toEqual({ code, status: errorCatalog[code as ErrorCode]?.status });
  }
});

test('docs/concepts.md lists each scope', () => {
  const [, table = ''] = readPage('docs/concepts.md').split('## Scopes');
  expect([...table.matchAll(/^\| `([\w:]+)` \|/gm)].map(([, scope]) => scope)).toEqual(scopeNames);
});

test('docs/operations.md lists each check of doctor', () => {
  const [, section = ''] = readPage('docs/operations.md').split('## Diagnosis');
  const [table = ''] = section.split('\n## ');
  expect([...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)).toEqual(checkNames);
});

test('every example that calls fetch takes no response from a cache', () => {
  const written = pages.flatMap(snippetsOf).filter(({ language }) => ['js', 'ts'].includes(language));
  const texts = written.map(({ text }) => text);
  const calls = texts.flatMap((text) => text.split(/\bfetch\(/).slice(1)).map((rest) => rest.split(';')[0]);
  expect(calls.length).toBeGreaterThan(2);
  for (const call of calls) expect(call).toMatch(/cache: (['"])no-store\1/);
});
