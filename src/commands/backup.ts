import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createBackup } from '../database/backup/create-backup.ts';
import { restoreBackup } from '../database/backup/restore-backup.ts';
import { type Connection, connectDatabase, type Database } from '../database/client.ts';
import { keyFileName } from '../database/embedded/layout.ts';
import { passwordFileName } from '../database/embedded/password.ts';
import { describeServerError } from '../database/errors.ts';
import { embeddedDatabase } from '../database/open.ts';
import { countGroups } from '../database/server-state.ts';
import { KeyRing } from '../encryption/keys.ts';
import { readPackageVersion } from '../package-root.ts';
import { type Config, readConfig } from '../settings.ts';
import { escapeControls, escapeLines } from '../terminal-text.ts';
import { keyFile, readKeyFile, requireKeys } from './key-file.ts';
import { asksForHelp, type OutputStreams, readOptions, UsageError } from './options.ts';
import { openProgress, thousands } from './output.ts';
import { type StopRequest, untilStopped } from './stop-request.ts';

/** The files in `DATA_DIR` that are secrets, without which the data cannot be used. */
const secretFiles = [passwordFileName, keyFileName];

const backupHelp = `Usage: user-group-gateway backup DIR [--without-keys]

Makes a backup of the bundled PostgreSQL in the new folder DIR, while gateways run or not. It contains every change that was
acknowledged before it began. DIR must not exist, or be empty; it gets its name when the backup is complete.

DIR also contains the encryption keys and the password of the database, so it is a secret as a whole; only its owner can read it.
With --without-keys these two files are left out, and not looked at: keep copies of DATA_DIR/${keyFileName} and
DATA_DIR/${passwordFileName}, without which the backup cannot be restored.
`;

/**
 * `backup DIR`: makes a backup of the embedded database. Can be run while gateways run.
 *
 * @throws UsageError for invalid arguments, and with `DATABASE_URL`, before anything is opened.
 * @throws Error when the encryption keys are not those of the database, unless they are left out.
 * @throws Error when the backup fails; what was written is removed then, or the message says that it could not be.
 */
export async function backup(args: readonly string[], io: OutputStreams): Promise<number> {
  if (asksForHelp(args)) {
    io.stdout.write(backupHelp);
    return 0;
  }
  const { given, words, problems } = readOptions(args, { 'without-keys': 'flag' });
  const [target] = words;
  if (problems.length > 0 || words.length !== 1 || !target)
    throw new UsageError([...problems, 'backup takes one argument, the folder to create.', '', backupHelp].join('\n'));
  const config = requireEmbedded(readConfig(process.env, io.stderr.isTTY ?? false), 'backup');
  return untilStopped((stop) => makeBackup({ config, target, withKeys: !given.has('without-keys') }, stop, io));
}

/** What to back up, and where. */
interface BackupRequest {
  readonly config: Config;
  readonly target: string;
  readonly withKeys: boolean;
}

async function makeBackup(
  { config, target, withKeys }: BackupRequest,
  { signal, reason }: StopRequest,
  io: OutputStreams,
): Promise<number> {
  const { dataDir } = config;
  const hasKeyFile = existsSync(keyFile(dataDir));
  // A file of keys that are not in use any more may be left from before they were in the settings.
  const copiesKeys = withKeys && hasKeyFile && !config.encryptionKeys;

  const progress = openProgress(io.stderr, 'MiB');
  const manifest = await createBackup({
    dataDir,
    target,
    signal,
    gateway: readPackageVersion(),
    secretFiles: withKeys ? secretFiles.filter((name) => name !== keyFileName || copiesKeys) : [],
    onProgress: (copied, total) => progress.update(inMebibytes(copied, total)),
    onEvent: (message) => io.stderr.write(`${escapeLines(message)}\n`),
    inspect: async (connect) => {
      if (withKeys) await inspectBefore(connect(embeddedDatabase), config);
    },
  })
    .finally(() => progress.clear())
    .catch((error: unknown) => {
      if (error !== signal.reason) throw error;
    });
  if (!manifest) {
    io.stdout.write(`Stopped by ${reason()}. ${escapeControls(target)} was not written.\n`);
    return 1;
  }
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  io.stdout.write(
    `Wrote ${escapeControls(resolve(target))}: ${thousands(manifest.files.length)} files, ${thousands(Math.ceil(bytes / 2 ** 20))} MiB, of the database in ${escapeControls(resolve(dataDir))}, ` +
      `with every change acknowledged before ${manifest.startedAt}.\n`,
  );
  if (withKeys) {
    io.stdout.write(`It contains the ${copiesKeys ? 'encryption keys and the ' : ''}password of the database: keep it secret.\n`);
  }
  if (!copiesKeys) io.stdout.write(`It does not contain ${whereKeysAre(config, withKeys, hasKeyFile)}\n`);
  return 0;
}

