import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { groups } from '../../src/commands/groups.ts';
import { UsageError } from '../../src/commands/options.ts';
import { issueToken } from '../../src/tokens.ts';
import { importFields } from '../../src/user-groups/import-lines.ts';
import { copyDataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { startGateway } from '../support/gateway.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { tokenOf } from '../support/keys.ts';
import { endProcesses, launch, run, serve, until } from '../support/process.ts';

afterEach(endProcesses);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-groups-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file with this text. Returns its path. */
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const linesOf = (count: number, prefix = 'g'): { text: string; tokens: ReadonlyMap<string, string> } => {
  const tokens = new Map(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, issueToken('userGroup')]));
  const text = [...tokens].map(
    ([user_group_id, token]) => `${JSON.stringify({ user_group_id, token, environment: 'Testing' })}\n`,
  );
  return { text: text.join(''), tokens };
};

async function open() {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const tokens = async () => {
    const rows = await database.prisma.userGroup.findMany();
    return new Map(rows.map((row) => [row.providedId, tokenOf(row)]));
  };
  return { database, tokens, settings: { DATABASE_URL: database.url } };
}

/** Starts an import of standard input, which stays open. */
function startImport(settings: Record<string, string>, args: string[] = []) {
  const running = launch(process.execPath, ['dist/main.js', 'groups', 'import', '-', ...args], settings, {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.child.stdin?.on('error', () => {});
  return running;
}

test('an import prints rejected lines and a summary, and an export of it can be imported again', async () => {
  const { settings } = await open();
  const source = file('groups.csv', '\uFEFFuser_group_id,name,plan\r\na,"A, Inc.",gold\r\na,again,\r\n,nobody,\r\n');
  const imported = await run(['groups', 'import', source, '--environment', 'Customer'], settings);
  expect(imported).toMatchObject({ code: 1, stderr: '' });
  expect(imported.stdout.split('\n')).toEqual([
    'The field "plan" is not one of a user group, and is ignored.',
    'line 3: user_group_id: is the same as in line 2; only a Customer and a Testing group can share an id.',
    'line 4: user_group_id: is required.',
    '3 lines, 1 created, 0 unchanged, 2 rejected.',
    '',
  ]);

  const exported = await run(['groups', 'export'], settings);
  expect(exported).toMatchObject({ code: 0, stderr: 'Exported 1 group.\n' });
  const again = startImport(settings);
  again.child.stdin?.end(exported.stdout);
  expect(await again.ended).toMatchObject({ code: 0, stdout: '1 line, 0 created, 1 unchanged, 0 rejected.\n', stderr: '' });

  const untagged = await run(['groups', 'import', file('b.jsonl', '{"user_group_id":"b"}'), '--dry-run'], settings);
  expect(untagged).toMatchObject({ code: 0 });
  expect(untagged.stdout).toMatch(/^Dry run, nothing was written: 1 line, 1 created, .*\nOf these groups 1 are untagged/);
});

test.each([
  ['groups', 'export'],
  ['groups', 'import', '-', '--format', 'csv', '--dry-run'],
  ['keys', 'list'],
  ['token', 'list'],
])('%s %s applies no migration', async (...args) => {
  const { database, settings } = await open();
  await database.pool.query('delete from _prisma_migrations');
  const ended = await run(args, settings);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain('has no tables of a gateway');
  expect(ended.stderr).not.toMatch(/\n\s+at /);
  expect((await database.pool.query('select from _prisma_migrations')).rowCount).toBe(0);
});

test('an import of CSV says that the last line has no line break: the file may be cut off there', async () => {
  const { settings, tokens } = await open();
  const args = ['groups', 'import', file('cut.csv', 'user_group_id,token\na,token-of-the-group-a\nb,token-of-the-group')];
  expect(await run([...args, '--environment', 'Customer'], settings)).toMatchObject({
    code: 0,
    stdout:
      '2 lines, 2 created, 0 unchanged, 0 rejected.\n' +
      'Line 3, the last one, has no line break at its end: if the file is not complete, it was cut off there.\n',
  });
  expect([...(await tokens()).values()]).toEqual(['token-of-the-group-a', 'token-of-the-group']);
});

test('a file that is still being written is not imported to its end', async () => {
  const { database, settings, tokens } = await open();
  const lines = Array.from({ length: 10_000 }, (_, index) => `g${index},token-of-the-group-${index}\n`);
  const source = file('growing.csv', `user_group_id,token\n${lines.join('')}cut,token-of-the-group`);
  const held = await holdWrites(database.url);
  const importing = launch(process.execPath, ['dist/main.js', 'groups', 'import', source, '--environment', 'Customer'], settings);
  await held.untilOneWaits();
  appendFileSync(source, '-that-was-cut\n');
  await held.release();
  const { code, stdout, stderr } = await importing.ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/^Failed after line \d+\. .*It is safe to run the same command again\.\n$/);
  expect(stderr).toContain('The file was written while it was read. Import it when it is complete.');
  expect((await tokens()).has('cut')).toBe(false);
});

test('an import that updates says how many tokens it replaces, because one in the file may be older than a rotation', async () => {
  const { settings } = await open();
  const args = ['groups', 'import', '-', '--format', 'csv', '--environment', 'Customer', '--on-existing', 'update'];
  const read = async (lines: string[], ...more: string[]) => {
    const importing = launch(process.execPath, ['dist/main.js', ...args, ...more], settings, { stdio: ['pipe', 'pipe', 'pipe'] });
    importing.child.stdin?.end(['user_group_id,name,token', ...lines, ''].join('\n'));
    return (await importing.ended).stdout;
  };
  const [a, b] = ['a,A,token-of-the-group-a', 'b,B,token-of-the-group-b'];
  expect(await read([a, b])).toBe('2 lines, 2 created, 0 updated, 0 unchanged, 0 rejected.\n');
  const other = ['a,A,other-token-of-group-a', 'b,renamed,token-of-the-group-b'];
  expect(await read(other, '--dry-run')).toBe(
    'Dry run, nothing was written: 2 lines, 0 created, 2 exist and may be updated, 1 token would be replaced, 0 unchanged, 0 rejected.\n',
  );
  expect(await read(other)).toBe('2 lines, 0 created, 2 updated, 1 token replaced, 0 unchanged, 0 rejected.\n');
  expect(await read(other)).toBe('2 lines, 0 created, 0 updated, 2 unchanged, 0 rejected.\n');
});

test('a rejected line is reported without any token', async () => {
  const { settings } = await open();
  const secret = 'secret-of-the-earlier-system';
  const lines = [
    `{"user_group_id":"a","token":"${secret}"`,
    `{"token":"${secret}","token":"${secret}"}`,
    `{"token":"${secret}"}`,
    `"${secret}"`,
  ];
  const { code, stdout, stderr } = await run(['groups', 'import', file('a.ndjson', lines.join('\n'))], settings);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).not.toContain('secret');
  expect(stdout).toMatch(
    /^line 1: is not valid JSON\.\nline 2: The JSON has the duplicate member "token".*\nline 3: user_group_id: is required\.\nline 4: must be a JSON object\.\n4 lines/,
  );
});

