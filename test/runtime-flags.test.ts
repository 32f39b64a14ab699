import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const source = new URL('../src/runtime-flags.ts', import.meta.url);
const run = (...args: string[]): string => execFileSync(process.execPath, args, { encoding: 'utf8' });

test('V8 has each flag that is set', () => {
  const flags = [...readFileSync(source, 'utf8').matchAll(/setFlagsFromString\('--(?:no-)?([\w-]+)/g)].map(([, name]) => name);
  expect(flags).toHaveLength(4);
  const known = [...run('--v8-options').matchAll(/^ +--(?:no-)?([\w-]+)/gm)].map(([, name]) => name);
  expect(known).toEqual(expect.arrayContaining(flags));
});
