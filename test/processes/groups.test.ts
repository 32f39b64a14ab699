import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { issueToken } from '../../src/tokens.ts';
import { fileFields } from '../../src/user-groups/files.ts';
import { copyDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway } from '../support/gateway.ts';
import { retiredHash, storedToken, tokenOf } from '../support/keys.ts';
import { endProcesses, launch, run, serve, until } from '../support/process.ts';
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

/** Writes a file with this text. Returns its path. */
function file(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const toNdjson = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** The same lines in CSV; only for values that CSV can have. */
function toCsv(lines: readonly Line[]): string {
  const names = [...new Set(lines.flatMap((line) => Object.keys(line)))];
  const cell = (value: unknown) => {
    const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
    return `"${text.replaceAll('"', '""')}"`;
  };
  return [names.join(), ...lines.map((line) => names.map((name) => cell(line[name])).join())].join('\r\n');
}

const settings = () => ({ DATABASE_URL: database.url });
const gateway = (...args: string[]) => run(['groups', ...args], settings());
const importText = (format: Format, text: string | Buffer, ...args: string[]) =>
  gateway('import', file(`groups.${format}`, text), ...args);
const importLines = (lines: readonly Line[], ...args: string[]) => importText('ndjson', toNdjson(lines), ...args);

/** The stored groups in the order of their numbers. */
const stored = async () => {
  const rows = await database.prisma.userGroup.findMany({ orderBy: { teamId: 'asc' } });
  return rows.map(({ providedId, environmentTag, name, mapping, properties, suspended, ...row }) => {
    return { providedId, environmentTag, name, mapping, properties, suspended, token: tokenOf(row) };
  });
};

/** What the events of imports say that they created and updated. */
const recorded = async () => {
  const events = await database.prisma.event.findMany();
  const sum = (name: string) =>
    events.reduce((total, { changes }) => total + Number((changes as Record<string, { to: number }>)[name]?.to), 0);
  return { types: [...new Set(events.map(({ type }) => type))], created: sum('created'), updated: sum('updated') };
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

test.each<[name: string, format: Format, text: string | Buffer, message: RegExp, args?: string[]]>([
  [
    'an unknown column',
    'csv',
    'user_group_id,Tokn,environment\na,b,none\n',
    /unknown column "Tokn"; the columns are: user_group_id, .* Did you mean token\?/,
  ],
  [
    'an unknown member',
    'ndjson',
    '{"user_group_id":"a","propertes":{},"environment":"none"}\n',
    /unknown member "propertes"; the members are: user_group_id, .* Did you mean properties\?/,
  ],
  ['a JSON array', 'ndjson', '[{"user_group_id":"a","environment":"none"}]', /JSON array\. Write one object a line/],
  ['CSV as NDJSON', 'ndjson', 'user_group_id,environment\na,none\n', /not a JSON object\. .* --format csv/],
  ['UTF-16', 'csv', Buffer.from('\uFEFFuser_group_id,environment\n', 'utf16le'), /not text in UTF-8/],
  ['gzip', 'ndjson', gzipSync('{"user_group_id":"a","environment":"none"}\n'), /not text in UTF-8/],
  ['no text, as CSV', 'csv', '', /is empty\. The first line must name the columns/],
  [
    'no names of columns',
    'csv',
    'acme,secret-of-acme,none\n',
    /first line must name the columns, separated by commas, and one of them must be user_group_id/,
  ],
  ['a column twice', 'csv', 'user_group_id,name,name,environment\n', /names the column "name" twice/],
  ['no column environment, and no such option', 'csv', 'user_group_id\na\n', /no column environment\. Add it, or --environment/],
  ['a quote that is not closed', 'csv', 'user_group_id,environment\n"a,none\nb,none\n', /not valid CSV/],
  ['a line that is too long', 'ndjson', `{"name":"${'x'.repeat(4_200_000)}`, /Line 1 has more than 4194304 characters/],
])('a file with %s is refused before its first line', async (_, format, text, message) => {
  for (const option of [[], ['--dry-run']]) {
    const { code, stdout, stderr } = await importText(format, text, ...option);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    expect(stderr).toMatch(/^[^\n]* Nothing was imported\.\n$/);
    expect(stderr).not.toContain('secret');
  }
  expect(await stored()).toEqual([]);
});

describe.each(['ndjson', 'csv'] as const)('%s', (format) => {
  const write = format === 'ndjson' ? toNdjson : toCsv;
  const importAll = (lines: readonly Line[], ...args: string[]) => importText(format, `\uFEFF${write(lines)}`, ...args);
  /** The number of a line of the file, the first line of CSV being the names of the columns. */
  const at = (line: number) => (format === 'csv' ? line + 1 : line);

  test('an import keeps given tokens, makes others, stores every field, and keeps the order of the file', async () => {
    const { code, stdout, stderr } = await importAll([
      {
        user_group_id: 'b',
        name: 'B, "Inc."',
        token,
        mapping: { s: 'd' },
        properties: { z: 1, a: [null] },
        environment: 'Customer',
      },
      { user_group_id: 'b', environment: 'Testing', properties: {}, status: 'suspended', suspended_reason: 'unpaid' },
      { user_group_id: 'a', environment: 'none', status: 'active' },
    ]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '3 lines, 3 created, 0 unchanged, 0 rejected.\n', stderr: '' });
    const made = { token: expect.stringMatching(/^ugt_/), mapping: {}, suspended: false };
    expect(await stored()).toEqual([
      {
        ...made,
        providedId: 'b',
        environmentTag: 'Customer',
        name: 'B, "Inc."',
        mapping: { s: 'd' },
        properties: { z: 1, a: [null] },
        token,
      },
      { ...made, providedId: 'b', environmentTag: 'Testing', name: 'b', properties: {}, suspended: true },
      { ...made, providedId: 'a', environmentTag: null, name: 'a', properties: null },
    ]);
  });

  test.each<[name: string, line: Line, reason: RegExp]>([
    ['no id', { name: 'n' }, /^user_group_id: is required\.$/],
    ['NUL', { user_group_id: 'g', name: 'a\0b' }, /^name: must not contain the character NUL/],
    ['a short token', { user_group_id: 'g', token: '123456789012345' }, /^token: must be a string of 16 to 255 printable/],
    ['a mistyped token', { user_group_id: 'g', token: forgedToken('userGroup') }, /^token: begins with ugt_ and is mistyped/],
    ['a number in a mapping', { user_group_id: 'g', mapping: { a: 'b', sales: 1 } }, /^mapping\.sales: must be a string\.$/],
    [
      'properties too large',
      { user_group_id: 'g', properties: { a: 'x'.repeat(65_536) } },
      /^properties: must have at most 64 KiB/,
    ],
    ['a reason of an active group', { user_group_id: 'g', suspended_reason: 'x' }, /^suspended_reason: must not be given unless/],
  ])('a line with %s is rejected, and the others are imported', async (_, line, reason) => {
    const lines = [{ user_group_id: 'before' }, line, { user_group_id: 'behind' }];
    const { code, stdout } = await importAll(lines.map((each) => ({ environment: 'Testing', ...each })));
    const [rejected = '', summary] = stdout.split('\n');
    expect([code, rejected.split(': ', 1), summary]).toEqual([
      1,
      [`line ${at(2)}`],
      '3 lines, 2 created, 0 unchanged, 1 rejected.',
    ]);
    expect(rejected.slice(rejected.indexOf(' ', 5) + 1)).toMatch(reason);
    expect((await stored()).map(({ providedId }) => providedId)).toEqual(['before', 'behind']);
  });

  test('a line without an environment is rejected unless --environment gives it, and one that names another one, too', async () => {
    const lines = [
      { user_group_id: 'a' },
      { user_group_id: 'b', environment: 'Testing' },
      { user_group_id: 'c', environment: 'none' },
    ];
    expect((await importAll(lines)).stdout).toMatch(
      new RegExp(
        `^line ${at(1)}: environment: is required: Customer, Testing or none \\(untagged\\)\\. Add it, or --environment\\.\n3 lines, 2 created`,
      ),
    );
    await database.pool.query('delete from user_group');
    expect((await importAll(lines, '--environment', 'Testing')).stdout).toMatch(
      new RegExp(`^line ${at(3)}: environment: is none, not Testing as --environment says\\.\n3 lines, 2 created`),
    );
    expect((await stored()).map(({ environmentTag }) => environmentTag)).toEqual(['Testing', 'Testing']);
  });

  test('an export is imported unchanged, and exported again byte by byte', async () => {
    const other = await createTestDatabase();
    onTestFinished(() => other.close());
    await importAll([
      { user_group_id: 'z', name: 'a "name"', token, properties: { a: '"\n' }, environment: 'none' },
      { user_group_id: 'a', environment: 'Testing', mapping: { s: 'd,\r\n' }, status: 'suspended' },
    ]);
    const exported = await gateway('export', '--format', format);
    expect(exported).toMatchObject({ code: 0, stderr: 'Exported 2 groups.\n' });
    expect(exported.stdout).toContain(format === 'csv' ? `${fileFields.join()}\r\n` : '"environment":"none"');
    const again = file(`again.${format}`, exported.stdout);
    const elsewhere = { DATABASE_URL: other.url };
    expect(await run(['groups', 'import', again], elsewhere)).toMatchObject({ code: 0, stderr: '' });
    expect((await run(['groups', 'export', '--format', format], elsewhere)).stdout).toBe(exported.stdout);
    expect((await gateway('import', again)).stdout).toBe('2 lines, 0 created, 2 unchanged, 0 rejected.\n');
  });
});

test.each<[name: string, line: string, reason: RegExp]>([
  ['no JSON', `{"user_group_id":"a","token":"secret"`, /^is not valid JSON\.$/],
  ['a member twice', '{"token":"secret","token":"secret"}', /^The JSON has the duplicate member "token"/],
  ['an unknown member', '{"user_group_id":"a","other":"secret"}', /^unknown member "other"; the members are: /],
  [
    'a control character in a name',
    '{"user_group_id":"a","properties":{"a\\nb":"\\u0000"}}',
    /^properties\.a�b: must not contain/,
  ],
])('a later line with %s is rejected without any of its values', async (_, line, reason) => {
  const { code, stdout } = await importText('ndjson', `{"user_group_id":"a"}\n\n${line}\n`, '--environment', 'Testing');
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^line 3: [^\n]+\n2 lines, 1 created, 0 unchanged, 1 rejected\.\n$/)]);
  expect(stdout.slice('line 3: '.length).split('\n')[0]).toMatch(reason);
  expect(stdout).not.toContain('secret');
});

