import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { issueToken } from '../../src/tokens.ts';
import { fileFields } from '../../src/user-groups/files.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';
import { retiredHash, storedToken, tokenOf } from '../support/keys.ts';
import { binary, endProcesses, launch, run } from '../support/process.ts';
import { forgedToken } from '../support/tokens.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-groups-'));
  await database.pool.query('delete from user_group; delete from event');
});
afterEach(async () => {
  await endProcesses();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => database.close());

type Line = Readonly<Record<string, unknown>>;
type Format = 'ndjson' | 'csv';

function file(name: string, text: string | Buffer): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const toNdjson = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

function toCsv(lines: readonly Line[]): string {
  const names = [...new Set(lines.flatMap((line) => Object.keys(line)))];
  const cell = (value: unknown = '') => `"${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('"', '""')}"`;
  return [names.join(), ...lines.map((line) => names.map((name) => cell(line[name])).join())].join('\r\n');
}

const settings = () => ({ DATABASE_URL: database.url });
const groups = (...args: string[]) => run(['groups', ...args], settings());
const importText = (format: Format, text: string | Buffer, ...args: string[]) =>
  groups('import', file(`groups.${format}`, text), ...args);
const importLines = (lines: readonly Line[], ...args: string[]) => importText('ndjson', toNdjson(lines), ...args);

/** The stored groups in the order of their numbers. */
const stored = async () => {
  const rows = await database.prisma.userGroup.findMany({ orderBy: { teamId: 'asc' } });
  return rows.map((row) => ({ ...row, token: tokenOf(row) }));
};

/** What the events of imports say that they created and updated. */
const recorded = async () => {
  const events = await database.prisma.event.findMany({ where: { type: 'user_group.imported' } });
  const sum = (name: string) =>
    events.reduce((total, { changes }) => total + Number((changes as Record<string, { to: number }>)[name]?.to), 0);
  return { created: sum('created'), updated: sum('updated') };
};

const group = (providedId: string, environmentTag: 'Customer' | 'Testing' | null, more: object = {}) =>
  database.prisma.userGroup.create({
    data: { providedId, environmentTag, name: 'stored', ...storedToken(`token of ${providedId} ${environmentTag}`), ...more },
  });

const token = 'token of an imported group';
const linesOf = (count: number, more: Line = {}): Line[] =>
  Array.from({ length: count }, (_, index) => ({
    user_group_id: `g${index}`,
    token: issueToken('userGroup'),
    environment: 'Testing',
    ...more,
  }));

test.each<[name: string, format: Format, text: string | Buffer, message: RegExp]>([
  ['an unknown column', 'csv', 'user_group_id,Tokn\na,b\n', /unknown column "Tokn"; the columns are: .* Did you mean token\?/],
  ['a JSON array', 'ndjson', '[{"user_group_id":"a"}]', /JSON array\. Write one object a line/],
  ['no names of columns', 'csv', 'acme,secret-of-acme\n', /first line must name the columns/],
  ['a quote that is not closed', 'csv', 'user_group_id,environment\n"a,none\nb,none\n', /not valid CSV/],
  ['a line that is too long', 'ndjson', `{"name":"${'x'.repeat(4_200_000)}`, /Line 1 has more than 4194304 characters/],
])('a file with %s is refused before its first line', async (_, format, text, message) => {
  const { code, stdout, stderr } = await importText(format, text);
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
  expect(stderr).toMatch(/^[^\n]* Nothing was imported\.\n$/);
  expect(stderr).not.toContain('secret');
  expect(await stored()).toEqual([]);
});

test.each([
  ['ndjson', toNdjson],
  ['csv', toCsv],
] as const)('an import of %s keeps given tokens and makes others; its export is imported unchanged', async (format, write) => {
  const full = { name: 'B, "Inc."', mapping: { s: 'd,\r\n' }, properties: { z: 1, a: [null] } };
  const { code, stdout, stderr } = await importText(
    format,
    `\uFEFF${write([
      { user_group_id: 'b', ...full, token, environment: 'Customer' },
      { user_group_id: 'b', environment: 'Testing', properties: {}, status: 'suspended', suspended_reason: 'unpaid' },
      { user_group_id: 'a', environment: 'none', status: 'active' },
    ])}`,
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '3 lines, 3 created, 0 unchanged, 0 rejected.\n', stderr: '' });
  const before = await stored();
  expect(before).toMatchObject([
    { providedId: 'b', environmentTag: 'Customer', ...full, token, suspended: false },
    { providedId: 'b', environmentTag: 'Testing', name: 'b', properties: {}, suspended: true, suspendedReason: 'unpaid' },
    { providedId: 'a', environmentTag: null, properties: null, mapping: {}, token: expect.stringMatching(/^ugt_/) },
  ]);
  const exported = await groups('export', '--format', format);
  expect(exported).toMatchObject({ code: 0, stderr: 'Exported 3 groups.\n' });
  expect((await importText(format, exported.stdout)).stdout).toBe('3 lines, 0 created, 3 unchanged, 0 rejected.\n');
  await database.pool.query('delete from user_group');
  expect(await importText(format, exported.stdout)).toMatchObject({ code: 0, stderr: '' });
  expect((await groups('export', '--format', format)).stdout).toBe(exported.stdout);
  expect((await stored()).map((row) => row.token)).toEqual(before.map((row) => row.token));
});

