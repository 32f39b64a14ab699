import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generateEncryptionKey } from '../../src/encryption/key-texts.ts';
import { KeyRing } from '../../src/encryption/keys.ts';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { issueToken } from '../../src/tokens.ts';
import { toCsvRecord } from '../../src/user-groups/files/records.ts';
import { importNames } from '../../src/user-groups/import-lines.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';
import { importText } from '../support/group-files.ts';
import { retiredHash, storedToken, testKeys, tokenOf } from '../support/keys.ts';
import { forgedToken, isTokenOf } from '../support/tokens.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.prisma.userGroup.deleteMany();
});
afterAll(() => database.close());

type Line = Readonly<Record<string, unknown>>;

const toNdjson = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** The same lines in CSV; only for values that CSV can have. */
const toCsv = (lines: readonly Line[]): string =>
  [importNames, ...lines.map((line) => importNames.map((name) => cellOf(name, line[name])))].map(toCsvRecord).join('');

const cellOf = (field: string, value: unknown): string =>
  value === undefined ? '' : field === 'mapping' || field === 'properties' ? JSON.stringify(value) : String(value);

const stored = async () => {
  const rows = await database.prisma.userGroup.findMany({ orderBy: [{ providedId: 'asc' }, { environmentTag: 'asc' }] });
  return rows.map(({ providedId, environmentTag, name, mapping, properties, ...row }) => ({
    providedId,
    environmentTag,
    name,
    mapping,
    properties,
    token: tokenOf(row),
  }));
};

const token = 'token of an imported group';
const group = (providedId: string, environmentTag: 'Customer' | 'Testing' | null, more: object = {}) =>
  database.prisma.userGroup.create({
    data: { providedId, environmentTag, name: 'stored', ...storedToken(`token of ${providedId} ${environmentTag}`), ...more },
  });

