import { join, resolve } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../database/open.ts';
import { checkSnapshot, requireEmpty, restoreSnapshot, snapshotKeys, writeSnapshot } from '../database/snapshot.ts';
import { openLog } from '../log.ts';
import { readPackageVersion } from '../package-root.ts';
import { readConfig } from '../settings.ts';
import { escapeControls } from '../terminal-text.ts';
import { withDatabaseToRead } from './context.ts';
import { addKeys, keyFile, keyFileText, readKeyFile } from './key-file.ts';
import { asksForHelp, type OptionKinds, type OutputStreams, readOptions, UsageError } from './options.ts';
import { thousands } from './output.ts';
import { processIo } from './process-io.ts';
import { untilStopped } from './stop-request.ts';

const backupHelp = `Usage: user-group-gateway backup DIR [--without-keys]

Writes a snapshot of the database to the new folder DIR, while gateways run or not. It contains every change that was
acknowledged before the command began. restore can restore it on another major version of PostgreSQL.

DIR also contains the encryption keys, so keep it secret. --without-keys leaves them out: keep a copy of them elsewhere.
`;

/** `backup DIR`: writes a snapshot of the database. @throws UsageError for invalid arguments. */
export async function backup(args: readonly string[], io: OutputStreams): Promise<number> {
  if (asksForHelp(args)) return printHelp(backupHelp, io);
  const { folder, given } = readFolder('backup', args, { 'without-keys': 'flag' }, backupHelp);
  const withKeys = !given.has('without-keys');
  return withDatabaseToRead(async ({ config, database, stop }) => {
    const readKeys = () => (withKeys ? keyFileText(config.encryptionKeys ?? readKeyFile(keyFile(config.dataDir))) : undefined);
    const options = { version: readPackageVersion(), readKeys, signal: stop.signal };
    const { tables } = await writeSnapshot(database, folder, options).catch(explain);
    const keys = withKeys
      ? 'It contains the encryption keys: keep it secret.'
      : 'It does not contain the encryption keys: keep a copy of them elsewhere.';
    io.stdout.write(`Wrote ${escapeControls(folder)}: ${describeGroups(tables)}. ${keys}\n`);
    return 0;
  });
}

const restoreHelp = `Usage: user-group-gateway restore DIR

Restores the snapshot in DIR, which the command backup wrote, into an empty database: that of DATABASE_URL, or that of DATA_DIR.
Compares every file with the checksums of the backup first. DIR is not changed.
A gateway on the database sends events to the webhooks of the backup.
`;

/** `restore DIR`: restores a snapshot into an empty database. @throws UsageError for invalid arguments. */
export async function restore(args: readonly string[], io: OutputStreams): Promise<number> {
  if (asksForHelp(args)) return printHelp(restoreHelp, io);
  const { folder } = readFolder('restore', args, {}, restoreHelp);
  const config = readConfig(process.env, processIo.stderr.isTTY ?? false);
  const log = openLog(config, processIo.log);
  const onEvent = (message: string) => log.warn(message);
  return untilStopped(async ({ signal }) => {
    const manifest = await checkSnapshot(folder);
    const database = await openDatabase({ ...config, signal, onEvent });
    const keysGo = manifest.keys && !config.databaseUrl && !config.encryptionKeys ? keyFile(config.dataDir) : undefined;
    try {
      await requireEmpty(database);
      if (keysGo) addKeys(keysGo, readKeyFile(join(folder, snapshotKeys)));
      await restoreSnapshot(database, folder, manifest, { signal, onEvent });
    } catch (error) {
      return explain(error);
    } finally {
      await database.close();
    }
    const place = config.databaseUrl ? 'the database' : escapeControls(resolve(config.dataDir));
    const keys = keysGo ? '' : ` ${whereKeysAre(manifest.keys ? join(folder, snapshotKeys) : undefined, config.dataDir)}`;
    io.stdout.write(`Restored ${place}: ${describeGroups(manifest.tables)}, as of ${manifest.createdAt}.${keys}\n`);
    return 0;
  });
}

const whereKeysAre = (file: string | undefined, dataDir: string): string =>
  file
    ? `Its encryption keys are in ${escapeControls(file)}: set ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE to them.`
    : `The backup has no encryption keys: put them into ${escapeControls(keyFile(dataDir))}, ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE.`;

function readFolder(command: string, args: readonly string[], kinds: OptionKinds, help: string) {
  const { given, words, problems } = readOptions(args, kinds);
  const [folder] = words;
  if (problems.length > 0 || words.length !== 1 || !folder)
    throw new UsageError([...problems, `${command} takes one argument, the folder of the backup.`, '', help].join('\n'));
  return { given, folder: resolve(folder) };
}

function printHelp(help: string, io: OutputStreams): number {
  io.stdout.write(help);
  return 0;
}

function describeGroups(tables: readonly { readonly name: string; readonly rows: number }[]): string {
  const rows = tables.find(({ name }) => name === 'user_group')?.rows ?? 0;
  return `${thousands(rows)} user ${rows === 1 ? 'group' : 'groups'}`;
}

/** @throws Error with the message of the server, or else the given one. */
function explain(cause: unknown): never {
  if (!(cause instanceof pg.DatabaseError)) throw cause;
  throw new Error(`PostgreSQL reported: ${cause.message} (${cause.code}).`, { cause });
}
