import { closeSync, existsSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeBackup } from '../support/backup.ts';
import type { TestDataDir } from '../support/data-dir.ts';
import { makeDatabaseFolder } from '../support/database-folder.ts';
import { makeKeyedDataDir, startEmbeddedGateway } from '../support/embedded-gateway.ts';

let source: TestDataDir;
let folder: string;
/** The file of each table and index, relative to the data directory of PostgreSQL. */
let paths: ReadonlyMap<string, string>;
beforeAll(async () => {
  source = makeKeyedDataDir();
  folder = makeDatabaseFolder();
  const gateway = await startEmbeddedGateway(source.path);
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  const { rows } = await gateway.database.pool.query<{ relname: string; path: string }>(
    "select relname, pg_relation_filepath(oid) as path from pg_class where relkind in ('r', 'i')",
  );
  paths = new Map(rows.map(({ relname, path }) => [relname, path]));
  await gateway.close();
});
afterAll(async () => {
  await source.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Inverts a byte in the first page of a file; twice, it is as before. */
function invert(file: string, position: number): void {
  const fd = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, position);
  writeSync(fd, Buffer.from([~(byte[0] as number)]), 0, 1, position);
  closeSync(fd);
}

test.each([
  ['a table', 'event', 8_000],
  ['the checksum of a table', 'user_group', 8],
  ['an index', 'user_group_pkey', 100],
  ['a table of all databases', 'pg_shdescription', 4_096],
])('a backup of data that is damaged on disk is not made: %s', async (_, relation, position) => {
  const path = paths.get(relation) as string;
  const file = join(source.path, 'postgres', path);
  const target = join(folder, relation);
  invert(file, position);
  const damaged = expect(makeBackup(source.path, target)).rejects;
  await damaged.toThrow(new RegExp(`Page 0 of \\S+${path} is damaged: its checksum is wrong\\. No backup was made\\.`));
  expect(existsSync(target)).toBe(false);
  invert(file, position);
  await makeBackup(source.path, target);
});