describe.each(['ndjson', 'csv'] as const)('%s', (format) => {
  const write = format === 'ndjson' ? toNdjson : toCsv;
  const run = (lines: readonly Line[], options: object = {}) => importText(database, write(lines), { format, ...options });
  /** The number of a line of the file, the first line of CSV being the names of the columns. */
  const at = (line: number) => (format === 'csv' ? line + 1 : line);

  test('keeps given tokens, makes others, and stores every field', async () => {
    const summary = await run([
      { user_group_id: 'a', name: 'A', token, mapping: { s: 'd' }, properties: { z: 1, a: [null] }, environment: 'Customer' },
      { user_group_id: 'a', environment: 'Testing', properties: {} },
      { user_group_id: 'b', environment: 'none' },
    ]);
    expect(summary).toMatchObject({ lines: 3, created: 3, rejected: 0, untaggedByDefault: 0, lastLine: at(3) });
    const made = expect.stringMatching(isTokenOf('userGroup'));
    expect(await stored()).toEqual([
      { providedId: 'a', environmentTag: 'Customer', name: 'A', mapping: { s: 'd' }, properties: { z: 1, a: [null] }, token },
      { providedId: 'a', environmentTag: 'Testing', name: 'a', mapping: {}, properties: {}, token: made },
      { providedId: 'b', environmentTag: null, name: 'b', mapping: {}, properties: null, token: made },
    ]);
  });

  test('takes the names and values of the schema, too', async () => {
    const summary = await run([
      { providedId: 'a', environmentTag: 'CUSTOMER' },
      { providedId: 'b', environmentTag: 'Testing' },
      { user_group_id: 'c', environment: 'TESTING' },
      { providedId: 'd', environmentTag: 'none' },
    ]);
    expect(summary).toMatchObject({ created: 4, rejected: 0, untaggedByDefault: 0, ignored: [] });
    expect((await stored()).map(({ providedId, environmentTag }) => [providedId, environmentTag])).toEqual([
      ['a', 'Customer'],
      ['b', 'Testing'],
      ['c', 'Testing'],
      ['d', null],
    ]);
  });

  test.each<[name: string, line: Line, reason: RegExp]>([
    ['no id', { name: 'n' }, /^user_group_id: is required\.$/],
    ['a long id of the schema', { providedId: 'x'.repeat(256) }, /^user_group_id: must have 1 to 255 characters\.$/],
    [
      'both names of the id',
      { user_group_id: 'g', providedId: 'g' },
      /^user_group_id: is also given as providedId; give one of the two\.$/,
    ],
    [
      'both names of the environment',
      { user_group_id: 'g', environment: 'Testing', environmentTag: 'TESTING' },
      /^environment: is also given as environmentTag; give one of the two\.$/,
    ],
    ['a long id', { user_group_id: 'x'.repeat(256) }, /^user_group_id: must have 1 to 255 characters\.$/],
    ['a long name', { user_group_id: 'g', name: 'x'.repeat(256) }, /^name: must have 1 to 255/],
    ['NUL', { user_group_id: 'g', name: 'a\0b' }, /^name: must not contain the character NUL/],
    ['a short token', { user_group_id: 'g', token: '123456789012345' }, /^token: must have 16 to 255 printable characters\.$/],
    ['a long token', { user_group_id: 'g', token: 'x'.repeat(256) }, /^token: must have 16 to 255/],
    ['a token that is not printable', { user_group_id: 'g', token: `${token}\u0007` }, /^token: must have 16 to 255/],
    [
      'a mistyped token',
      { user_group_id: 'g', token: forgedToken('userGroup') },
      new RegExp(`^token: begins with ${tokenPrefixes.userGroup} and is mistyped`),
    ],
    ['a list as mapping', { user_group_id: 'g', mapping: [] }, /^mapping: must map schema ids/],
    ['a number in a mapping', { user_group_id: 'g', mapping: { a: 'b', sales: 1 } }, /^mapping\.sales: must be a string\.$/],
    [
      'a mapping too large',
      { user_group_id: 'g', mapping: Object.fromEntries(Array.from({ length: 400 }, (_, i) => [i, 'x'.repeat(200)])) },
      /^mapping: must have at most 64 KiB as JSON\.$/,
    ],
    ['properties that are not an object', { user_group_id: 'g', properties: [1] }, /^properties: must be a JSON object\.$/],
    [
      'properties too large',
      { user_group_id: 'g', properties: { a: 'x'.repeat(65_536) } },
      /^properties: must have at most 64 KiB/,
    ],
    [
      'a name that ends a line',
      { user_group_id: 'g', properties: { 'a\nb': '\0' } },
      /^properties\.a\\u\{a\}b: must not contain/,
    ],
    [
      'an unknown environment',
      { user_group_id: 'g', environment: 'customer' },
      /^environment: must be Customer, Testing or none\.$/,
    ],
    [
      'several issues',
      { name: '', token: 'x', environment: '' },
      format === 'csv' ? /^user_group_id: .* token: / : /user_group_id: .* name: .* token: .* environment: /,
    ],
  ])('rejects %s with its line number, and imports the others', async (_, line, reason) => {
    const summary = await run([{ user_group_id: 'before' }, line, { user_group_id: 'behind' }]);
    expect(summary.reasons).toEqual([{ line: at(2), reason: expect.stringMatching(reason) }]);
    expect(summary).toMatchObject({ lines: 3, created: 2, rejected: 1 });
    expect((await stored()).map(({ providedId }) => providedId)).toEqual(['before', 'behind']);
  });

  test.each<[name: string, lines: Line[], reasons: [line: number, reason: RegExp][]]>([
    ['an id twice', [{ user_group_id: 'a' }, { user_group_id: 'a' }], [[2, /is the same as in line/]]],
    [
      'an id twice in one environment',
      [
        { user_group_id: 'a', environment: 'Testing' },
        { user_group_id: 'a', environment: 'Customer' },
        { user_group_id: 'a', environment: 'Testing' },
      ],
      [[3, /^user_group_id: is the same as in line/]],
    ],
    [
      'an untagged id again',
      [{ user_group_id: 'a' }, { user_group_id: 'a', environment: 'Customer' }],
      [[2, /only a Customer and a Testing group/]],
    ],
    [
      'an id that an untagged line repeats',
      [{ user_group_id: 'a', environment: 'Testing' }, { user_group_id: 'a' }],
      [[2, /only a Customer and a Testing group/]],
    ],
    [
      'a token twice',
      [
        { user_group_id: 'a', token },
        { user_group_id: 'b', token },
      ],
      [[2, /^token: is the same as in line/]],
    ],
  ])('rejects %s, in a dry run too, and when it is run again', async (_, lines, reasons) => {
    const expected = reasons.map(([line, reason]) => ({ line: at(line), reason: expect.stringMatching(reason) }));
    const created = lines.length - reasons.length;
    const rejected = reasons.length;
    expect(await run(lines, { dryRun: true })).toMatchObject({ created, rejected, reasons: expected });
    expect(await stored()).toEqual([]);
    expect(await run(lines)).toMatchObject({ created, rejected, reasons: expected });
    const before = await stored();
    expect(await run(lines)).toMatchObject({ created: 0, unchanged: created, reasons: expected });
    expect(await stored()).toEqual(before);
  });

  test('rejects lines of another environment than that of the import', async () => {
    const lines = [
      { user_group_id: 'a' },
      { user_group_id: 'b', environment: 'Testing' },
      { user_group_id: 'c', environment: 'none' },
    ];
    const { reasons } = await run(lines, { environment: 'Testing' });
    expect(reasons).toEqual([{ line: at(3), reason: 'environment: is none, not Testing, the only one of this import.' }]);
    expect((await stored()).map(({ environmentTag }) => environmentTag)).toEqual(['Testing', 'Testing']);
  });
});

