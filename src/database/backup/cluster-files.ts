import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';

/** A file of a data directory. */
export interface ClusterFile {
  /** Relative to the data directory, with slashes. */
  readonly path: string;
  /** Its size when it was found. */
  readonly bytes: number;
}

/** What a base backup has of a data directory. */
export interface ClusterFiles {
  /** Relative to the data directory, each after the one that contains it. */
  readonly folders: readonly string[];
  readonly files: readonly ClusterFile[];
}

/** What is in folders whose content belongs to the running server. */
const inEmptyFolder = /^pg_(?:dynshmem|notify|replslot|serial|snapshots|stat_tmp|subtrans)\//i;

/** Files of the running server, and those that a backup has of its own, as `pg_basebackup` leaves them out. */
const leftOut = [
  /^postmaster\.(pid|opts)/i,
  /^\.s\.PGSQL\./i,
  /^postgres\.log$/i,
  /^current_logfiles/i,
  /^(backup_label|tablespace_map|backup_manifest)$/i,
  /^(recovery|standby)\.signal$/i,
  /^postgresql\.auto\.conf\.tmp$/i,
  /^pg_internal\.init/i,
  /^pgsql_tmp/i,
  /^t\d+_\d+/i, // temporary tables
];

/** Whether a path of a data directory is one that no base backup copies. */
export const isLeftOut = (path: string): boolean =>
  inEmptyFolder.test(path) || path.split('/').some((name) => leftOut.some((pattern) => pattern.test(name)));

/** Whether a name of a file or folder is one segment of a path on every system, and can be printed. */
export const isRestorable = (name: string): boolean => !/[\\:\p{Cc}]/u.test(name) && !['', '.', '..'].includes(name);

/** The file that says where recovery begins. It is copied last, and as a whole. */
export const controlFile = 'global/pg_control';

/**
 * Finds what belongs to a base backup of a data directory, while the server runs. A file that is removed in the meantime is left
 * out: the log removes it, too.
 *
 * @throws Error when the data directory has parts elsewhere.
 */
export async function findClusterFiles(cluster: string): Promise<ClusterFiles> {
  const folders: string[] = [];
  const files: ClusterFile[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(cluster, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (isLeftOut(path) || path === controlFile) continue;
      if (!isRestorable(entry.name)) {
        throw new Error(
          `${JSON.stringify(join(cluster, path))} has a name that cannot be restored. Rename it, or move it ` +
            'out of the data directory: no file of PostgreSQL itself has such a name.',
        );
      }
      if (entry.isSymbolicLink()) {
        throw new Error(
          `${join(cluster, path)} is a symbolic link; a backup requires that the data directory has no tablespaces and no parts elsewhere.`,
        );
      }
      if (entry.isDirectory()) {
        folders.push(path);
        // The log is copied apart, once the end of the backup is known.
        if (path !== 'pg_wal') await visit(path);
      } else if (entry.isFile()) {
        const bytes = await lstat(join(cluster, path)).then(({ size }) => size, ifMissing);
        if (bytes !== undefined) files.push({ path, bytes });
      }
    }
  };
  await visit('');
  return { folders, files };
}

/** For what is removed while it is read. @throws any other error. */
export function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** How often the control file may change while it is read. */
const maxControlReads = 100;

/** The control file, read while the server may write it: twice the same means that neither read was interrupted by a write. */
export async function readControlFile(cluster: string): Promise<Buffer> {
  let last = await readFile(join(cluster, controlFile));
  for (let i = 0; i < maxControlReads; i += 1) {
    await pause();
    const again = await readFile(join(cluster, controlFile));
    if (again.equals(last)) return again;
    last = again;
  }
  throw new Error(`${join(cluster, controlFile)} changes all the time; it cannot be copied.`);
}