test('a file that is not UTF-8 further on is imported to there, and says how far', async () => {
  const text = Buffer.concat([Buffer.from(toNdjson(linesOf(3_000))), Buffer.from([0xff])]);
  const { code, stdout, stderr } = await importText('ndjson', text);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/not text in UTF-8/)]);
  expect(stdout).toMatch(
    /^Failed after line 2000\. 2,000 lines, 2,000 created, .* It is safe to run the same command again\.\n$/,
  );
  expect(await recorded()).toEqual({ types: ['user_group.imported'], created: 2_000, updated: 0 });
});

describe('groups that exist', () => {
  const line = { user_group_id: 'g', environment: 'Testing', name: 'new', properties: { a: 1 } };
  const given = { ...line, token };
  const kept = { providedId: 'g', environmentTag: 'Testing', mapping: { s: 'd' }, suspended: false };
  const before = { ...kept, name: 'stored', properties: { old: 1 }, token: 'token of g Testing' };

  test.each<[name: string, onExisting: string, line: Line, output: string | RegExp, after?: object]>([
    ['skip leaves them', 'skip', given, '1 line, 0 created, 1 unchanged, 0 rejected.\n'],
    ['fail rejects the line', 'fail', given, /^line 1: user_group_id: a group with this id exists \(Testing\)\.\n/],
    [
      'update changes what is given',
      'update',
      line,
      '1 line, 0 created, 1 updated, 0 unchanged, 0 rejected.\n',
      { name: 'new', properties: { a: 1 } },
    ],
    ['update replaces the token', 'update', { ...line, name: 'stored', properties: { old: 1 }, token }, /1 updated/, { token }],
    [
      'update clears properties',
      'update',
      { user_group_id: 'g', environment: 'Testing', properties: null },
      /1 updated/,
      { properties: null },
    ],
    [
      'update writes nothing for equal values',
      'update',
      { user_group_id: 'g', environment: 'Testing', name: 'stored', mapping: { s: 'd' } },
      /0 updated, 1 unchanged/,
    ],
    [
      'update suspends',
      'update',
      { user_group_id: 'g', environment: 'Testing', status: 'suspended', suspended_reason: 'r' },
      /1 updated/,
      { suspended: true },
    ],
    ...['name', 'mapping', 'token'].map((field): [string, string, Line, RegExp] => [
      `update rejects null as ${field}`,
      'update',
      { ...line, [field]: null },
      new RegExp(`^line 1: ${field}: must not be null; omit it to keep the current value\\.\n`),
    ]),
  ])('%s', async (_, onExisting, changed, output, after = {}) => {
    await group('g', 'Testing', { mapping: { s: 'd' }, properties: { old: 1 } });
    await database.pool.query('delete from event');
    const args = ['--on-existing', onExisting];
    await importLines([changed], ...args, '--dry-run');
    expect(await stored()).toEqual([before]);
    const { stdout } = await importLines([changed], ...args);
    if (typeof output === 'string') expect(stdout).toBe(output);
    else expect(stdout).toMatch(output);
    expect(await stored()).toEqual([{ ...before, ...after }]);
    const updated = Object.keys(after).length > 0 ? 1 : 0;
    expect(await recorded()).toMatchObject({ created: 0, updated });
    const { version } = await database.prisma.userGroup.findFirstOrThrow();
    expect(version).toBe(1 + updated);
  });

  test('update resumes no group: a file may be older than the suspension', async () => {
    await group('g', 'Testing', { suspended: true, suspendedReason: 'unpaid' });
    for (const status of ['active', null, 'suspended']) {
      const lines = [{ user_group_id: 'g', environment: 'Testing', status }];
      expect((await importLines(lines, '--on-existing', 'update')).stdout).toContain('0 updated, 1 unchanged');
    }
    expect(await database.prisma.userGroup.findFirst()).toMatchObject({ suspended: true, suspendedReason: 'unpaid' });
  });

  test('a repeated id or token counts as existing, whether in one transaction or not', async () => {
    const other = { ...line, token: issueToken('userGroup') };
    const lines = [
      given,
      { ...line, name: 'again' },
      { ...other, user_group_id: 'h' },
      { ...given, user_group_id: 'thief' },
      ...linesOf(1_200),
    ];
    const { stdout } = await importLines([...lines, { ...line, name: 'last' }], '--on-existing', 'update');
    expect(stdout).toBe(
      'line 4: token: belongs to another user group.\n1,205 lines, 1,202 created, 2 updated, 0 unchanged, 1 rejected.\n',
    );
    expect((await stored())[0]).toMatchObject({ providedId: 'g', name: 'last', token });
  });

  test('an id that an untagged group shares with another one is rejected; Customer and Testing share one', async () => {
    await group('tagged', 'Customer');
    await group('untagged', null);
    const { stdout } = await importLines([
      { user_group_id: 'tagged', environment: 'Testing' },
      { user_group_id: 'untagged', environment: 'Testing' },
      { user_group_id: 'tagged', environment: 'none' },
    ]);
    expect(stdout).toMatch(
      /^line 2: user_group_id: an untagged group has this id, .*\nline 3: user_group_id: a Customer or Testing group has this id, .*\n3 lines, 1 created/,
    );
  });
});