describe('groups that exist', () => {
  const line = { user_group_id: 'g', environment: 'Testing', name: 'new', properties: { a: 1 } };

  test('skip leaves them as they are', async () => {
    await group('g', 'Testing');
    const before = await stored();
    expect(await importText(database, toNdjson([line]))).toMatchObject({ created: 0, unchanged: 1, rejected: 0 });
    expect(await stored()).toEqual(before);
  });

  test('fail rejects their lines', async () => {
    await group('g', 'Testing');
    const { reasons } = await importText(database, toNdjson([{ ...line, user_group_id: 'other' }, line]), { onExisting: 'fail' });
    expect(reasons).toEqual([{ line: 2, reason: 'user_group_id: a group with this id exists (Testing).' }]);
  });

  test('update changes the given fields, and null clears properties; again, nothing is written', async () => {
    await group('g', 'Testing', { mapping: { s: 'd' }, properties: { old: true } });
    await group('h', 'Testing', { properties: { old: true } });
    const text = toNdjson([
      { ...line, token },
      { user_group_id: 'h', environment: 'Testing', properties: null },
    ]);
    expect(await importText(database, text, { onExisting: 'update' })).toMatchObject({ updated: 2, unchanged: 0 });
    const rows = await database.prisma.userGroup.findMany({ orderBy: { providedId: 'asc' } });
    expect(rows).toMatchObject([
      { name: 'new', mapping: { s: 'd' }, properties: { a: 1 } },
      { name: 'stored', properties: null },
    ]);
    expect(rows.map(tokenOf)).toEqual([token, 'token of h Testing']);
    expect(await importText(database, text, { onExisting: 'update' })).toMatchObject({ updated: 0, unchanged: 2 });
    expect(await database.prisma.userGroup.findMany({ orderBy: { providedId: 'asc' } })).toEqual(rows);
  });

  test('update rejects null for what a group cannot be without; a new group has its default', async () => {
    await group('g', 'Testing', { mapping: { s: 'd' } });
    const before = await stored();
    const lines = ['name', 'mapping', 'token'].map((field) => ({ ...line, user_group_id: 'g', [field]: null }));
    for (const [index, given] of lines.entries()) {
      const { updated, reasons } = await importText(database, toNdjson([given]), { onExisting: 'update' });
      const field = ['name', 'mapping', 'token'][index];
      expect({ updated, reasons }).toEqual({
        updated: 0,
        reasons: [{ line: 1, reason: `${field}: must not be null; omit it to keep the current value.` }],
      });
      expect(await stored()).toEqual(before);
    }
    const created = toNdjson([{ user_group_id: 'new', name: null, mapping: null, token: null, environment: 'Testing' }]);
    expect(await importText(database, created, { onExisting: 'update' })).toMatchObject({ created: 1, rejected: 0 });
  });

  test('update suspends a group, and resumes none: a file may be older than the suspension', async () => {
    await group('g', 'Testing');
    const statusAfter = async (...status: object[]) => {
      const text = toNdjson(status.map((each) => ({ user_group_id: 'g', environment: 'Testing', ...each })));
      const { updated } = await importText(database, text, { onExisting: 'update' });
      const { suspended, suspendedReason, version } = await database.prisma.userGroup.findFirstOrThrow();
      return { updated, suspended, suspendedReason, version };
    };
    const suspended = { status: 'suspended', suspended_reason: 'unpaid' };
    const expected = { updated: 1, suspended: true, suspendedReason: 'unpaid', version: 2 };
    expect(await statusAfter(suspended)).toEqual(expected);
    for (const again of [suspended, { status: 'active' }, { status: null }, {}]) {
      expect(await statusAfter(again)).toEqual({ ...expected, updated: 0 });
    }
    expect(await statusAfter({ status: 'SUSPENDED' })).toEqual({ ...expected, updated: 0 });
    expect(await statusAfter({ status: 'SUSPENDED', suspended_reason: null })).toEqual({
      ...expected,
      suspendedReason: null,
      version: 3,
    });
  });

  test.each([
    ['another status', { status: 'paused' }, /^status: must be active or suspended/],
    ['a status that is no text', { status: true }, /^status: must be active or suspended/],
    ['a reason of an active group', { status: 'active', suspended_reason: 'x' }, /^suspended_reason: must not be given unless/],
    ['a reason that is too long', { status: 'suspended', suspended_reason: 'x'.repeat(256) }, /^suspended_reason: must have 1/],
  ])('%s is rejected', async (_, fields, reason) => {
    const { reasons } = await importText(database, toNdjson([{ user_group_id: 'g', ...fields }]));
    expect(reasons).toEqual([{ line: 1, reason: expect.stringMatching(reason) }]);
    expect(await stored()).toEqual([]);
  });

  test('a line whose id the other environment has creates a group; one that rule 2 forbids is rejected', async () => {
    await group('tagged', 'Customer');
    await group('untagged', null);
    const { created, reasons } = await importText(
      database,
      toNdjson([
        { user_group_id: 'tagged', environment: 'Testing' },
        { user_group_id: 'tagged ', environment: 'none' },
        { user_group_id: 'untagged', environment: 'Testing' },
      ]) + toNdjson([{ user_group_id: 'tagged', environment: 'none' }]),
    );
    expect(created).toBe(2);
    expect(reasons).toEqual([
      { line: 3, reason: expect.stringMatching(/^user_group_id: an untagged group has this id/) },
      { line: 4, reason: expect.stringMatching(/^user_group_id: is the same as in line 1/) },
    ]);
    expect((await importText(database, toNdjson([{ user_group_id: 'tagged' }]))).reasons).toEqual([
      { line: 1, reason: expect.stringMatching(/^user_group_id: a Customer or Testing group has this id/) },
    ]);
  });
});

