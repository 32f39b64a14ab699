import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { copyDataDir, makeDataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { launch, run } from '../support/process.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-no-database-'));
  writeFileSync(join(folder, 'import.ndjson'), '{"user_group_id":"a"}\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const commands: string[][] = [
  ['token', 'list'],
  ['keys', 'list'],
  ['keys', 'rotate', 'encryption'],
  ['groups', 'import', 'import.ndjson'],
  ['groups', 'export', '--output', 'nightly.ndjson'],
];

/** Runs each command, none of which may find a database. Returns what they print. */
async function runAll(settings: Record<string, string>): Promise<Set<string>> {
  const printed = new Set<string>();
  const output = join(folder, 'nightly.ndjson');
  writeFileSync(output, 'the last good export');
  for (const command of commands) {
    const { code, stdout, stderr } = await run(
      command.map((word) => (word.endsWith('.ndjson') ? join(folder, word) : word)),
      settings,
    );
    expect({ code, stdout }, command.join(' ')).toEqual({ code: 1, stdout: '' });
    printed.add(stderr);
  }
  expect(readFileSync(output, 'utf8')).toBe('the last good export');
  return printed;
}

const remedy = 'To begin with an empty one, start the gateway, or run the command migrate.';

test('only serve, migrate and token create make a database in DATA_DIR', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => dataDir.remove());
  const absent = join(dataDir.path, 'mistyped');
  const text = (path: string) => `There is no database in ${path}. Set DATA_DIR to the folder that the gateway uses. ${remedy}\n`;
  expect(await runAll({ DATA_DIR: absent })).toEqual(new Set([text(absent)]));
  expect(readdirSync(dataDir.path)).toEqual([]);
  expect(await runAll({ DATA_DIR: dataDir.path })).toEqual(new Set([text(dataDir.path)]));
  expect(readdirSync(dataDir.path)).toEqual([]);

  const create = ['token', 'create', '--name', 'first', '--environment', 'none'];
  expect(await run(create, { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
  expect(await run(['token', 'list'], { DATA_DIR: dataDir.path })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('first'),
  });
});

test('a command without settings says which database it uses', async () => {
  const { code, stderr } = await launch(process.execPath, [resolve('dist/main.js'), 'token', 'list'], {}, { cwd: folder }).ended;
  const path = join(folder, '.data');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      `DATABASE_URL is not set, and DATA_DIR is .data: using the database in ${path}.\n` +
      `There is no database in ${path}. Set DATA_DIR to the folder that the gateway uses. ${remedy}\n`,
  });
});

test('data that is gone, with its keys left, is not replaced by an empty database', async () => {
  const dataDir = copyDataDir();
  onTestFinished(() => dataDir.remove());
  expect(await run(['token', 'list'], { DATA_DIR: dataDir.path })).toMatchObject({ code: 0 });
  rmSync(join(dataDir.path, 'postgres'), { recursive: true });
  const text =
    `${dataDir.path} has encryption keys, but no database that can be read. Mount the disk with the data, run the command as the user ` +
    `that runs the gateway, or restore a backup. To begin with an empty database, move ${join(dataDir.path, 'encryption-keys')} elsewhere.\n`;
  expect(await runAll({ DATA_DIR: dataDir.path })).toEqual(new Set([text]));
  expect(existsSync(join(dataDir.path, 'postgres'))).toBe(false);
});

test('only they make tables in the database of DATABASE_URL', async () => {
  const database = await createTestDatabase('template0');
  onTestFinished(() => database.close());
  const { host, pathname } = new URL(database.url);
  expect(await runAll({ DATABASE_URL: database.url })).toEqual(
    new Set([`The database at ${host}${pathname} has no tables of a gateway. Check DATABASE_URL. ${remedy}\n`]),
  );
  const tables = await database.pool.query("select from pg_tables where schemaname = 'public'");
  expect(tables.rowCount).toBe(0);
  expect(await run(['migrate'], { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
  expect(await run(['groups', 'export'], { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
});
