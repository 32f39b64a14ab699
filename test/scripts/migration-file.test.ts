import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMigration, separateIndexes } from '../../scripts/migration-file.ts';
import { endProcesses, launch } from '../support/process.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-test-'));
  mkdirSync(join(folder, '20260102030405_init'));
});
afterEach(async () => {
  await endProcesses();
  rmSync(folder, { recursive: true });
});

test('a migration is a folder with its time and name', () => {
  const file = createMigration(folder, 'add_color', 'alter table a add b text;\n', new Date('2026-01-02T03:04:06.789Z'));
  expect(file).toBe(join(folder, '20260102030406_add_color/migration.sql'));
  expect(readFileSync(file, 'utf8')).toBe('alter table a add b text;\n');
});

test.each([
  ['without SQL', 'add_color', '\n', '2027-01-01T00:00:00Z', /must have SQL/],
  ['without a name', '', 'select 1;', '2027-01-01T00:00:00Z', /Name the migration/],
  ['with a path as its name', '../add', 'select 1;', '2027-01-01T00:00:00Z', /Name the migration/],
  ['older than an existing one', 'add_color', 'select 1;', '2026-01-01T00:00:00Z', /20260102030405_init is newer/],
])('a migration %s is rejected, and nothing is created', (_, name, sql, now, message) => {
  expect(() => createMigration(folder, name, sql, new Date(now))).toThrow(message);
  expect(readdirSync(folder)).toEqual(['20260102030405_init']);
});

const column = '-- AlterTable\nALTER TABLE "a" ADD COLUMN "b" TEXT;';
const table = '-- CreateTable\nCREATE TABLE "c" (\n    "d" TEXT\n);';
const index = (name: string, on: string, how = '') => `-- CreateIndex\nCREATE UNIQUE INDEX ${how}"${name}" ON "${on}"("b");`;

test.each([
  ['nothing', '', []],
  ['a column', column, [column]],
  ['an index on a new table', `${table}\n\n${index('x', 'c')}`, [`${table}\n\n${index('x', 'c')}`]],
  ['an index on an existing table', index('x', 'a'), [index('x', 'a', 'CONCURRENTLY ')]],
  [
    'a column and two indexes on an existing table',
    [index('x', 'a'), column, index('y', 'a')].join('\n\n'),
    [column, index('x', 'a', 'CONCURRENTLY '), index('y', 'a', 'CONCURRENTLY ')],
  ],
])('%s: each index on an existing table is built concurrently, in a migration of its own', (_, sql, expected) => {
  expect(separateIndexes(sql)).toEqual(expected.map((each) => `${each}\n`));
});

test('npm run migration without a name fails, and creates nothing', async () => {
  const before = readdirSync('prisma/migrations');
  // What it runs once the packages are installed, as they are here.
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { migration: string } };
  const [program = '', ...args] = scripts.migration.replace('node scripts/setup.js packages && ', '').split(' ');
  const { code, stderr } = await launch(program, args, {}).ended;
  expect(stderr).toContain('Name the migration');
  expect(code).toBe(1);
  expect(readdirSync('prisma/migrations')).toEqual(before);
});