describe('a token that another group has', () => {
  const lines = [{ user_group_id: 'thief', environment: 'Testing', token }];
  const retire = (teamId: number, seconds: number) =>
    database.prisma.retiredToken.create({
      data: {
        tokenHash: retiredHash(token),
        tokenEncrypted: Buffer.from([0]),
        teamId,
        expiresAt: new Date(Date.now() + seconds * 1_000),
      },
    });

  test.each<[name: string, prepare: () => Promise<unknown>, isRejected: boolean]>([
    ['as its current one', () => group('owner', 'Customer', storedToken(token)), true],
    ['in its grace period', async () => retire((await group('owner', 'Customer')).teamId, 60), true],
    ['whose grace period has ended', async () => retire((await group('owner', 'Customer')).teamId, -60), false],
    [
      'as its current one, and the line changes a group',
      async () => [await group('owner', null, storedToken(token)), await group('thief', 'Testing')],
      true,
    ],
  ])('%s', async (_, prepare, isRejected) => {
    await prepare();
    for (const option of ['--dry-run', '--on-existing=update']) {
      const { code, stdout } = await importLines(lines, option, '--on-existing=update'.replace(option, '--format=ndjson'));
      expect(stdout.startsWith('line 1: token: belongs to another user group.\n')).toBe(isRejected);
      expect(code).toBe(Number(isRejected));
    }
    expect((await stored()).some((row) => row.providedId === 'thief' && row.token === token)).toBe(!isRejected);
    if (!isRejected) expect(await database.prisma.retiredToken.count()).toBe(0);
  });
});