test('both work with the bundled PostgreSQL, while a gateway runs and when none does', async () => {
  const dataDir = copyDataDir();
  onTestFinished(() => dataDir.remove());
  const settings = { DATA_DIR: dataDir.path };
  const { text } = linesOf(3);
  expect(await run(['groups', 'import', file('a.ndjson', text)], settings)).toMatchObject({ code: 0 });
  const gateway = await serve(settings);
  expect(await run(['groups', 'import', file('a.ndjson', text)], settings)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('3 unchanged'),
  });
  const { code, stdout } = await run(['groups', 'export', '--output', '-'], settings);
  const parsed = (lines: string) =>
    lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  const stored = parsed(text).map((group) => ({ ...group, name: group.user_group_id, mapping: {}, properties: null }));
  expect(code).toBe(0);
  expect(parsed(stdout)).toMatchObject(stored);
  await gateway.stop();
});

test.runIf(process.platform === 'linux').each([
  ['/dev/stdout >>', 'The standard output, or the standard error, of this command goes there, so it is not replaced'],
  ['/dev/fd/3 3>>', 'It is an open file, which others may append to, so it is not replaced'],
])('no export replaces the file of %s', async (output, reason) => {
  const { settings } = await open();
  const all = file('all.ndjson', 'of before\n');
  const export_ = `"${process.execPath}" dist/main.js groups export --format ndjson --output ${output} "${all}"`;
  const { code, stderr } = await launch('sh', ['-c', export_], settings).ended;
  expect({ code, kept: readFileSync(all, 'utf8') }).toEqual({ code: 2, kept: 'of before\n' });
  expect(stderr).toContain(reason);
});

