import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { copyDataDir, makeDataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { run } from '../support/process.ts';

let folder: string;
let output: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-no-database-'));
  output = join(folder, 'nightly.ndjson');
  writeFileSync(output, '{"user_group_id":"the last good export"}\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs commands, none of which may find a database. Returns what they print. */
async function runAll(settings: Record<string, string>): Promise<Set<string>> {
  const printed = new Set<string>();
  for (const command of [
    ['token', 'list'],
    ['keys', 'rotate', 'encryption'],
    ['groups', 'import', output],
    ['groups', 'export', '--output', output],
  ]) {
    const { code, stdout, stderr } = await run(command, settings);
    expect({ code, stdout }, command.join(' ')).toEqual({ code: 1, stdout: '' });
    printed.add(stderr);
  }
  expect(readFileSync(output, 'utf8')).toContain('the last good export');
  return printed;
}

const remedy = 'To begin with an empty one, start the gateway, or run the command migrate.\n';
const absence = (path: string) =>
  new Set([`There is no database in ${path}. Set DATA_DIR to the folder that the gateway uses. ${remedy}`]);

test('only serve, migrate and token create make a database in DATA_DIR', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => dataDir.remove());
  const absent = join(dataDir.path, 'mistyped');
  expect(await runAll({ DATA_DIR: absent })).toEqual(absence(absent));
  expect(await runAll({ DATA_DIR: dataDir.path })).toEqual(absence(dataDir.path));
  expect(readdirSync(dataDir.path)).toEqual([]);
  const create = ['token', 'create', '--name', 'first', '--environment', 'none'];
  expect(await run(create, { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
});

test('data that is gone, with its keys left, is not replaced by an empty database', async () => {
  const dataDir = copyDataDir();
  onTestFinished(() => dataDir.remove());
  expect(await run(['token', 'list'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
  const cluster = join(dataDir.path, 'postgres');
  rmSync(cluster, { recursive: true });
  const [text, ...others] = await runAll({ DATA_DIR: dataDir.path });
  expect(text).toContain(`${dataDir.path} has encryption keys, but no database that can be read. Mount the disk with the data`);
  expect(others).toEqual([]);
  expect(existsSync(cluster)).toBe(false);
});

test('only they make tables in the database of DATABASE_URL', async () => {
  const database = await createTestDatabase('template0');
  onTestFinished(() => database.close());
  const { host, pathname } = new URL(database.url);
  const text = `The database at ${host}${pathname} has no tables of a gateway. Check DATABASE_URL. ${remedy}`;
  expect(await runAll({ DATABASE_URL: database.url })).toEqual(new Set([text]));
  const tables = await database.pool.query("select from pg_tables where schemaname = 'public'");
  expect(tables.rowCount).toBe(0);
});