test.each([['--dry-run'], ['--on-existing=skip']])(
  'the first 100 rejected lines are printed, and --report has all: %s',
  async (option) => {
    const lines = [
      { user_group_id: 'good', environment: 'Testing' },
      ...Array.from({ length: 1_500 }, () => ({ environment: 'Testing' })),
    ];
    const report = file('report.ndjson', 'earlier');
    const { code, stdout } = await importLines(lines, '--report', report, option);
    const printed = stdout.split('\n');
    expect([code, printed.slice(99)]).toEqual([
      1,
      [
        'line 101: user_group_id: is required.',
        '1,400 more lines were rejected; --report FILE writes all.',
        expect.stringMatching(/1,501 lines, 1 created, 0 unchanged, 1,500 rejected\.$/),
        '',
      ],
    ]);
    const reported = readFileSync(report, 'utf8').trimEnd().split('\n');
    expect([reported.length, reported.at(-1)]).toEqual([1_500, '{"line":1501,"reason":"user_group_id: is required."}']);
    expect(statSync(report).mode & 0o777).toBe(0o600);
    expect(await database.prisma.userGroup.count()).toBe(option === '--dry-run' ? 0 : 1);
  },
);

/** Starts an import whose third transaction waits for a group that another transaction holds. */
async function startAndHold() {
  const earlier = linesOf(2_500);
  expect(await importLines(earlier)).toMatchObject({ code: 0 });
  await database.pool.query('delete from event');
  const holder = await database.pool.connect();
  const release = async () => {
    await holder.query('rollback');
    holder.release();
  };
  await holder.query("begin; select from user_group where provided_id = 'g2499' for update");
  const source = file('new.ndjson', toNdjson(linesOf(2_500, { name: 'new' })));
  const args = ['groups', 'import', source, '--on-existing', 'update'];
  const started = launch(process.execPath, ['dist/main.js', ...args], settings());
  const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await until(async () => (await database.pool.query(waiting)).rowCount, 'the third transaction waits');
  return { started, release, waiting, again: () => run(args, settings()) };
}

