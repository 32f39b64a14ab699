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

/** A WebAssembly module whose exported function `work` counts down from its parameter of type i32. */
const module = '0061736d0100000001060160017f017f0302010007080104776f726b00000a120110000340200041016b22000d000b20000b';

// Runs the function more often than makes V8 optimize it, and asks V8 which compiler made its code.
const program = `
  await import(${JSON.stringify(source.href)});
  const { instance } = await WebAssembly.instantiate(Buffer.from('${module}', 'hex'));
  const { work } = instance.exports;
  for (let turn = 0; turn < 100; turn += 1) {
    work(1_000_000);
    await new Promise(setImmediate);
  }
  console.log(%IsLiftoffFunction(work) ? 'baseline' : 'optimized');`;

test('WebAssembly is not compiled a second time', () => {
  const output = run('--allow-natives-syntax', '--import', 'tsx', '--input-type=module', '--eval', program);
  expect(output.trim()).toBe('baseline');
});
