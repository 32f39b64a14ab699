import { expect, test } from 'vitest';
import { scopeNames } from '../../src/caller.ts';
import { checkNames } from '../../src/commands/doctor/doctor.ts';
import { errorCatalog } from '../../src/errors.ts';
import { readPage } from '../support/snippets.ts';

/** The code that `/api/user` never responds with. */
const other = 'QUERY_TOO_COSTLY';

test('docs/rest.md lists each status and code of the REST API', () => {
  const documented = [...readPage('docs/rest.md').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [
    code,
    Number(status),
  ]);
  const expected = Object.entries(errorCatalog).map(([code, { status }]) => [code, status] as const);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(expected.filter(([code]) => code !== other)));
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
