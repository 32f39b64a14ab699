import { chmodSync, chownSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { prepareReplacement } from '../../src/commands/replace-file.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'replace-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a file that was changed since it was read is left as it is, with nothing beside it', async () => {
  const folder = makeFolder();
  const file = join(folder, 'mint.json');
  const prepare = (previous: string) => prepareReplacement(file, Buffer.from(previous), 'fixed');
  const content = () => [readdirSync(folder), readFileSync(file, 'utf8')];
  writeFileSync(file, 'edited');
  await expect(prepare('read')).rejects.toThrow(/has changed in the meantime/);
  expect(content()).toEqual([['mint.json'], 'edited']);

  const late = await prepare('edited');
  writeFileSync(file, 'edited again');
  await expect(late.publish()).rejects.toThrow(/has changed in the meantime/);
  await late.discard();
  expect(content()).toEqual([['mint.json'], 'edited again']);

  const discarded = await prepare('edited again');
  await discarded.discard();
  expect(content()).toEqual([['mint.json'], 'edited again']);

  const [first, second] = [await prepare('edited again'), await prepare('edited again')];
  await first.publish();
  await first.discard();
  await second.publish(); // the file has this text already
  await second.discard();
  expect(content()).toEqual([['mint.json'], 'fixed']);
});

test('a file that is read-only is left as it is', async () => {
  const folder = makeFolder();
  const file = join(folder, 'mint.json');
  writeFileSync(file, 'read', { mode: 0o444 });
  await expect(prepareReplacement(file, Buffer.from('read'), 'fixed')).rejects.toThrow(/is read-only/);
  expect(readdirSync(folder)).toEqual(['mint.json']);
  expect(readFileSync(file, 'utf8')).toBe('read');
});

test('a file with another hard link is left as it is', async () => {
  const folder = makeFolder();
  const [file, other] = [join(folder, 'mint.json'), join(folder, 'other.json')];
  writeFileSync(file, 'read');
  linkSync(file, other);
  await expect(prepareReplacement(file, Buffer.from('read'), 'fixed')).rejects.toThrow(/has further hard links/);
  expect(readdirSync(folder)).toEqual(['mint.json', 'other.json']);
  expect(readFileSync(other, 'utf8')).toBe('read');
});

test.runIf(process.getuid?.() === 0)('a file of another user keeps its owner, its group and its mode', async () => {
  const file = join(makeFolder(), 'mint.json');
  writeFileSync(file, 'read');
  chownSync(file, 4_711, 4_712);
  chmodSync(file, 0o640);
  await (await prepareReplacement(file, Buffer.from('read'), 'fixed')).publish();
  const { uid, gid, mode } = statSync(file);
  expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 4_711, gid: 4_712, mode: 0o640 });
});
