import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyFile } from '../../src/database/backup/copy-file.ts';
import { createPageCheck } from '../../src/database/backup/page-checksums.ts';

const check = (path: string, page: Buffer, offset: number) => createPageCheck(path)?.(page, offset);

test('pages are numbered over the files of a table, of which each has 1 GiB', () => {
  const page = Buffer.alloc(8_192, 'a');
  const isIntact = (checksum: number) => {
    page.writeUInt16LE(checksum, 8);
    return check('base/5/16384', page, 2 ** 30) === undefined;
  };
  expect(Array.from({ length: 65_536 }, (_, checksum) => checksum).find(isIntact)).toBeDefined();
  expect(check('base/5/16384.1', page, 0)).toBeUndefined();
  expect(check('base/5/16384', page, 0)).toBe(0);
});

test.each(['base/5/16384', 'base/5/16384.12', 'base/5/16384_vm', 'base/5/16384_init', 'global/1262'])('%s has pages', (path) => {
  const pages = Buffer.concat([Buffer.alloc(8_192), Buffer.alloc(8_192, 'a')]);
  expect(check(path, pages, 8_192 * 5)).toBe(6); // one that was never used is intact
});

test.each(['base/5/16384_fsm', 'base/5/pg_filenode.map', 'global/pg_control', 'pg_wal/000000010000000000000001', 'PG_VERSION'])(
  '%s has no checksums',
  (path) => expect(createPageCheck(path)).toBeUndefined(),
);

test('a page that was read while it was written is read again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [source, target] = [join(folder, 'source'), join(folder, 'target')];
  writeFileSync(source, 'content');
  const found = [3, undefined];
  const copied = await copyFile(source, target, { signal: new AbortController().signal, findDamaged: () => found.shift() });
  expect([copied.bytes, readFileSync(target, 'utf8'), found]).toEqual([7, 'content', []]);
});