/** What a backup does not contain, and what to do about it. @param areChecked whether they fit the database. */
function whereKeysAre({ encryptionKeys, dataDir }: Config, areChecked: boolean, hasKeyFile: boolean): string {
  if (areChecked && !encryptionKeys) return 'encryption keys, because nothing in it is encrypted.';
  const start = 'the encryption keys, without which it cannot be used';
  if (!encryptionKeys && !hasKeyFile)
    return `${start}, and ${escapeControls(keyFile(dataDir))} is missing: look for a copy of it.`;
  const where = encryptionKeys ? 'ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE' : 'DATA_DIR';
  return `${start}: keep a copy of those in ${where}.${areChecked ? '' : ' Whether they are those of the database was not checked.'}`;
}

const restoreHelp = `Usage: user-group-gateway restore DIR [--keys FOLDER]

Restores the backup in DIR, which the command backup made, into DATA_DIR, which must not exist, or be empty. Compares every file with the
checksums of the backup, recovers the database, and checks that its encryption keys are there. DIR is not changed.
A gateway on the copy sends to the webhooks that are enabled: the output has the commands that disable them.

--keys FOLDER has the files ${secretFiles.join(' and ')} of a backup that was made with --without-keys, or one of them
that is to be used instead of that of the backup.
`;

/**
 * `restore DIR`: restores a backup into an empty `DATA_DIR`.
 *
 * @throws UsageError for invalid arguments, and with `DATABASE_URL`, before anything is opened.
 * @throws Error when the backup cannot be restored; `DATA_DIR` is as it was then.
 */
export async function restore(args: readonly string[], io: OutputStreams): Promise<number> {
  if (asksForHelp(args)) {
    io.stdout.write(restoreHelp);
    return 0;
  }
  const { given, words, problems } = readOptions(args, { keys: 'value' });
  const [source] = words;
  if (problems.length > 0 || words.length !== 1 || !source)
    throw new UsageError([...problems, 'restore takes one argument, the folder of the backup.', '', restoreHelp].join('\n'));
  const config = requireEmbedded(readConfig(process.env, io.stderr.isTTY ?? false), 'restore');
  return untilStopped((stop) => restoreInto(config, { source, secretsFolder: given.get('keys')?.[0] }, stop, io));
}

async function restoreInto(
  config: Config,
  from: { readonly source: string; readonly secretsFolder: string | undefined },
  { signal, reason }: StopRequest,
  io: OutputStreams,
): Promise<number> {
  const { dataDir } = config;
  const progress = openProgress(io.stderr, 'MiB');
  const restored = await restoreBackup({
    ...from,
    dataDir,
    secretFiles,
    signal,
    onProgress: (copied, total) => progress.update(inMebibytes(copied, total)),
    onEvent(message) {
      progress.clear();
      io.stderr.write(`${escapeLines(message)}\n`);
    },
    inspect: (connect, folder) => inspect(connect(embeddedDatabase), config, folder),
  })
    .finally(() => progress.clear())
    .catch((error: unknown) => {
      if (error !== signal.reason) throw error;
    });
  if (!restored) {
    io.stdout.write(`Stopped by ${reason()}. Nothing was restored.\n`);
    return 1;
  }
  const { groups, webhooks } = restored.report;
  io.stdout.write(
    `Restored ${escapeControls(resolve(dataDir))}: ${thousands(groups)} user ${groups === 1 ? 'group' : 'groups'}, as of ${restored.manifest.completedAt}. ` +
      `Start the gateway with this DATA_DIR.\n${describeWebhooks(webhooks)}`,
  );
  return 0;
}

