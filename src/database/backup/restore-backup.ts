import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { escapeControls } from '../../terminal-text.ts';
import type { Connection } from '../client.ts';
import { syncFolder } from '../durable-file.ts';
import { type Binaries, findBinaries } from '../embedded/binaries.ts';
import { describeFatalErrors, startServer, stopServer } from '../embedded/cluster.ts';
import { embeddedConnection, isPasswordRejected, isTransient } from '../embedded/embedded.ts';
import { copiesFolder, homeRecord, type Layout, layOut, restoreDraftName } from '../embedded/layout.ts';
import { requirePassword } from '../embedded/password.ts';
import { runningPostmaster } from '../embedded/server-lock.ts';
import { withCode } from '../errors.ts';
import { embeddedDatabase } from '../open.ts';
import { describeLeft, describeWriteFailure } from './backup-target.ts';
import { copyFile, forEachOf } from './copy-file.ts';
import { clusterFolder, requireSpace } from './create-backup.ts';
import { type BackupFile, type Manifest, readManifest } from './manifest.ts';
import {
  claim,
  damaged,
  publish,
  removeDraft,
  renewConfiguration,
  requireEmpty,
  requireFiles,
  requireKnown,
  requireMajor,
} from './restore-checks.ts';
import { advanceSequences, expireCursors, readState, resetSettings } from './restored-database.ts';

/** How long recovery may take: it replays what was written during the backup. */
const recoveryTimeoutMs = 3_600_000;

/** Which backup to restore, and where to. */
export interface RestoreOptions<Report> {
  /** The folder of the backup. */
  readonly source: string;
  /** Must be empty, or not exist. */
  readonly dataDir: string;
  /** The files of `dataDir` that hold secrets. */
  readonly secretFiles: readonly string[];
  /** A folder with at least one of these files, which is taken instead of the one of the backup. */
  readonly secretsFolder: string | undefined;
  readonly signal: AbortSignal;
  /** Receives how much is copied, and how much there is to copy, in bytes. */
  readonly onProgress?: (copied: number, total: number) => void;
  /** Receives what happens next. */
  readonly onEvent?: (message: string) => void;
  /**
   * Looks at the database once it is recovered; a failure undoes the restore.
   *
   * @param connect how to connect to a database of the server.
   * @param folder has the secret files.
   */
  readonly inspect: (connect: (database: string) => Connection, folder: string) => Promise<Report>;
}

/**
 * Restores a backup into an empty `DATA_DIR`: compares its files with its manifest, has PostgreSQL recover it to the end of the
 * backup, advances its sequences, expires the cursors of the event feed, and stops PostgreSQL. The data directory gets its name
 * last.
 *
 * @returns what was restored, and what `inspect` returned.
 * @throws Error with a message for the operator. What was written is removed then; if it cannot be, the message says so.
 * @throws the reason of the signal.
 */
