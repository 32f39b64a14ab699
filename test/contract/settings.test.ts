import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeSettings, readConfig } from '../../src/settings.ts';

const all = describeSettings();
const page = readFileSync('docs/configuration.md', 'utf8');
const [table = ''] = page.split('## Settings')[1]?.split('\n## ') ?? [];
const rows = [...table.matchAll(/^\| `(\w+)` \|(.*)\|(.*)\|$/gm)].map(([, name, value = '', description = '']) => ({
  name,
  value: value.trim(),
  description: description.trim(),
}));

test('docs/configuration.md lists every setting with its default, in the order of the table', () => {
  const rowsOfTable = table.split('\n').filter((line) => line.startsWith('|')).length - 2; // without the heading
  expect(rows).toHaveLength(rowsOfTable);
  expect(rows.map(({ name, value }) => [name, value])).toEqual(all.map(({ name, value }) => [name, value]));
});

test.each(all)('docs/configuration.md describes $name as the help does, and may say more', ({ name, description }) => {
  expect(rows.find((row) => row.name === name)?.description.slice(0, description.length)).toBe(description);
});

test.each([true, false])('the defaults are valid and are those of the table (terminal: %s)', (isTerminal) => {
  expect(readConfig({}, isTerminal)).toMatchObject({
    host: '127.0.0.1',
    port: 4000,
    namedStatements: true,
    poolSize: 10,
    dataDir: '.data',
    drainDelaySeconds: 0,
    rateLimit: 0,
    playground: true,
    console: true,
    auditRetentionDays: 365,
    introspection: true,
    logLevel: 'info',
    logFormat: isTerminal ? 'pretty' : 'json',
  });
});

test('an empty value counts as not set', () => {
  const empty = Object.fromEntries(all.map(({ name }) => [name, '']));
  expect(readConfig(empty, false)).toEqual(readConfig({}, false));
});