type Held = Awaited<ReturnType<typeof startAndHold>>;

test.each<[string, (held: Held) => unknown, object]>([
  ['SIGKILL', ({ started }) => started.child.kill('SIGKILL'), { signal: 'SIGKILL' }],
  [
    'the end of its connection',
    ({ waiting }) => database.pool.query(`select pg_terminate_backend(pid) from (${waiting}) as one`),
    {
      code: 1,
      stdout: expect.stringMatching(
        /^Failed after line 2000\. 2,000 lines, .* 2,000 updated, .*It is safe to run the same command again\.\n$/,
      ),
    },
  ],
])('an import that is ended by %s is complete once it is run again, and its events sum up', async (_, end, outcome) => {
  const held = await startAndHold();
  await end(held);
  expect(await held.started.ended).toMatchObject(outcome);
  await held.release();
  expect(await recorded()).toEqual({ types: ['user_group.imported'], created: 0, updated: 2_000 });
  expect(await held.again()).toMatchObject({
    code: 0,
    stdout: '2,500 lines, 0 created, 500 updated, 2,000 unchanged, 0 rejected.\n',
  });
  expect(await recorded()).toEqual({ types: ['user_group.imported'], created: 0, updated: 2_500 });
  expect((await stored()).every(({ name }) => name === 'new')).toBe(true);
});

test('SIGTERM ends an import after the transaction that it is in, and it says how far it came', async () => {
  const { started, release } = await startAndHold();
  started.child.kill('SIGTERM');
  await release();
  const { code, stdout, stderr } = await started.ended;
  expect({ code, stderr }).toEqual({ code: 143, stderr: '' });
  expect(stdout).toMatch(
    /^Stopped by SIGTERM after line 2500\. .* 2,500 updated, .* It is safe to run the same command again\.\n$/,
  );
});

test('SIGINT ends an import that waits for its input', async () => {
  const options = { stdio: ['pipe', 'pipe', 'pipe'] } as const;
  const started = launch(process.execPath, ['dist/main.js', 'groups', 'import', '-'], settings(), {
    ...options,
    stdio: [...options.stdio],
  });
  started.child.stdin?.write(toNdjson(linesOf(1_500)));
  await until(() => database.prisma.userGroup.count(), 'the first batch is written');
  started.child.kill('SIGINT');
  expect(await started.ended).toMatchObject({ code: 130, stdout: expect.stringMatching(/^Stopped by SIGINT after line 1000\./) });
});

