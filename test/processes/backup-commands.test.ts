import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { backup, restore } from '../../src/commands/backup.ts';
import { UsageError } from '../../src/commands/options.ts';
import { readManifest, writeManifest } from '../../src/database/backup/manifest.ts';
import { generateEncryptionKey } from '../../src/encryption/key-texts.ts';
import { makeBackup } from '../support/backup.ts';
import type { TestDataDir } from '../support/data-dir.ts';
import { makeDatabaseFolder } from '../support/database-folder.ts';
import { makeKeyedDataDir, startEmbeddedGateway } from '../support/embedded-gateway.ts';
import { testKey } from '../support/keys.ts';
import { run } from '../support/process.ts';
import { collect } from '../support/text-stream.ts';
import { createWebhook, sendAs } from '../support/webhooks.ts';

let dataDir: TestDataDir;
let folder: string;
/** The files of the table of user groups, and of the index of their tokens, in the data directory. */
let files: Record<'table' | 'tokens', string>;
beforeAll(async () => {
  dataDir = makeKeyedDataDir();
  folder = makeDatabaseFolder();
  const gateway = await startEmbeddedGateway(dataDir.path);
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  const { rows } = await gateway.database.pool.query<typeof files>(
    `select pg_relation_filepath('user_group') as table, pg_relation_filepath('user_group_token_hash_key') as tokens`,
  );
  files = rows[0] as typeof files;
  await gateway.close();
});
afterAll(async () => {
  await dataDir.remove();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => void vi.stubEnv('DATA_DIR', dataDir.path));
afterEach(() => void vi.unstubAllEnvs());

/** Runs a command of this file. */
async function runHere(command: typeof backup, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [collect(), collect()];
  const code = await command(args, { stdout: stdout.stream, stderr: stderr.stream });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** Replaces a file of a backup, also in its manifest. */
async function replaceIn(target: string, path: string, content: Buffer): Promise<void> {
  const manifest = await readManifest(target);
  writeFileSync(join(target, path), content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const replaced = manifest.files.map((file) => (file.path === path ? { ...file, sha256, bytes: content.length } : file));
  rmSync(join(target, 'backup-manifest.ndjson'));
  await writeManifest(target, { ...manifest, files: replaced });
}

/** The content of a file with a first page that PostgreSQL rejects. */
function damage(file: string): Buffer {
  const content = readFileSync(file);
  return content.fill(0xff, 0, 8_192);
}

test('backup and restore say what they wrote, with which secrets, and how many groups there are', async () => {
  const target = join(folder, 'whole');
  const made = await runHere(backup, target);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toMatch(
    /^Wrote \/.*whole: [\d,]+ files, \d+ MiB, of the database in \/.*, with every change acknowledged before 20.*Z\.\n/,
  );
  expect(made.stdout).toMatch(/contains the encryption keys and the password of the database: keep it secret\.\n$/);

  const restored = join(folder, 'restored');
  vi.stubEnv('DATA_DIR', restored);
  expect(await runHere(restore, target)).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^Restored \/.*restored: 1 user group, as of 20.*Z\. Start the gateway with this DATA_DIR\.\n$/,
    ),
    stderr: expect.stringContaining('PostgreSQL recovers the database'),
  });
  await expect(runHere(restore, target)).rejects.toThrow(/is not empty/);
});

test('restore says which webhooks a gateway on the copy would send to; with the commands that it shows, to none', async () => {
  const copy = makeKeyedDataDir();
  onTestFinished(() => copy.remove());
  const gateway = await startEmbeddedGateway(copy.path);
  const { secret: admin } = await gateway.issue({ environment: null, scopes: ['admin'] });
  for (const enabled of [true, false, true]) {
    const { webhook } = await createWebhook(gateway, admin);
    await sendAs(gateway, admin, 'update', { input: { id: webhook.id, enabled } });
  }
  await gateway.close();
  const target = join(folder, 'with-webhooks');
  await makeBackup(copy.path, target);
  const restored = join(folder, 'restored-with-webhooks');
  const { stdout } = await run(['restore', target], { DATA_DIR: restored });
  expect(stdout).toMatch(/0 user groups, as of .*\.\n/);
  expect(stdout.split('\n').slice(1)).toEqual([
    '2 webhooks are enabled: a gateway with this DATA_DIR sends events to them. If it is only a test, first run with this DATA_DIR:',
    '',
    '  user-group-gateway webhooks disable 1',
    '  user-group-gateway webhooks disable 3',
    '',
  ]);

  for (const [, command] of stdout.matchAll(/^ {2}user-group-gateway (.*)$/gm))
    expect(await run(String(command).split(' '), { DATA_DIR: restored })).toMatchObject({ code: 0 });
  const { stdout: listed } = await run(['webhooks', 'list', '--json'], { DATA_DIR: restored });
  expect(JSON.parse(listed).map(({ status }: { status: string }) => status)).toEqual(['disabled', 'disabled', 'disabled']);
});

