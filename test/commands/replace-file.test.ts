import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { prepareReplacement } from '../../src/commands/replace-file.ts';

test('a file that was changed since it was read is left as it is, with nothing beside it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'replace-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'mint.json');
  const prepare = (previous: string) => prepareReplacement(file, Buffer.from(previous), 'fixed');
  const content = () => [readdirSync(folder), readFileSync(file, 'utf8')];
  writeFileSync(file, 'edited');
  await expect(prepare('read')).rejects.toThrow(/was changed meanwhile/);
  expect(content()).toEqual([['mint.json'], 'edited']);

  const late = await prepare('edited');
  writeFileSync(file, 'edited again');
  await expect(late.publish()).rejects.toThrow(/was changed meanwhile/);
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
