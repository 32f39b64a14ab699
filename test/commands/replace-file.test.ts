import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { replaceFile } from '../../src/commands/replace-file.ts';

test('a file that was changed since it was read is left as it is, with nothing beside it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'replace-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'mint.json');
  writeFileSync(file, 'edited');
  await expect(replaceFile(file, Buffer.from('read'), 'fixed')).rejects.toThrow(/was changed meanwhile/);
  expect([readdirSync(folder), readFileSync(file, 'utf8')]).toEqual([['mint.json'], 'edited']);
  await replaceFile(file, Buffer.from('edited'), 'fixed');
  expect(readFileSync(file, 'utf8')).toBe('fixed');
});
