import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import pg from 'pg';
import type { Connection } from '../client.ts';
import { applicationNames } from '../database-url.ts';
import { syncFolder } from '../durable-file.ts';
import { readMajor } from '../embedded/cluster.ts';
import { openEmbedded } from '../embedded/embedded.ts';
import { findLayout, type Layout } from '../embedded/layout.ts';
import { describeWriteFailure, makeDraft, publish, requireFree } from './backup-target.ts';
import { controlFile, findClusterFiles, ifMissing, readControlFile } from './cluster-files.ts';
import { copyFile, forEachOf, writeDurably } from './copy-file.ts';
import { type BackupFile, type Manifest, writeManifest } from './manifest.ts';
import { createPageCheck, type FindDamaged } from './page-checksums.ts';

/** The folder of a backup that has the data directory. */
export const clusterFolder = 'postgres';

/** Which backup to make. */
export interface BackupOptions {
  readonly dataDir: string;
  /** The folder to create; it may exist if it is empty. */
  readonly target: string;
  /** The files in `dataDir` that are copied, too. Last, so that they have the keys of all that was written before. */
  readonly secretFiles: readonly string[];
  /** The version of the gateway. */
  readonly gateway: string;
  /** Ends the backup early: what was written is removed. */
  readonly signal: AbortSignal;
  /** Receives how much is copied, and how much there is to copy, in bytes. */
  readonly onProgress?: (copied: number, total: number) => void;
  /** Receives messages for the operator. */
  readonly onEvent?: (message: string) => void;
  /**
   * Looks at the database before anything is written; a failure ends the backup.
   *
   * @param connect how to connect to a database of the server.
   */
  readonly inspect?: (connect: (database: string) => Connection) => Promise<void>;
}

/**
 * Makes a base backup of the embedded PostgreSQL while gateways use it, or not; then the server is started, and stopped at the
 * end. It is written next to `target`, and gets that name once it is complete and on disk.
 *
 * @returns what it contains.
 * @throws Error with a message for the operator. What was written is removed then; if it cannot be, the message says so. A
 *   process that is killed leaves a folder whose name ends with `.partial`.
 * @throws the reason of the signal.
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const { dataDir, signal, onEvent } = options;
  const layout = findLayout(dataDir);
  const major = layout && readMajor(layout);
  if (!layout || major === undefined) {
    throw new Error(`There is no database in ${resolve(dataDir)}. Set DATA_DIR to the folder that the gateway uses.`);
  }
  const target = await requireFree(options.target, layout);
  const draft = `${target}.partial`;
  const embedded = await openEmbedded(dataDir, { signal, onEvent });
  try {
    await options.inspect?.(embedded.connection);
    await makeDraft(draft);
    try {
      const session = await beginBackup(embedded.connection('postgres'));
      const manifest = await copyAll(session, layout, major, draft, options).finally(() => session.close());
      await publish(draft, target);
      return manifest;
    } catch (error) {
      const left = await rm(draft, { recursive: true, force: true }).then(
        () => [],
        () => [draft],
      );
      throw signal.aborted && left.length === 0 ? signal.reason : describeWriteFailure(error, draft, left);
    }
  } finally {
    await embedded.close();
  }
}

async function copyAll(
  session: BackupSession,
  layout: Layout,
  postgres: string,
  draft: string,
  { secretFiles, gateway, signal: stopped, onProgress }: BackupOptions,
): Promise<Manifest> {
  const signal = AbortSignal.any([stopped, session.lost]);
  const { folders, files: found } = await findClusterFiles(layout.cluster);
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  await requireSpace(draft, total);
  const allFolders = [clusterFolder, ...folders.map((path) => `${clusterFolder}/${path}`)];
  for (const path of allFolders) await mkdir(join(draft, path), { mode: 0o700 });

  const files: BackupFile[] = [];
  let copied = 0;
  const onCopied = (bytes: number) => {
    copied += bytes;
    onProgress?.(copied, Math.max(copied, total));
  };
  const copy = async (source: string, path: string, findDamaged?: FindDamaged) =>
    files.push({ path, ...(await copyFile(source, join(draft, path), { signal, onCopied, findDamaged })) });
  /** For a source that may be removed; the folder that it is copied to may not. */
  const ifSourceMissing = (error: NodeJS.ErrnoException) => {
    if (error.path?.startsWith(draft + sep)) throw error;
    ifMissing(error);
  };
  const copyCluster = (path: string) =>
    copy(join(layout.cluster, path), `${clusterFolder}/${path}`, session.hasChecksums ? createPageCheck(path) : undefined);
  const write = async (path: string, content: string | Buffer) =>
    files.push({ path, ...(await writeDurably(join(draft, path), content)) });

  await forEachOf(found, async ({ path }) => {
    await copyCluster(path).catch(ifSourceMissing); // a table that was dropped during the copy: the log drops it, too
  });
  await write(`${clusterFolder}/${controlFile}`, await readControlFile(layout.cluster));
  const { label, stopLsn, completedAt, segments, segmentBytes } = await session.stop();
  total += segments.length * segmentBytes;
  await write(`${clusterFolder}/backup_label`, label);
  const histories = (await readdir(join(layout.cluster, 'pg_wal'))).filter((name) => name.endsWith('.history'));
  await forEachOf([...histories, ...segments], async (name) => void (await copyCluster(`pg_wal/${name}`)));
  for (const name of secretFiles) await copy(join(layout.dataDir, name), name);
  signal.throwIfAborted();

  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const { systemIdentifier, startedAt } = session;
  const manifest = { gateway, postgres, systemIdentifier, startedAt, completedAt, stopLsn, folders: allFolders, files };
  for (const path of allFolders) syncFolder(join(draft, path));
  await writeManifest(draft, manifest);
  syncFolder(draft);
  return manifest;
}