test.each<[what: string, statement: string, left: readonly object[]]>([
  ['deleted', "delete from user_group where provided_id = 'b'", []],
  [
    'moved to the other environment',
    "update user_group set environment_tag = 'Testing' where provided_id = 'b'",
    [{ providedId: 'b', environmentTag: 'Testing', name: 'stored' }],
  ],
])('a group that is %s while update waits for it is created again', async (_, statement, left) => {
  for (const id of ['a', 'b', 'c']) await group(id, 'Customer');
  const other = await database.pool.connect();
  try {
    await other.query('begin');
    await other.query(statement);
    const lines = ['a', 'b', 'c'].map((id) => ({ user_group_id: id, environment: 'Customer', name: 'new' }));
    const imported = importText(database, toNdjson(lines), { onExisting: 'update' });
    await untilBlocked(database);
    await other.query('commit');
    expect(await imported).toMatchObject({ lines: 3, created: 1, updated: 2, unchanged: 0, rejected: 0 });
  } finally {
    other.release(true);
  }
  const groups = (await stored()).map(({ providedId, environmentTag, name }) => ({ providedId, environmentTag, name }));
  const written = ['a', 'b', 'c'].map((providedId) => ({ providedId, environmentTag: 'Customer', name: 'new' }));
  expect(groups).toEqual(expect.arrayContaining([...written, ...left]));
  expect(groups).toHaveLength(3 + left.length);
});