test('an import that is killed is complete once it is run again', async () => {
  const { database, tokens, settings } = await open();
  const { text, tokens: given } = linesOf(4_000);
  const started = startImport(settings);
  started.child.stdin?.write(text.slice(0, text.length / 2 + 3_000));
  await until(() => database.prisma.userGroup.count(), 'the first batch is written');
  started.child.kill('SIGKILL');
  await started.ended;
  expect(await database.prisma.userGroup.count()).toBeLessThan(4_000);
  expect(await run(['groups', 'import', file('a.ndjson', text)], settings)).toMatchObject({ code: 0 });
  expect(await tokens()).toEqual(given);
});

describe('an import that ends in its third transaction has recorded what the first two have changed', () => {
  /** Runs until the third transaction waits for the last group, which another one holds. */
  async function begin() {
    const { database, tokens, settings } = await open();
    const earlier = linesOf(2_500);
    expect(await run(['groups', 'import', file('a.ndjson', earlier.text)], settings)).toMatchObject({ code: 0 });
    await database.pool.query('delete from event');
    const holder = await database.pool.connect();
    onTestFinished(async () => {
      await holder.query('rollback');
      holder.release();
    });
    await holder.query("begin; select from user_group where provided_id = 'g2499' for update");
    const source = file('b.ndjson', linesOf(2_500).text);
    const started = launch(process.execPath, ['dist/main.js', 'groups', 'import', source, '--on-existing', 'update'], settings);
    const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await until(async () => (await database.pool.query(waiting)).rowCount, 'the third transaction waits');
    const changed = async () => [...(await tokens())].filter(([id, token]) => token !== earlier.tokens.get(id)).length;
    return { database, started, changed, waiting };
  }

  type Begun = Awaited<ReturnType<typeof begin>>;

  test.each<[string, (begun: Begun) => unknown, object]>([
    ['SIGKILL', ({ started }) => started.child.kill('SIGKILL'), { signal: 'SIGKILL' }],
    [
      'SIGINT again and again',
      ({ started: { child } }) => until(() => !child.kill('SIGINT'), 'it ends'),
      { code: 130, signal: null },
    ],
    [
      'the end of its connection',
      ({ database, waiting }) => database.pool.query(`select pg_terminate_backend(pid) from (${waiting}) as one`),
      {
        code: 1,
        stdout: expect.stringMatching(
          /^Failed after line 2000\. 2,000 lines, .* 2,000 updated, .*The same command, run again, replaces what others have changed since/,
        ),
      },
    ],
  ])('%s', async (_, end, outcome) => {
    const begun = await begin();
    await end(begun);
    expect(await begun.started.ended).toMatchObject(outcome);
    expect(await begun.changed()).toBe(2_000);
    const changes = {
      import: { from: null, to: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      created: { from: null, to: 0 },
      updated: { from: null, to: 1_000 },
    };
    const imported = { type: 'user_group.imported', changes };
    expect(await begun.database.prisma.event.findMany()).toMatchObject([imported, imported]);
  });
});

test.each([
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)('%s writes what was read, says so, and ends with %i', async (signal, exitCode) => {
  const { database, settings } = await open();
  const started = startImport(settings);
  started.child.stdin?.write(linesOf(2_500).text);
  await until(() => database.prisma.userGroup.count(), 'the first batch is written');
  started.child.kill(signal);
  const { code, stdout, stderr } = await started.ended;
  const written = await database.prisma.userGroup.count();
  expect({ code, stderr }).toEqual({ code: exitCode, stderr: '' });
  expect(stdout).toBe(
    `Stopped by ${signal} after line ${written}. ${written.toLocaleString('en-US')} lines, ${written.toLocaleString('en-US')} created, 0 unchanged, 0 rejected. ` +
      'What was written stays. It is safe to run the same command again.\n',
  );
});

test.runIf(process.platform !== 'win32')('SIGINT ends an import of a named pipe whose writer pauses', async () => {
  const { database, settings } = await open();
  const pipe = join(folder, 'pipe.ndjson');
  execFileSync('mkfifo', [pipe]);
  const started = launch(process.execPath, ['dist/main.js', 'groups', 'import', pipe], settings);
  const writer = await openFile(pipe, 'w');
  try {
    await writer.write(linesOf(2_500).text);
    await until(() => database.prisma.userGroup.count(), 'the first batch is written');
    started.child.kill('SIGINT');
    expect(await started.ended).toMatchObject({ code: 130, stderr: '' });
  } finally {
    await writer.close();
  }
});

test('requests and an import that create the same groups at once: each is created once, and all have its token', async () => {
  const gateway = await startGateway();
  onTestFinished(() => gateway.close());
  const { text, tokens } = linesOf(1_200);
  const imported = run(['groups', 'import', file('a.ndjson', text)], { DATABASE_URL: gateway.database.url });
  let over = false;
  void imported.then(() => {
    over = true;
  });
  const answered = new Map<string, string>();
  const ids = [...tokens.keys()].reverse();
  for (let from = 0; from < ids.length && !over; from += 40) {
    const some = ids.slice(from, from + 40);
    const replies = await Promise.all(some.map((id) => gateway.send('GET', '/api/user', { body: { user_group_id: id } })));
    for (const [index, { status, json }] of replies.entries()) {
      expect(status).toBe(200);
      answered.set(some[index] as string, json.user_group.token);
    }
  }
  const { code, stdout } = await imported;
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^1,200 lines, [\d,]+ created, [\d,]+ unchanged, 0 rejected\.\n$/),
  });
  const rows = await gateway.database.prisma.userGroup.findMany();
  expect(rows).toHaveLength(1_200);
  const stored = new Map(rows.map((row) => [row.providedId, tokenOf(row)]));
  expect(answered.size).toBeGreaterThan(0);
  for (const [id, token] of answered) expect(token).toBe(stored.get(id));
  for (const [id, token] of tokens) if (!answered.has(id)) expect(stored.get(id)).toBe(token);
});