test('a backup without keys is restored only with a folder that has those that its rows use', async () => {
  const target = join(folder, 'without-keys');
  const { stdout } = await runHere(backup, target, '--without-keys');
  expect(stdout).toMatch(
    /does not contain the encryption keys, without which it cannot be used: keep a copy of those in DATA_DIR/,
  );
  expect(['encryption-keys', 'postgres-password'].filter((name) => existsSync(join(target, name)))).toEqual([]);

  const restored = join(folder, 'restored-without');
  vi.stubEnv('DATA_DIR', restored);
  await expect(runHere(restore, target)).rejects.toThrow(/Pass a folder that has this file with --keys FOLDER/);
  const keyFile = join(dataDir.path, 'encryption-keys');
  writeFileSync(keyFile, generateEncryptionKey());
  const failed = expect(runHere(restore, target, '--keys', dataDir.path)).rejects;
  await failed.toThrow(/cannot be used without its encryption keys.*the key with the id [0-9a-f]{8}, which is not configured/);
  expect(existsSync(restored)).toBe(false);
  writeFileSync(keyFile, testKey);
  expect(await runHere(restore, target, '--keys', dataDir.path)).toMatchObject({ code: 0 });
});

describe('a backup whose keys are not those of the database', () => {
  const keyFile = () => join(dataDir.path, 'encryption-keys');
  afterEach(() => writeFileSync(keyFile(), testKey, { mode: 0o600 }));

  test.each<[string, () => void, RegExp, RegExp]>([
    [
      'missing',
      () => rmSync(keyFile()),
      /is not configured\. Add it to the file .*encryption-keys, from a backup/,
      /-keys is missing: look/,
    ],
    [
      'damaged',
      () => writeFileSync(keyFile(), 'garbage'),
      /encryption-keys .* Restore it from a backup/,
      /keep a copy of those in DATA_DIR\./,
    ],
    [
      'of another database',
      () => writeFileSync(keyFile(), generateEncryptionKey()),
      /is not configured/,
      /in DATA_DIR\. .*not checked/,
    ],
    [
      'wrong in the settings',
      () => vi.stubEnv('ENCRYPTION_KEYS', generateEncryptionKey()),
      /Add it to ENCRYPTION_KEYS/,
      /ENCRYPTION_KEYS_FILE\./,
    ],
  ])('because they are %s, is made only without keys', async (name, spoil, reason, note) => {
    spoil();
    const target = join(folder, `keys ${name}`);
    const refused = await runHere(backup, target).catch((error: Error) => error);
    expect(refused).toBeInstanceOf(Error);
    const { message } = refused as Error;
    expect(message).toMatch(
      /^A backup could not be used\. .*To make a backup without encryption keys all the same, pass --without-keys\.$/,
    );
    expect(message).toMatch(reason);
    expect(readdirSync(folder).filter((each) => each.startsWith('keys'))).toEqual([]);
    const { code, stdout } = await runHere(backup, target, '--without-keys');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(note) });
    rmSync(target, { recursive: true });
  });

  test('restores with those of --keys, which take precedence over those that it has', async () => {
    const target = join(folder, 'stale');
    expect(await runHere(backup, target)).toMatchObject({ code: 0 });
    const right = join(folder, 'right');
    mkdirSync(right);
    await replaceIn(target, 'encryption-keys', Buffer.from(generateEncryptionKey()));

    const restored = join(folder, 'restored-stale');
    vi.stubEnv('DATA_DIR', restored);
    await expect(runHere(restore, target)).rejects.toThrow(/Pass a folder whose file encryption-keys has them with --keys/);
    for (const wrong of [right, join(folder, 'none')]) {
      const reason = `${wrong} has no file postgres-password or encryption-keys that can be read. Nothing was restored.`;
      await expect(runHere(restore, target, '--keys', wrong)).rejects.toThrow(reason);
    }
    expect(existsSync(restored)).toBe(false);
    writeFileSync(join(right, 'encryption-keys'), testKey);
    expect(await runHere(restore, target, '--keys', right)).toMatchObject({ code: 0 });
    expect(readFileSync(join(restored, 'encryption-keys'), 'utf8')).toBe(testKey);
  });

  test('does not take a file that was in use before the keys were in the settings', async () => {
    writeFileSync(keyFile(), generateEncryptionKey());
    vi.stubEnv('ENCRYPTION_KEYS', testKey);
    const target = join(folder, 'of-settings');
    const { code, stdout } = await runHere(backup, target);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/keep a copy of those in ENCRYPTION_KEYS or/) });
    expect(stdout).toContain('It contains the password of the database: keep it secret.');
    expect(existsSync(join(target, 'encryption-keys'))).toBe(false);
  });
});

