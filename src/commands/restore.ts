import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { restoreBackup } from '../database/backup/restore-backup.ts';
import { type Connection, connectDatabase } from '../database/client.ts';
import { embeddedDatabase } from '../database/open.ts';
import { countGroups } from '../database/server-state.ts';
import { KeyRing } from '../encryption/keys.ts';
import { type Config, readConfig } from '../settings.ts';
import { escapeControls, escapeLines } from '../terminal-text.ts';
import { abortOnStop, type BackupIo, inMebibytes, requireEmbedded, secretFiles } from './backup.ts';
import { keyFile, readKeyFile, requireKeys } from './key-file.ts';
import { asksForHelp, readOptions, UsageError } from './options.ts';
import { openProgress, thousands } from './progress.ts';
import { exitCodeOf } from './stop-request.ts';

const restoreHelp = `Usage: user-group-gateway restore DIR [--keys FOLDER]

Restores the backup in DIR, which the command backup made, into DATA_DIR, which must not exist, or be empty. Compares every file with the
checksums of the backup, recovers the database, and checks that its encryption keys are there. DIR is not changed.

--keys FOLDER has the files ${secretFiles.join(' and ')} of a backup that was made with --without-keys.
`;

/**
 * `restore DIR`: restores a backup into an empty `DATA_DIR`.
 *
 * @throws UsageError for invalid arguments, and with `DATABASE_URL`, before anything is opened.
 * @throws Error when the backup cannot be restored; `DATA_DIR` is as it was then.
 */
export async function restore(args: readonly string[], io: BackupIo = process): Promise<number> {
  if (asksForHelp(args)) {
    io.stdout.write(restoreHelp);
    return 0;
  }
  const { given, words, problems } = readOptions(args, { keys: 'value' });
  const [source] = words;
  if (problems.length > 0 || words.length !== 1 || !source)
    throw new UsageError([...problems, 'restore takes one argument, the folder of the backup.', '', restoreHelp].join('\n'));
  const config = requireEmbedded(readConfig(process.env, io.stderr.isTTY ?? false), 'restore');
  const { dataDir } = config;

  const { signal, reason } = abortOnStop();
  const progress = openProgress(io.stderr, 'MiB');
  const restored = await restoreBackup({
    source,
    dataDir,
    secretFiles,
    secretsFolder: given.get('keys')?.[0],
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
      if (!signal.aborted) throw error;
    });
  if (!restored) {
    io.stdout.write(`Stopped by ${reason()}. Nothing was restored.\n`);
    return exitCodeOf(reason() ?? '');
  }
  const { manifest, report } = restored;
  io.stdout.write(
    `Restored ${escapeControls(resolve(dataDir))}: ${thousands(report)} user ${report === 1 ? 'group' : 'groups'}, as of ${manifest.completedAt}. ` +
      'Start the gateway with this DATA_DIR.\n',
  );
  return 0;
}

/** Makes sure that the tokens in the database can be decrypted. Returns how many groups there are. */
async function inspect(connection: Connection, { encryptionKeys, dataDir }: Config, folder: string): Promise<number> {
  const database = connectDatabase(connection, { namedStatements: false });
  try {
    const file = keyFile(folder);
    const keys = encryptionKeys ?? (existsSync(file) ? readKeyFile(file) : []);
    try {
      await requireKeys({ encryptionKeys, dataDir }, new KeyRing(keys), database);
    } catch (cause) {
      const remedy = `Pass a folder that has the file ${keyFile('')} with --keys FOLDER, or set ENCRYPTION_KEYS.`;
      throw new Error(`The backup cannot be used without its encryption keys. ${(cause as Error).message} ${remedy}`, { cause });
    }
    return await countGroups(database);
  } finally {
    await database.close();
  }
}