/** What a gateway on the data would send, and how to keep it from that; empty if nothing. @param ids of the webhooks. */
function describeWebhooks(ids: readonly number[]): string {
  if (ids.length === 0) return '';
  const [are, them] = ids.length === 1 ? ['webhook is', 'it'] : ['webhooks are', 'them'];
  const commands = ids.map((id) => `  user-group-gateway webhooks disable ${id}\n`).join('');
  return (
    `${ids.length} ${are} enabled: a gateway with this DATA_DIR sends events to ${them}. ` +
    `If it is only a test, first run with this DATA_DIR:\n\n${commands}`
  );
}

/** Makes sure that a backup of the database could be used. */
async function inspectBefore(connection: Connection, config: Config): Promise<void> {
  const database = connectDatabase(connection, { namedStatements: false });
  try {
    await requireFittingKeys(database, config, config.dataDir);
  } catch (cause) {
    const reported = describeServerError(cause);
    if (reported) throw new Error(reported, { cause });
    const remedy = 'To make a backup without encryption keys all the same, pass --without-keys.';
    throw new Error(`A backup could not be used. ${(cause as Error).message} ${remedy}`, { cause });
  } finally {
    await database.close();
  }
}

/** What was found in a database that was restored. */
interface RestoredData {
  readonly groups: number;
  /** The numbers of the webhooks that are enabled. */
  readonly webhooks: readonly number[];
}

/** Makes sure that the tokens in the database can be decrypted. */
async function inspect(connection: Connection, config: Config, folder: string): Promise<RestoredData> {
  const database = connectDatabase(connection, { namedStatements: false });
  try {
    await requireFittingKeys(database, config, folder).catch((cause: Error) => {
      if (describeServerError(cause)) throw cause;
      const remedy = `Pass a folder whose file ${keyFileName} has them with --keys FOLDER, or set ENCRYPTION_KEYS.`;
      throw new Error(`The backup cannot be used without its encryption keys. ${cause.message} ${remedy}`, { cause });
    });
    const enabled = await database.prisma.webhook.findMany({
      select: { id: true },
      where: { enabled: true },
      orderBy: { id: 'asc' },
    });
    return { groups: await countGroups(database), webhooks: enabled.map(({ id }) => id) };
  } finally {
    await database.close();
  }
}

/**
 * Makes sure that the keys of the settings, or else those of the file in a folder, can decrypt what is in the database.
 *
 * @throws Error that says which keys are missing, or what is wrong with the file.
 */
async function requireFittingKeys(database: Database, { encryptionKeys, dataDir }: Config, folder: string): Promise<void> {
  const file = keyFile(folder);
  const keys = encryptionKeys ?? (existsSync(file) ? readKeyFile(file) : []);
  await requireKeys({ encryptionKeys, dataDir }, new KeyRing(keys), database);
}

/** @throws UsageError when the database is not the embedded one. */
function requireEmbedded(config: Config, command: string): Config {
  if (!config.databaseUrl) return config;
  throw new UsageError(
    `${command} is for the bundled PostgreSQL, and DATABASE_URL is set: the database is a server of your own. Use its tools, such as pg_basebackup ` +
      'or pgBackRest, and keep the encryption keys, without which a backup cannot be used. Nothing was done.',
  );
}

/** Progress in MiB. */
const inMebibytes = (copied: number, total: number) => ({ count: Math.floor(copied / 2 ** 20), fraction: copied / total });