export async function restoreBackup<Report>(
  options: RestoreOptions<Report>,
): Promise<{ readonly manifest: Manifest; readonly report: Report }> {
  const { source, signal } = options;
  const secrets = findSecrets(options);
  const manifest = await readManifest(source);
  const existed = await requireEmpty(options.dataDir);
  const layout = layOut(options.dataDir);
  const draft: Layout = {
    ...layout,
    dataDir: join(layout.dataDir, restoreDraftName),
    home: join(layout.home, restoreDraftName),
    cluster: join(layout.home, restoreDraftName, clusterFolder),
  };
  await claim(draft.dataDir);
  const placed: string[] = [];
  try {
    const binaries = await findBinaries(layout.user, copiesFolder(layout));
    requireMajor(manifest, binaries);
    requireKnown(source, manifest, options.secretFiles);
    await requireFiles(source, manifest);
    await mkdir(draft.home, { recursive: true });
    // PostgreSQL's user must enter them; what is in them can be read by its owner only.
    for (const folder of [draft.dataDir, draft.home]) await chmod(folder, 0o755);
    await requireSpace(
      draft.home,
      manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    await copyFiles(manifest, secrets, draft, options);
    const report = await recover(manifest, draft, binaries, options);
    signal.throwIfAborted();
    await publish(draft, layout, options.secretFiles, placed);
    const left = await removeDraft(draft);
    if (left.length > 0) options.onEvent?.(`${describeLeft(left)} It may have copies of the keys.`);
    return { manifest, report };
  } catch (error) {
    const left = await removeDraft(draft);
    // A gateway may have been started in the meantime: its files are kept.
    if (!existsSync(layout.cluster)) {
      for (const file of placed) await rm(file, { force: true });
      if (layout.home !== layout.dataDir) {
        await rm(join(layout.dataDir, homeRecord), { force: true });
        await rmdir(layout.home).catch(() => {});
      }
    }
    if (!existed) await rmdir(layout.dataDir).catch(() => {}); // copies of the executables may be in it
    throw signal.aborted && left.length === 0 ? signal.reason : describeWriteFailure(error, layout.dataDir, left);
  }
}

/** The secret files that are not taken from the backup, by their names. @throws Error when the folder has none of them. */
function findSecrets({ secretFiles, secretsFolder }: RestoreOptions<unknown>): ReadonlyMap<string, string> {
  if (secretsFolder === undefined) return new Map();
  const found = secretFiles.map((name) => [name, join(secretsFolder, name)] as const).filter(([, path]) => existsSync(path));
  if (found.length > 0) return new Map(found);
  throw new Error(`${secretsFolder} has no file ${secretFiles.join(' or ')} that can be read. Nothing was restored.`);
}

async function copyFiles(
  manifest: Manifest,
  secrets: ReadonlyMap<string, string>,
  draft: Layout,
  options: RestoreOptions<unknown>,
): Promise<void> {
  const { source, signal, onProgress } = options;
  const own = async (path: string) => {
    if (draft.user) await chown(path, draft.user.uid, draft.user.gid);
  };
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let copied = 0;
  const onCopied = (bytes: number) => {
    copied += bytes;
    onProgress?.(copied, total);
  };
  const copy = async ({ path, sha256 }: BackupFile, target: string) => {
    const written = await copyFile(join(source, path), target, { signal, onCopied });
    if (written.sha256 !== sha256) throw damaged(source, path, 'was changed: its checksum is wrong');
  };

  const folders = manifest.folders.map((path) => join(draft.home, path));
  for (const folder of folders) {
    await mkdir(folder, { mode: 0o700 });
    await own(folder);
  }
  const [cluster, others] = [true, false].map((isData) =>
    manifest.files.filter(({ path }) => path.startsWith(`${clusterFolder}/`) === isData),
  ) as [BackupFile[], BackupFile[]];
  await forEachOf(cluster, async (file) => {
    const target = join(draft.home, file.path);
    await copy(file, target);
    await own(target);
  });
  for (const file of others) if (!secrets.has(file.path)) await copy(file, join(draft.dataDir, file.path));
  for (const [name, path] of secrets) await copyFile(path, join(draft.dataDir, name), { signal });
  for (const folder of [...folders, draft.dataDir]) syncFolder(folder);
}

/** Has PostgreSQL replay the log, and looks at the result. PostgreSQL is stopped when this returns. */
async function recover<Report>(
  manifest: Manifest,
  draft: Layout,
  binaries: Binaries,
  options: RestoreOptions<Report>,
): Promise<Report> {
  const password = passwordOf(draft, binaries);
  const replaced = await renewConfiguration(manifest, draft, binaries);
  if (replaced.length > 0)
    options.onEvent?.(
      'The configuration of PostgreSQL is that of a new database. These files of the backup were not taken over: ' +
        `${replaced.join(', ')}. If you changed settings there, make the same changes again.`,
    );
  const signalFile = join(draft.cluster, 'recovery.signal');
  // With it, PostgreSQL fails unless it reaches the end of the backup.
  await writeFile(signalFile, '', { mode: 0o600 });
  if (draft.user) await chown(signalFile, draft.user.uid, draft.user.gid);
  options.onEvent?.('The files are complete. PostgreSQL recovers the database ...');
  try {
    // Without connections, recovery does not depend on the settings of the server that the backup is of.
    await startServer(draft, binaries, ['restore_command=false', 'hot_standby=off']).catch((error: unknown) => {
      if (!runningPostmaster(draft)) throw unrecoverable(draft, error); // else it is still recovering
    });
    await untilRecovered(manifest, draft, password, options.signal);
    const port = runningPostmaster(draft)?.port;
    const connect = (database: string) => embeddedConnection(port, password, database);
    const removed = await resetSettings(connect('postgres'));
    if (removed.length > 0)
      options.onEvent?.(
        `Settings of roles and databases were not taken over: ${escapeControls(removed.join('; '))}. If you need them, make them again.`,
      );
    await advanceSequences(connect(embeddedDatabase));
    await expireCursors(connect(embeddedDatabase));
    return await options.inspect(connect, draft.dataDir);
  } finally {
    await stopServer(draft, binaries);
    for (const name of ['postgres.log', 'postmaster.opts']) await rm(join(draft.cluster, name), { force: true });
    syncFolder(dirname(draft.cluster));
  }
}

const unrecoverable = (draft: Layout, cause?: unknown): Error =>
  new Error(
    `The database cannot be recovered from the backup. PostgreSQL's log:\n${describeFatalErrors(draft) || (cause as Error | undefined)?.message}`,
    { cause },
  );

function passwordOf(draft: Layout, binaries: Binaries): string {
  try {
    return requirePassword(draft, binaries);
  } catch (cause) {
    const text =
      'The backup has no postgres-password: it was made with --without-keys. Pass a folder that has this file with --keys FOLDER.';
    throw new Error(text, { cause });
  }
}

async function untilRecovered(manifest: Manifest, draft: Layout, password: string, signal: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + recoveryTimeoutMs; ; await sleep(50)) {
    signal.throwIfAborted();
    const running = runningPostmaster(draft);
    if (!running) throw unrecoverable(draft);
    if (Date.now() > deadline) throw new Error('PostgreSQL has been recovering the database for an hour, and did not finish.');
    const connection = embeddedConnection(running.port, password, 'postgres');
    const state = await withCode(readState(connection, manifest.stopLsn)).catch((error: Error) => {
      if (isPasswordRejected(error)) throw new Error('The file postgres-password does not belong to this backup.');
      if (!isTransient(error))
        throw new Error(`The database was recovered, but cannot be read: ${error.message}.`, { cause: error });
    });
    if (!state || state.recovering) continue;
    if (state.id === manifest.systemIdentifier && state.reached) return;
    throw new Error('PostgreSQL did not recover the database to the end of the backup.');
  }
}
