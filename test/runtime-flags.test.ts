import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** A WebAssembly module whose exported function `work` counts down from its parameter. */
const module = [
  0x00,
  0x61,
  0x73,
  0x6d,
  0x01,
  0x00,
  0x00,
  0x00, // magic number and version
  0x01,
  0x06,
  0x01,
  0x60,
  0x01,
  0x7f,
  0x01,
  0x7f, // type: i32 to i32
  0x03,
  0x02,
  0x01,
  0x00, // function
  0x07,
  0x08,
  0x01,
  0x04,
  0x77,
  0x6f,
  0x72,
  0x6b,
  0x00,
  0x00, // export
  0x0a,
  0x12,
  0x01,
  0x10,
  0x00,
  0x03,
  0x40,
  0x20,
  0x00,
  0x41,
  0x01,
  0x6b,
  0x22,
  0x00,
  0x0d,
  0x00,
  0x0b,
  0x20,
  0x00,
  0x0b,
];

// Runs the function more often than makes V8 optimize it, and asks V8 which compiler made its code.
const program = `
  await import(${JSON.stringify(new URL('../src/runtime-flags.ts', import.meta.url).href)});
  const { instance } = await WebAssembly.instantiate(new Uint8Array(${JSON.stringify(module)}));
  const { work } = instance.exports;
  for (let turn = 0; turn < 100; turn += 1) {
    work(1_000_000);
    await new Promise(setImmediate);
  }
  console.log(%IsLiftoffFunction(work) ? 'baseline' : 'optimized');`;

test('WebAssembly is not compiled a second time, which would take up to 100 MB', () => {
  const args = ['--allow-natives-syntax', '--import', 'tsx', '--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()).toBe('baseline');
});