test('memory is bounded in both directions, whatever the size of the file', async () => {
  const { settings } = await open();
  const limited = { ...settings, NODE_OPTIONS: '--max-old-space-size=48' };
  // 50 MB of text, more than the process may have.
  const line = (index: number) => `${JSON.stringify({ user_group_id: `g${index}`, properties: { a: 'x'.repeat(60_000) } })}\n`;
  const source = file('large.ndjson', '');
  for (let index = 0; index < 840; index += 210) {
    writeFileSync(source, Array.from({ length: 210 }, (_, offset) => line(index + offset)).join(''), { flag: 'a' });
  }
  expect(await run(['groups', 'import', source], limited)).toMatchObject({ code: 0, stderr: '' });
  const output = join(folder, 'out.ndjson');
  expect(await run(['groups', 'export', '--output', output], limited)).toMatchObject({ code: 0, stderr: '' });
  expect(statSync(output).size).toBeGreaterThan(50_000_000);
});

describe('many rejected lines', () => {
  /** 4 × 200 lines, all but one rejected, for reasons with other names and numbers in them. */
  const source = () => {
    const lines = Array.from({ length: 200 }, (_, index) => [
      JSON.stringify({ user_group_id: 'good' }),
      JSON.stringify({ user_group_id: `g${index}`, properties: { [`a: ${index}`]: '\0' } }),
      `{${' '.repeat(index)}`,
      JSON.stringify({ user_group_id: `s${index}`, status: 'suspended', suspended_reason: `${'x'.repeat(index)}\n` }),
    ]);
    return file('many.ndjson', lines.flat().join('\n'));
  };
  const counts = [
    '        200  properties: must not contain the character NUL (U+0000).',
    '        200  is not valid JSON.',
    '        200  suspended_reason: must not contain control characters or invisible marks.',
    '        199  user_group_id: is the same as in an earlier line; only a Customer and a Testing group can share an id.',
  ];

  test.each([['--dry-run'], ['--on-existing=skip']])(
    'the first 100 are printed, all are counted by reason, and --report has each: %s',
    async (option) => {
      const { settings } = await open();
      const report = file('report.ndjson', 'earlier');
      const { code, stdout } = await run(['groups', 'import', source(), '--report', report, option], settings);
      const printed = stdout.split('\n');
      expect(code).toBe(1);
      expect(printed.filter((line) => line.startsWith('line '))).toHaveLength(100);
      expect(printed.slice(100, 107)).toEqual([
        '799 lines were rejected, of which the first 100 are listed. By reason:',
        ...counts,
        `Wrote 799 rejected lines to ${report}.`,
        expect.stringMatching(/800 lines, 1 created, 0 unchanged, 799 rejected\.$/),
      ]);
      const reported = readFileSync(report, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(reported).toHaveLength(799);
      expect(reported.slice(0, 100).map(({ line, reason }) => `line ${line}: ${reason}`)).toEqual(printed.slice(0, 100));
      expect(statSync(report).mode & 0o777).toBe(0o600);
    },
  );

  test('the report does not replace the file to import', async () => {
    const path = source();
    symlinkSync(path, join(folder, 'link.ndjson'));
    await expect(groups(['import', path, '--report', join(folder, 'link.ndjson')], process)).rejects.toThrow(
      /--report must name another file/,
    );
  });
});

test.runIf(process.platform === 'linux')(
  'an import whose output cannot be written goes on, writes its report, and ends with status 1',
  async () => {
    const { database, settings } = await open();
    const source = file('a.ndjson', `{}\n${linesOf(2_500).text}`);
    const report = join(folder, 'report.ndjson');
    const command = `exec "${process.execPath}" dist/main.js groups import ${source} --report ${report} >/dev/full`;
    expect(await launch('sh', ['-c', command], settings).ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^(?:Cannot write to standard output: ENOSPC: no space left on device, write\n)+$/),
    });
    expect(await database.prisma.userGroup.count()).toBe(2_500);
    expect(readFileSync(report, 'utf8')).toBe('{"line":1,"reason":"user_group_id: is required."}\n');
    expect(readdirSync(folder).sort()).toEqual(['a.ndjson', 'report.ndjson']);
  },
);

