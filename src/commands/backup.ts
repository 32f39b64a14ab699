import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { createBackup } from '../database/backup/create-backup.ts';
import { passwordFileName } from '../database/embedded/layout.ts';
import { readPackageVersion } from '../package-root.ts';
import { type Config, readConfig } from '../settings.ts';
import { escapeControls, escapeLines } from '../terminal-text.ts';
import { keyFileName } from './key-file.ts';
import { asksForHelp, readOptions, UsageError } from './options.ts';
import { openProgress, thousands } from './progress.ts';
import { exitCodeOf, untilStopRequested } from './stop-request.ts';

/** The streams of `backup` and `restore`: for the result, and for progress. */
export interface BackupIo {
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/** The files in `DATA_DIR` that are secrets, without which the data cannot be used. */
export const secretFiles = [passwordFileName, keyFileName];

const backupHelp = `Usage: user-group-gateway backup DIR [--without-keys]

Makes a backup of the bundled PostgreSQL in the new folder DIR, while gateways run or not. It contains every change that was
acknowledged before it began. DIR must not exist, or be empty; it gets its name when the backup is complete.

DIR also contains the encryption keys and the password of the database, so it is a secret as a whole; only its owner can read it.
With --without-keys these two files are left out: keep copies of DATA_DIR/${keyFileName} and DATA_DIR/${passwordFileName}, without
which the backup cannot be restored.
`;

/**
 * `backup DIR`: makes a backup of the embedded database. Can be run while gateways run.
 *
 * @throws UsageError for invalid arguments, and with `DATABASE_URL`, before anything is opened.
 * @throws Error when the backup fails; what was written is removed then, or the message says that it could not be.
 */
export async function backup(args: readonly string[], io: BackupIo = process): Promise<number> {
  if (asksForHelp(args)) {
    io.stdout.write(backupHelp);
    return 0;
  }
  const { given, words, problems } = readOptions(args, { 'without-keys': 'flag' });
  const [target] = words;
  if (problems.length > 0 || words.length !== 1 || !target)
    throw new UsageError([...problems, 'backup takes one argument, the folder to create.', '', backupHelp].join('\n'));
  const { dataDir, encryptionKeys } = requireEmbedded(readConfig(process.env, io.stderr.isTTY ?? false), 'backup');
  const withKeys = !given.has('without-keys');

  const { signal, reason } = abortOnStop();
  const progress = openProgress(io.stderr, 'MiB');
  const manifest = await createBackup({
    dataDir,
    target,
    signal,
    gateway: readPackageVersion(),
    secretFiles: withKeys ? secretFiles : [],
    onProgress: (copied, total) => progress.update(inMebibytes(copied, total)),
    onEvent: (message) => io.stderr.write(`${escapeLines(message)}\n`),
  })
    .finally(() => progress.clear())
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  if (!manifest) {
    io.stdout.write(`Stopped by ${reason()}. ${escapeControls(target)} was not written.\n`);
    return exitCodeOf(reason() ?? '');
  }
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  io.stdout.write(
    `Wrote ${escapeControls(resolve(target))}: ${thousands(manifest.files.length)} files, ${thousands(Math.ceil(bytes / 2 ** 20))} MiB, with every change ` +
      `acknowledged before ${manifest.startedAt}.\n`,
  );
  const has = (name: string) => manifest.files.some(({ path }) => path === name);
  if (withKeys) {
    io.stdout.write(
      `It contains the ${has(keyFileName) ? 'encryption keys and the ' : ''}password of the database: keep it secret.\n`,
    );
  }
  if (!has(keyFileName)) {
    const where = encryptionKeys ? 'those in ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE' : 'those in DATA_DIR';
    io.stdout.write(`It does not contain the encryption keys, without which it cannot be used: keep a copy of ${where}.\n`);
  }
  return 0;
}

/** @throws UsageError when the database is not the embedded one. */
export function requireEmbedded(config: Config, command: string): Config {
  if (!config.databaseUrl) return config;
  throw new UsageError(
    `${command} is for the bundled PostgreSQL, and DATABASE_URL is set: the database is a server of your own. Use its tools, such as pg_basebackup ` +
      'or pgBackRest, and keep the encryption keys, without which a backup cannot be used. Nothing was done.',
  );
}

/** Ends the work of a command at the first signal to stop, whose name `reason` returns. */
export function abortOnStop(): { readonly signal: AbortSignal; reason(): string | undefined } {
  const controller = new AbortController();
  let stopped: string | undefined;
  void untilStopRequested().then((reason) => {
    stopped = reason;
    controller.abort(new Error(`Stopped by ${reason}.`));
  });
  return { signal: controller.signal, reason: () => stopped };
}

/** Progress in MiB. */
export const inMebibytes = (copied: number, total: number) => ({ count: Math.floor(copied / 2 ** 20), fraction: copied / total });
