import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDraft, replaceFile } from '../../src/commands/replace-file.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'replace-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a file that was changed since it was read is left as it is, with nothing beside it', async () => {
  const folder = makeFolder();
  const file = join(folder, 'mint.json');
  writeFileSync(file, 'edited');
  await expect(replaceFile(file, Buffer.from('read'), 'fixed')).rejects.toThrow(/was changed meanwhile/);
  expect([readdirSync(folder), readFileSync(file, 'utf8')]).toEqual([['mint.json'], 'edited']);
  await replaceFile(file, Buffer.from('edited'), 'fixed');
  expect(readFileSync(file, 'utf8')).toBe('fixed');
});

test.runIf(process.getuid?.() === 0)('a file of another user keeps its owner, its group and its mode', async () => {
  const file = join(makeFolder(), 'mint.json');
  writeFileSync(file, 'read');
  chownSync(file, 4_711, 4_712);
  chmodSync(file, 0o640);
  await replaceFile(file, Buffer.from('read'), 'fixed');
  const { uid, gid, mode } = statSync(file);
  expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 4_711, gid: 4_712, mode: 0o640 });
});

test.runIf(process.platform !== 'win32')('a symbolic link to a file that does not exist is not replaced', async () => {
  const folder = makeFolder();
  const link = join(folder, 'link.csv');
  symlinkSync(join(folder, 'unmounted', 'groups.csv'), link);
  await expect(openDraft(link, 0o600)).rejects.toThrow('It is a symbolic link to a file that does not exist');
  expect([readdirSync(folder), lstatSync(link).isSymbolicLink()]).toEqual([['link.csv'], true]);
});
