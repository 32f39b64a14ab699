import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const released = 'type Query { a: Int, b(c: Int): Int }';
const removed = 'FIELD_REMOVED: Query.a was removed.';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-test-'));
  writeFileSync(join(folder, 'schema.released.graphql'), released);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs the check on a schema, and returns its exit code and what it found. */
function check(schema: string, declared: object, args: string[] = []): Promise<{ code: number; stdout: string }> {
  writeFileSync(join(folder, 'schema.graphql'), schema);
  writeFileSync(join(folder, 'schema.breaking.json'), JSON.stringify(declared));
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/check-schema-changes.js', '--folder', folder, ...args], (error, stdout) =>
      resolve({ code: Number(error?.code ?? 0), stdout }),
    );
  });
}

test.each<[string, string, object, number, string]>([
  ['passes the same schema', released, {}, 0, ''],
  ['passes additions', 'type Query { a: Int!, b(c: Int, d: Int): Int, e: Int }', {}, 0, ''],
  ['fails on a removed field', 'type Query { b(c: Int): Int }', {}, 1, `breaking, not declared: ${removed}\n`],
  ['passes a declared change', 'type Query { b(c: Int): Int }', { [removed]: 'Nothing used it.' }, 0, ''],
  [
    'fails on a declaration without reason',
    'type Query { b(c: Int): Int }',
    { [removed]: ' ' },
    1,
    `breaking, not declared: ${removed}\n`,
  ],
  ['fails on a declaration of nothing', released, { [removed]: 'Later.' }, 1, `declared, but not the case: ${removed}\n`],
  [
    'names each change',
    'type Query { b(c: Int!): String }',
    { [removed]: 'Nothing used it.' },
    1,
    'breaking, not declared: ARG_CHANGED_KIND: Query.b arg c has changed type from Int to Int!.\n',
  ],
])('%s', async (_, schema, declared, code, found) => {
  const result = await check(schema, declared);
  expect(result.code).toBe(code);
  if (found) expect(result.stdout).toContain(found);
  else expect(result.stdout).toBe('');
});

test('a release makes the schema the released one, and ends its declarations', async () => {
  const next = 'type Query { b(c: Int): Int }';
  expect(await check(next, { [removed]: 'Nothing used it.' }, ['--release'])).toEqual({ code: 0, stdout: '' });
  expect(readFileSync(join(folder, 'schema.released.graphql'), 'utf8')).toBe(next);
  expect(await check(next, {})).toEqual({ code: 0, stdout: '' });
});