describe('tokens that another group has', () => {
  const rejected = [{ line: 2, reason: 'token: belongs to another user group.' }];
  const text = toNdjson([{ user_group_id: 'before' }, { user_group_id: 'thief', token }]);
  const rejects = async (keys = testKeys) => {
    for (const dryRun of [true, false]) {
      expect(await importText(database, text, { dryRun, keys })).toMatchObject({ created: 1, reasons: rejected });
    }
    expect(await database.prisma.userGroup.count({ where: { providedId: 'thief' } })).toBe(0);
  };

  test('a current one', async () => {
    await group('owner', 'Customer', storedToken(token));
    await rejects();
  });

  test('one in its grace period; once that has ended, the token is free', async () => {
    const { teamId } = await group('owner', 'Customer');
    const retired = { tokenHash: retiredHash(token), tokenEncrypted: Buffer.from([0]), teamId };
    await database.prisma.retiredToken.create({ data: { ...retired, expiresAt: new Date(Date.now() + 60_000) } });
    await rejects();
    await database.prisma.retiredToken.updateMany({ data: { expiresAt: new Date(Date.now() - 60_000) } });
    expect(await importText(database, text)).toMatchObject({ created: 1, unchanged: 1, rejected: 0 });
    expect(await database.prisma.retiredToken.count()).toBe(0);
  });

  test('one that is stored under an older key', async () => {
    await group('owner', 'Customer', storedToken(token));
    const [old] = [Buffer.from('dGVzdHMgZW5jcnlwdCB3aXRoIHRoaXMga2V5LCAzMiE=', 'base64')];
    await rejects(new KeyRing([Buffer.alloc(32, 1), old as Buffer]));
  });

  test('an update that would take it', async () => {
    await group('owner', 'Customer', storedToken(token));
    await group('thief', null);
    expect(await importText(database, text, { onExisting: 'update' })).toMatchObject({
      updated: 0,
      rejected: 1,
      reasons: rejected,
    });
  });

  test('an update that would take one that has come into its grace period while it waited', async () => {
    await group('thief', null);
    const { teamId } = await group('owner', null);
    const holder = await database.pool.connect();
    await holder.query("begin; select from user_group where provided_id = 'thief' for update");
    const lines = [
      { user_group_id: 'thief', token },
      { user_group_id: 'owner', token: 'the-next-token-of-it' },
    ];
    const importing = importText(database, toNdjson(lines), { onExisting: 'update' });
    await untilBlocked(database);
    const retired = { tokenHash: retiredHash(token), tokenEncrypted: Buffer.from([0]), teamId };
    await database.prisma.retiredToken.create({ data: { ...retired, expiresAt: new Date(Date.now() + 60_000) } });
    await holder.query('rollback');
    holder.release();
    expect(await importing).toMatchObject({ updated: 1, rejected: 1, reasons: [{ ...rejected[0], line: 1 }] });
    expect((await stored()).map((row) => row.token)).not.toContain(token);
    expect(await database.prisma.retiredToken.count()).toBe(1);
  });

  test.each([
    { second: 'another group', isNew: false, result: { created: 0, updated: 1, rejected: 1, reasons: rejected } },
    { second: 'a new group', isNew: true, result: { created: 1, updated: 1, rejected: 0 } },
  ])('one that moves to $second, which a dry run rejects', async ({ isNew, result }) => {
    await group('owner', null, storedToken(token));
    if (!isNew) await group('second', null);
    const moving = toNdjson([
      { user_group_id: 'owner', token: 'the-next-token-of-it' },
      { user_group_id: 'second', token },
    ]);
    expect(await importText(database, moving, { onExisting: 'update', dryRun: true })).toMatchObject({
      created: 0,
      updated: 1,
      reasons: rejected,
    });
    expect(await importText(database, moving, { onExisting: 'update' })).toMatchObject(result);
  });

  test('a token that its own group has replaced becomes the current one again', async () => {
    const { teamId } = await group('thief', null);
    const retired = { tokenHash: retiredHash(token), tokenEncrypted: Buffer.from([0]), teamId };
    await database.prisma.retiredToken.create({ data: { ...retired, expiresAt: new Date(Date.now() + 60_000) } });
    expect(await importText(database, text, { onExisting: 'update' })).toMatchObject({ updated: 1, rejected: 0 });
    expect(await database.prisma.retiredToken.count()).toBe(0);
  });
});