test.runIf(process.platform === 'linux').each([
  ['< /tmp', 'it is a folder'],
  ['<&-', 'it is closed'],
])('an import from a standard input that cannot be read is refused (%s)', async (input, reason) => {
  const { settings } = await open();
  const command = `exec "${process.execPath}" dist/main.js groups import - ${input}`;
  expect(await launch('sh', ['-c', command], settings).ended).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `Cannot read standard input: ${reason}. Nothing was imported.\n`,
  });
  const empty = await launch('sh', ['-c', command.replace(input, '< /dev/null')], settings).ended;
  expect(empty).toMatchObject({ code: 0, stderr: '' });
});

test('fields that groups do not have are named once, with what was meant, and many of them in part', async () => {
  const { settings } = await open();
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`other${index}`, 1]));
  const text = `${JSON.stringify({ user_group_id: 'a', propertes: {}, ...fields })}\n{"user_group_id":"b","propertes":{}}\n`;
  const { stdout } = await run(['groups', 'import', file('a.ndjson', text), '--environment', 'Testing'], settings);
  const lines = stdout.split('\n');
  expect(lines[0]).toBe('The field "propertes" is not one of a user group, and is ignored. Did you mean properties?');
  expect(lines.slice(19)).toEqual([
    'The field "other18" is not one of a user group, and is ignored.',
    'Further fields are ignored, too.',
    '2 lines, 2 created, 0 unchanged, 0 rejected.',
    '',
  ]);
});

describe('groups export --output', () => {
  test('replaces a file, also behind a symbolic link, so that only its owner can read it', async () => {
    const { settings } = await open();
    const target = file('old.csv', 'old');
    chmodSync(target, 0o644);
    symlinkSync(target, join(folder, 'link.csv'));
    const { code, stdout } = await run(['groups', 'export', '--output', join(folder, 'link.csv')], settings);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Exported 0 groups to .*link\.csv, which only its owner may read/),
    });
    expect(readFileSync(target, 'utf8')).toBe(`${importFields.join(',')}\r\n`);
    expect(statSync(target).mode & 0o777).toBe(0o600);
  });

  test('an export that fails leaves the file as it was, and no other', async () => {
    const { database, settings } = await open();
    await database.pool.query(
      "insert into user_group (provided_id, name, token_hash, token_encrypted) values ('g', 'g', '\\x00', '\\x00')",
    );
    const target = file('old.ndjson', 'old');
    const { code } = await run(['groups', 'export', '--output', target], settings);
    expect(code).toBe(1);
    expect(readFileSync(target, 'utf8')).toBe('old');
    expect(existsSync(`${target}.tmp`)).toBe(false);
  });
});

test.each(['import a.ndjson --report b.ndjson', 'export --output b.ndjson'])(
  '%s leaves no file when the database cannot be opened',
  async (command) => {
    file('a.ndjson', '');
    const args = command.split(' ').map((word) => (word.endsWith('.ndjson') ? join(folder, word) : word));
    expect(await run(['groups', ...args], { DATABASE_URL: 'none' })).toMatchObject({ code: 1 });
    expect(readdirSync(folder)).toEqual(['a.ndjson']);
  },
);