test.each<[name: string, line: Line | string, reason: string]>([
  ['no id', { name: 'n' }, 'user_group_id: is required\\.'],
  ['a short token', { user_group_id: 'g', token: '123456789012345' }, 'token: must be a string of 16 to 255 printable'],
  ['a mistyped token', { user_group_id: 'g', token: forgedToken('userGroup') }, 'token: begins with ugt_ and is mistyped'],
  ['a number in a mapping', { user_group_id: 'g', mapping: { sales: 1 } }, 'mapping\\.sales: must be a string\\.'],
  ['a reason of an active group', { user_group_id: 'g', suspended_reason: 'x' }, 'suspended_reason: must not be given unless'],
  ['another environment', { user_group_id: 'g', environment: 'none' }, 'environment: is none, not Testing as --environment says'],
  ['no JSON', '{"user_group_id":"a","token":"secret"', 'is not valid JSON\\.'],
  ['a member twice', '{"token":"secret","token":"secret"}', 'The JSON has the duplicate member "token"'],
  ['an unknown member', '{"user_group_id":"a","other":"secret"}', 'unknown member "other"; the members are: '],
])('a line with %s is rejected without any of its values, and the others are imported', async (_, line, reason) => {
  const text = typeof line === 'string' ? line : JSON.stringify(line);
  const lines = `{"user_group_id":"before"}\n\n${text}\n{"user_group_id":"behind"}\n`;
  const { code, stdout } = await importText('ndjson', lines, '--environment', 'Testing');
  expect(code).toBe(1);
  expect(stdout).toMatch(new RegExp(`^line 3: ${reason}[^\n]*\n3 lines, 2 created, 0 unchanged, 1 rejected\\.\n$`));
  expect(stdout).not.toContain('secret');
  expect((await stored()).map(({ providedId }) => providedId)).toEqual(['before', 'behind']);
});

describe('groups that exist', () => {
  const id = { user_group_id: 'g', environment: 'Testing' };
  const line = { ...id, name: 'new', properties: { a: 1 } };
  const before = { name: 'stored', mapping: { s: 'd' }, properties: { old: 1 }, token: 'token of g Testing', suspended: false };

  test.each<[name: string, onExisting: string, line: Line, output: RegExp, after?: object]>([
    ['skip leaves them', 'skip', { ...line, token }, /^1 line, 0 created, 1 unchanged, 0 rejected\.\n/],
    ['fail rejects the line', 'fail', line, /^line 1: user_group_id: a group with this id exists \(Testing\)\.\n/],
    ['update changes what is given', 'update', line, /1 updated/, { name: 'new', properties: { a: 1 } }],
    ['update replaces the token', 'update', { ...id, token }, /1 updated/, { token }],
    ['update clears properties', 'update', { ...id, properties: null }, /1 updated/, { properties: null }],
    ['update writes nothing for equal values', 'update', { ...id, mapping: { s: 'd' } }, /0 updated, 1 unchanged/],
  ])('%s', async (_, onExisting, changed, output, after) => {
    await group('g', 'Testing', { mapping: { s: 'd' }, properties: { old: 1 } });
    const args = ['--on-existing', onExisting];
    expect((await importLines([changed], ...args, '--dry-run')).stdout).toContain('Dry run, nothing was written');
    expect(await stored()).toMatchObject([before]);
    expect((await importLines([changed], ...args)).stdout).toMatch(output);
    expect(await stored()).toMatchObject([{ ...before, ...after, version: after ? 2 : 1 }]);
    expect(await recorded()).toMatchObject({ created: 0, updated: after ? 1 : 0 });
  });

  test('update resumes no group: a file may be older than the suspension', async () => {
    await group('g', 'Testing', { suspended: true, suspendedReason: 'unpaid' });
    const { stdout } = await importLines([{ ...id, status: 'active' }], '--on-existing', 'update');
    expect(stdout).toContain('0 updated, 1 unchanged');
    expect(await stored()).toMatchObject([{ suspended: true, suspendedReason: 'unpaid' }]);
  });

  test('a repeated id counts as existing; ids and tokens of others are rejected', async () => {
    const owner = await group('tagged', 'Customer');
    await group('untagged', null);
    const retired = { tokenHash: retiredHash(token), tokenEncrypted: Buffer.from([0]), teamId: owner.teamId };
    await database.prisma.retiredToken.create({ data: { ...retired, expiresAt: new Date(Date.now() + 60_000) } });
    const { stdout } = await importLines(
      [
        { user_group_id: 'tagged', environment: 'Testing' },
        { user_group_id: 'untagged', environment: 'Testing' },
        { user_group_id: 'tagged', environment: 'none' },
        { user_group_id: 'thief', environment: 'Testing', token: 'token of tagged Customer' },
        { user_group_id: 'thief', environment: 'Testing', token },
        ...linesOf(1_200),
        { user_group_id: 'g0', environment: 'Testing', name: 'last' },
      ],
      '--on-existing=update',
    );
    expect(stdout.replace(/(untagged group has|Testing group has).*/g, '$1')).toBe(
      [
        'line 2: user_group_id: an untagged group has',
        'line 3: user_group_id: a Customer or Testing group has',
        'line 4: token: belongs to another user group.',
        'line 5: token: belongs to another user group.',
        '1,206 lines, 1,201 created, 1 updated, 0 unchanged, 4 rejected.\n',
      ].join('\n'),
    );
    expect((await stored()).find(({ providedId }) => providedId === 'g0')).toMatchObject({ name: 'last' });
  });
});