test('a repeated id is found however far apart the lines are', async () => {
  const lines = Array.from({ length: 2_500 }, (_, index) => ({
    user_group_id: `g${index % 2_400}`,
    token: issueToken('userGroup'),
  }));
  const { created, reasons } = await importText(database, toNdjson(lines));
  expect(created).toBe(2_400);
  expect(reasons).toHaveLength(100);
  expect(reasons[0]).toEqual({ line: 2_401, reason: expect.stringContaining('is the same as in line 1;') });
});

test('what runs in a transaction gets what that one did, and when it fails, that batch is not written', async () => {
  const lines = toNdjson(Array.from({ length: 2_500 }, (_, index) => ({ user_group_id: `g${index}` })));
  const seen: unknown[] = [];
  const failed = importText(database, lines, {
    inEachTransaction: async (sql, { created }) => {
      const [row] = await sql<{ count: bigint }>('count-groups', 'select count(*) from user_group', []);
      seen.push({ count: String(row?.count), created });
      if (seen.length === 2) throw new Error('on purpose');
    },
  });
  await expect(failed).rejects.toThrow('on purpose');
  expect(seen).toEqual([
    { count: '1000', created: 1_000 },
    { count: '2000', created: 1_000 },
  ]);
  expect(await database.prisma.userGroup.count()).toBe(1_000);
  expect(await importText(database, lines)).toMatchObject({ created: 1_500, unchanged: 1_000 });
});

test('a transaction that other processes keep from being committed is repeated a few times', async () => {
  let attempts = 0;
  const inEachTransaction = async () => {
    attempts += 1;
    throw Object.assign(new Error('repeated'), { code: '40001' });
  };
  const run = importText(database, toNdjson([{ user_group_id: 'g' }]), { inEachTransaction });
  await expect(run).rejects.toThrow('Other processes keep changing the same groups.');
  // Each of five attempts is a transaction that the database repeats once.
  expect([attempts, await stored()]).toEqual([10, []]);
});

test('keys that are added to their file during an import encrypt what it writes from then on', async () => {
  const [before, added] = [1, 2].map(() => Buffer.from(generateEncryptionKey(), 'base64')) as [Buffer, Buffer];
  let isAdded = false;
  const keys = new KeyRing([before], () => (isAdded ? [added, before] : undefined));
  const lines = toNdjson(Array.from({ length: 1_500 }, (_, index) => ({ user_group_id: `g${index}` })));
  // The second transaction is repeated, as it is when another process took the same row.
  const inEachTransaction = async (_: unknown, { created }: { readonly created: number }) => {
    if (isAdded || created === 1_000) return;
    isAdded = true;
    throw Object.assign(new Error('repeated'), { code: '40001' });
  };
  expect(await importText(database, lines, { keys, inEachTransaction })).toMatchObject({ created: 1_500 });
  const ids = [before, added].map((key) => new KeyRing([key]).ids[0]);
  const counted = await database.pool.query<{ id: string; count: number }>(
    "select substr(encode(token_hash, 'hex'), 1, 8) as id, count(*)::int from user_group group by 1 order by 2 desc",
  );
  expect(counted.rows).toEqual([
    { id: ids[0], count: 1_000 },
    { id: ids[1], count: 500 },
  ]);
});