/** @throws Error when the file system of a folder has less space. */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new Error(
    `${folder} needs ${toMebibytes(bytes)} MiB, and its file system has ${toMebibytes(free)} MiB left. Free space, or choose another file system.`,
  );
}

const toMebibytes = (bytes: number): number => Math.ceil(bytes / 2 ** 20);

/** How long the checkpoint at the start may take, which writes the whole cache to disk. */
const checkpointTimeoutMs = 600_000;

/** The key of the advisory lock that is held during a backup: a second one would only take the disk's time from the first. */
const backupLock = 727_074;

/** A base backup that PostgreSQL has begun. It ends with the session. */
interface BackupSession {
  readonly systemIdentifier: string;
  /** By the database's clock, as {@link BackupEnd.completedAt}. */
  readonly startedAt: string;
  /** Whether pages have checksums, as those of the bundled PostgreSQL have by default. */
  readonly hasChecksums: boolean;
  /** Aborted when the session ends: the backup cannot be completed then. */
  readonly lost: AbortSignal;
  /** Ends the backup. */
  stop(): Promise<BackupEnd>;
  /** Closes the session. */
  close(): Promise<void>;
}

/** What PostgreSQL says at the end of a backup. */
interface BackupEnd {
  /** The content of the file `backup_label`, without which recovery would begin in the wrong place. */
  readonly label: string;
  readonly stopLsn: string;
  readonly completedAt: string;
  /** The names of the segments of the log that recovery needs. */
  readonly segments: readonly string[];
  readonly segmentBytes: number;
}

/**
 * Has PostgreSQL begin a base backup. Until the session is closed, the server keeps the log that recovery needs, by a replication
 * slot that ends with the session.
 *
 * @throws Error when another backup is being made, or there are tablespaces.
 */
async function beginBackup(connection: Connection): Promise<BackupSession> {
  const client = new pg.Client({
    ...connection,
    application_name: applicationNames.backup,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    query_timeout: checkpointTimeoutMs,
  });
  const lost = new AbortController();
  const lose = () =>
    lost.abort(new Error('PostgreSQL stopped during the backup, so it is incomplete and was removed. Run it again.'));
  client.on('error', lose);
  client.on('end', lose);
  await client.connect();
  try {
    const [state] = await rowsOf<{ held: boolean; tablespaces: string | null; id: string; now: Date; checksums: string }>(
      client,
      `select clock_timestamp() as now, pg_try_advisory_lock(${backupLock}) as held, (select system_identifier::text from pg_control_system()) as id,
         current_setting('data_checksums') as checksums, (select string_agg(spcname, ', ') from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces`,
    );
    if (!state?.held) throw new Error('Another backup of this database is being made. Wait until it has finished.');
    if (state.tablespaces !== null) {
      throw new Error(
        `The database has tablespaces (${state.tablespaces}), which this command does not back up. Use pg_basebackup.`,
      );
    }
    // Before the start, so that no segment is removed in between.
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [
      `backup_${randomUUID().replaceAll('-', '_')}`,
    ]);
    const [start] = await rowsOf<{ lsn: string }>(client, "select pg_backup_start('user-group-gateway', true)::text as lsn");
    return {
      systemIdentifier: state.id,
      startedAt: state.now.toISOString(),
      hasChecksums: state.checksums === 'on',
      lost: lost.signal,
      stop: () => stopBackup(client, start?.lsn ?? ''),
      async close() {
        await client.end().catch(() => {});
      },
    };
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

async function stopBackup(client: pg.Client, startLsn: string): Promise<BackupEnd> {
  const [end] = await rowsOf<Omit<BackupEnd, 'completedAt' | 'segmentBytes'> & { now: Date; bytes: string }>(
    client,
    `select lsn::text as "stopLsn", labelfile as label, clock_timestamp() as now, bytes, array(
         select distinct pg_walfile_name(least($1::pg_lsn + number * bytes, lsn))
         from generate_series(0, ceil((lsn - $1::pg_lsn) / bytes)) as number
       ) as segments
     from pg_backup_stop(wait_for_archive => false),
       (select setting::numeric as bytes from pg_settings where name = 'wal_segment_size') as size`,
    [startLsn],
  );
  if (!end) throw new Error('PostgreSQL did not end the backup.');
  return { ...end, completedAt: end.now.toISOString(), segmentBytes: Number(end.bytes) };
}

async function rowsOf<Row extends pg.QueryResultRow>(client: pg.Client, text: string, values?: unknown[]): Promise<Row[]> {
  return (await client.query<Row>(text, values)).rows;
}