test('requests and an import that create the same groups at once: each is created once, and all have its token', async () => {
  const gateway = await startGateway();
  onTestFinished(() => gateway.close());
  const lines = linesOf(1_200);
  const imported = run(['groups', 'import', file('a.ndjson', toNdjson(lines))], { DATABASE_URL: gateway.database.url });
  let over = false;
  void imported.then(() => {
    over = true;
  });
  const answered = new Map<string, string>();
  const ids = lines.slice(-200).map((line) => line['user_group_id'] as string);
  for (let from = 0; from < ids.length && !over; from += 40) {
    const some = ids.slice(from, from + 40);
    const replies = await Promise.all(some.map((id) => gateway.send('GET', '/api/user', { body: { user_group_id: id } })));
    for (const [index, { json }] of replies.entries()) answered.set(some[index] as string, json.user_group.token);
  }
  expect(await imported).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^1,200 lines, .*, 0 rejected\.\n$/),
  });
  const rows = await gateway.database.prisma.userGroup.findMany();
  const tokens = new Map(rows.map((row) => [row.providedId, tokenOf(row)]));
  expect([rows.length, answered.size > 0]).toEqual([1_200, true]);
  for (const line of lines) {
    const id = line['user_group_id'] as string;
    expect(tokens.get(id)).toBe(answered.get(id) ?? line['token']);
  }
});

test('memory is bounded in both directions, whatever the size of the file', async () => {
  const limited = { ...settings(), NODE_OPTIONS: '--max-old-space-size=64' };
  // 70 MB of text, more than the process may have.
  const source = file('large.csv', 'user_group_id,properties\n');
  for (let index = 0; index < 1_200; index += 1)
    writeFileSync(source, `g${index},"{""a"":""${'x'.repeat(60_000)}""}"\n`, { flag: 'a' });
  const imported = await run(['groups', 'import', source, '--environment', 'Testing'], limited);
  expect(imported).toMatchObject({ code: 0, stderr: '', stdout: '1,200 lines, 1,200 created, 0 unchanged, 0 rejected.\n' });
  const output = join(folder, 'out.csv');
  expect(await run(['groups', 'export', '--output', output], limited)).toMatchObject({ code: 0, stderr: '' });
  expect(statSync(output).size).toBeGreaterThan(70_000_000);
}, 180_000);

test('both work with the bundled PostgreSQL, while a gateway runs and when none does', async () => {
  const dataDir = copyDataDir();
  onTestFinished(() => dataDir.remove());
  const bundled = { DATA_DIR: dataDir.path };
  const source = file('a.ndjson', toNdjson(linesOf(3)));
  expect(await run(['groups', 'import', source], bundled)).toMatchObject({ code: 0 });
  const server = await serve(bundled);
  expect((await run(['groups', 'import', source], bundled)).stdout).toContain('3 unchanged');
  expect((await run(['groups', 'export', '--output', '-'], bundled)).stdout.split('\n')).toHaveLength(4);
  await server.stop();
});

test.each([
  ['groups', 'export'],
  ['groups', 'import', '-', '--format', 'csv', '--dry-run'],
  ['keys', 'list'],
  ['token', 'list'],
])('%s %s applies no migration', async (...args) => {
  const empty = await createTestDatabase();
  onTestFinished(() => empty.close());
  await empty.pool.query('delete from _prisma_migrations');
  const ended = await run(args, { DATABASE_URL: empty.url });
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('has no tables of a gateway') });
  expect((await empty.pool.query('select from _prisma_migrations')).rowCount).toBe(0);
});

describe('groups export', () => {
  test('--output replaces a file, so that only its owner can read it', async () => {
    const target = file('old.csv', 'old');
    chmodSync(target, 0o644);
    const { code, stdout } = await gateway('export', '--output', target);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Exported 0 groups to .*old\.csv, which only its owner may read/)]);
    expect(readFileSync(target, 'utf8')).toBe(`${fileFields.join(',')}\r\n`);
    expect(statSync(target).mode & 0o777).toBe(0o600);
  });

  test('an export that fails leaves the file as it was, and no other', async () => {
    await group('g', null, { tokenHash: Buffer.from([0]), tokenEncrypted: Buffer.from([0]) });
    const target = file('old.ndjson', 'old');
    expect((await gateway('export', '--output', target)).code).toBe(1);
    expect([readFileSync(target, 'utf8'), readdirSync(folder)]).toEqual(['old', ['old.ndjson']]);
  });

  test('a reader that closes the output early ends the export, but not with success', async () => {
    await importLines(linesOf(2_000));
    const command = `{ ${JSON.stringify(process.execPath)} dist/main.js groups export; echo "status $?" >&2; } | head -c 10`;
    const { stdout, stderr } = await launch('sh', ['-c', command], settings()).ended;
    expect([stdout, stderr]).toEqual(['{"user_gro', expect.stringMatching(/status 1\n$/)]);
  });
});