describe('what PostgreSQL reports is a message, without a stack trace', () => {
  const damaged = (path: string) =>
    `PostgreSQL reported: invalid page in block \\d of relation "${path}" \\(XX001\\)\\. The data is damaged: restore a backup that was made before\\.`;
  let target: string;
  beforeEach(() => {
    target = join(folder, 'of-failures');
  });
  afterEach(() => rmSync(target, { recursive: true, force: true }));

  test('of damaged data in a backup that is restored', async () => {
    await run(['backup', target], { DATA_DIR: dataDir.path });
    await replaceIn(target, `postgres/${files.table}`, damage(join(target, 'postgres', files.table)));
    const restored = join(folder, 'restored-damaged');
    const { code, stderr } = await run(['restore', target], { DATA_DIR: restored });
    expect({ code, last: stderr.trimEnd().split('\n').at(-1) }).toEqual({
      code: 1,
      last: expect.stringMatching(new RegExp(`^${damaged(files.table)} What was written was removed\\.$`)),
    });
    expect(existsSync(restored)).toBe(false);
  });

  test('of damaged data that is backed up', async () => {
    const file = join(dataDir.path, 'postgres', files.tokens);
    const whole = readFileSync(file);
    writeFileSync(file, damage(file));
    onTestFinished(() => writeFileSync(file, whole));
    expect(await run(['backup', target], { DATA_DIR: dataDir.path })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^${damaged(files.tokens)}\n$`)),
    });
    expect(existsSync(target)).toBe(false);
  });

  test('of a backup that it cannot begin', async () => {
    const settings = join(dataDir.path, 'postgres', 'postgresql.auto.conf');
    const whole = readFileSync(settings);
    appendFileSync(settings, 'max_replication_slots = 0\n');
    onTestFinished(() => writeFileSync(settings, whole));
    expect(await run(['backup', target], { DATA_DIR: dataDir.path })).toMatchObject({
      code: 1,
      stderr:
        'PostgreSQL reported: replication slots can only be used if "max_replication_slots" > 0 (55000). ' +
        'Resolve that, and run the command again. What was written was removed.\n',
    });
    expect(existsSync(target)).toBe(false);
  });
});

test.each<[string, typeof backup, string[], RegExp]>([
  ['backup without a folder', backup, [], /one argument, the folder to create/],
  ['backup with two folders', backup, ['a', 'b'], /one argument/],
  [
    'backup with an unknown option',
    backup,
    ['a', '--without-key'],
    /Unknown option --without-key\. Did you mean --without-keys\?/,
  ],
  ['restore without a folder', restore, [], /one argument, the folder of the backup/],
  ['restore with keys nowhere', restore, ['a', '--keys'], /--keys needs a value/],
])('%s is a usage error', async (_, command, args, message) => {
  const failure = await runHere(command, ...args).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UsageError);
  expect((failure as Error).message).toMatch(message);
});

test.each([
  ['backup', backup],
  ['restore', restore],
])('%s refers to the tools of the server if DATABASE_URL is set', async (_, command) => {
  vi.stubEnv('DATABASE_URL', 'postgresql://nobody@127.0.0.1:1/none');
  vi.stubEnv('ENCRYPTION_KEYS', testKey);
  const failure = await runHere(command, join(folder, 'never')).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UsageError);
  expect((failure as Error).message).toMatch(/pg_basebackup or pgBackRest/);
});