test('a reader that closes the output early ends the export without a message, but not with success', async () => {
  const { settings } = await open();
  expect(await run(['groups', 'import', file('a.ndjson', linesOf(2_000).text)], settings)).toMatchObject({ code: 0 });
  const started = launch(
    'sh',
    ['-c', `{ ${JSON.stringify(process.execPath)} dist/main.js groups export; echo "status $?" >&2; } | head -c 10`],
    settings,
  );
  expect(await started.ended).toMatchObject({ stdout: '{"user_gro', stderr: 'status 1\n' });
});

describe('arguments', () => {
  beforeEach(() => {
    // If a command connected to the database, it would fail after ten seconds.
    vi.stubEnv('DATABASE_URL', 'postgresql://nobody@127.0.0.1:1/none');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test.each([
    ['no action', [], /No subcommand.*groups import FILE/s],
    ['an unknown action', ['copy'], /Unknown command "groups copy"/],
    ['no file', ['import'], /Name the file to import/],
    ['two files', ['import', 'a.csv', 'b.csv'], /Unexpected argument "b\.csv"/],
    ['a name that stands for no format', ['import', 'a.txt'], /--format is required: "a\.txt"/],
    ['an unknown format', ['import', '-', '--format', 'xml'], /--format must be ndjson or csv, not "xml"/],
    ['an unknown environment', ['import', '-', '--environment', 'x'], /--environment must be Customer, Testing or none/],
    [
      'an unknown way with groups that exist',
      ['import', '-', '--on-existing', 'x'],
      /--on-existing must be skip, update or fail/,
    ],
    ['a file that does not exist', ['import', '/nowhere/a.csv'], /Cannot read \/nowhere\/a\.csv: ENOENT/],
    ['a folder', ['import', '/tmp', '--format', 'csv'], /Cannot read \/tmp: it is a folder/],
    ['a report without a name', ['import', 'package.json', '--format', 'csv', '--report', ''], /--report must name a file\./],
    [
      'a report to standard output',
      ['import', 'package.json', '--format', 'csv', '--report', '-'],
      /--report must name a file: \.\/- for one/,
    ],
    ...['import package.json --format csv --report', 'export --format csv --output'].flatMap((command) =>
      [
        ['a folder', 'src', 'It is not a regular file, so it is not replaced'],
        ['in a folder that does not exist', '/nowhere/a.csv', 'ENOENT: .*'],
        ['in a file', 'package.json/a.csv', 'ENOTDIR: .*'],
      ].map(([what, path = '', reason]): [string, string[], RegExp] => [
        `${command}: ${what}`,
        [...command.split(' '), path],
        RegExp(
          `^${path} cannot be written: ${reason}\\. Nothing was \\w+ported\\. Choose another file, in a folder that exists and is writable\\.$`,
        ),
      ]),
    ),
    ['an output without a name', ['export', '--format', 'csv', '--output', ''], /--output must name a file\./],
    ['a word for export', ['export', 'a.csv'], /Unexpected argument "a\.csv"/],
    ['an output that stands for no format', ['export', '--output', 'a.txt'], /--format is required/],
    ['several mistakes', ['import', '--environment', 'x', '--dry'], /Unknown option --dry\..*Name the file.*--environment/s],
  ])('%s is a usage error, reported before anything is opened', async (_, args, text) => {
    const failure = await groups(args, process).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toMatch(text);
  });
});

test.each([
  [
    'columns without an id',
    'a.csv',
    'id;name\n1;2\n',
    /one of them must be user_group_id or providedId\. Known columns: .*environmentTag/,
  ],
  ['a column twice', 'a.csv', 'user_group_id,name,name\n', /names the column "name" twice/],
  ['nothing in it', 'a.csv', '', /The first line must name the columns/],
  ['empty lines only', 'a.csv', '\r\n\n', /The first line must name the columns/],
  ['UTF-16', 'a.csv', Buffer.from('\uFEFFuser_group_id\n', 'utf16le').toString('latin1'), /is in UTF-16/],
])('a file with %s is not imported', async (_, name, text, message) => {
  const { settings } = await open();
  const path = join(folder, name);
  writeFileSync(path, text, 'latin1');
  const { code, stdout, stderr } = await run(['groups', 'import', path], settings);
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^Failed after line 0\. 0 lines, 0 created/) });
  expect(stderr).toMatch(message);
});