test('the first 100 rejected lines are printed, and --report has all', async () => {
  const report = file('report.ndjson', 'earlier');
  const lines = [...linesOf(1), ...Array.from({ length: 1_500 }, () => ({ environment: 'Testing' }))];
  const { code, stdout } = await importLines(lines, '--report', report);
  expect([code, stdout.split('\n').slice(99)]).toEqual([
    1,
    [
      'line 101: user_group_id: is required.',
      '1,400 more lines were rejected; --report FILE writes all.',
      '1,501 lines, 1 created, 0 unchanged, 1,500 rejected.',
      '',
    ],
  ]);
  const reported = readFileSync(report, 'utf8').trimEnd().split('\n');
  expect([reported.length, reported.at(-1)]).toEqual([1_500, '{"line":1501,"reason":"user_group_id: is required."}']);
  expect(statSync(report).mode & 0o777).toBe(0o600);
});

test.each<[NodeJS.Signals, object]>([
  ['SIGKILL', { signal: 'SIGKILL' }],
  ['SIGTERM', { code: 143, stdout: expect.stringMatching(/^Stopped by SIGTERM after line 2500\. .* 2,500 updated/) }],
])('an import that is ended by %s is complete once it is run again, and its events sum up', async (signal, outcome) => {
  expect(await importLines(linesOf(2_500))).toMatchObject({ code: 0 });
  await database.pool.query('delete from event');
  // Its third transaction waits for a group that another one holds.
  const holder = await database.pool.connect();
  await holder.query("begin; select from user_group where provided_id = 'g2499' for update");
  const args = ['groups', 'import', file('new.ndjson', toNdjson(linesOf(2_500, { name: 'new' }))), '--on-existing', 'update'];
  const started = launch(process.execPath, [binary, ...args], settings());
  await untilBlocked(database);
  started.child.kill(signal);
  if (signal === 'SIGKILL') await started.ended;
  await holder.query('rollback');
  holder.release();
  expect(await started.ended).toMatchObject(outcome);
  expect(await run(args, settings())).toMatchObject({ code: 0, stdout: expect.stringMatching(/^2,500 lines, .* 0 rejected/) });
  expect(await recorded()).toEqual({ created: 0, updated: 2_500 });
  expect((await stored()).every(({ name }) => name === 'new')).toBe(true);
});

test('memory is bounded in both directions, whatever the size of the file', async () => {
  const limited = { ...settings(), NODE_OPTIONS: '--max-old-space-size=64' };
  const rows = Array.from({ length: 1_200 }, (_, index) => `g${index},"{""a"":""${'x'.repeat(60_000)}""}"\n`);
  const source = file('large.csv', `user_group_id,properties\n${rows.join('')}`);
  const imported = await run(['groups', 'import', source, '--environment', 'Testing'], limited);
  expect(imported).toMatchObject({ code: 0, stderr: '', stdout: '1,200 lines, 1,200 created, 0 unchanged, 0 rejected.\n' });
  const output = join(folder, 'out.csv');
  expect(await run(['groups', 'export', '--output', output], limited)).toMatchObject({ code: 0, stderr: '' });
  expect(statSync(output).size).toBeGreaterThan(70_000_000);
}, 180_000);

test('export --output replaces a file, so that only its owner can read it; one that fails leaves it as it was', async () => {
  const target = file('old.csv', 'old');
  chmodSync(target, 0o644);
  await group('broken', null, { tokenHash: Buffer.from([0]), tokenEncrypted: Buffer.from([0]) });
  expect((await groups('export', '--output', target)).code).toBe(1);
  expect([readFileSync(target, 'utf8'), readdirSync(folder)]).toEqual(['old', ['old.csv']]);
  await database.pool.query('delete from user_group');
  expect((await groups('export', '--output', target)).stdout).toMatch(
    /^Exported 0 groups to .*old\.csv, which only its owner may/,
  );
  expect(readFileSync(target, 'utf8')).toBe(`${fileFields.join(',')}\r\n`);
  expect(statSync(target).mode & 0o777).toBe(0o600);
});
