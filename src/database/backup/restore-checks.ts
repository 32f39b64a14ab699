import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Binaries } from '../embedded/binaries.ts';
import { restoreDraftName } from '../embedded/layout.ts';
import { controlFile, ifMissing, isLeftOut } from './cluster-files.ts';
import { forEachOf } from './copy-file.ts';
import { clusterFolder } from './create-backup.ts';
import type { Manifest } from './manifest.ts';

/** What a file system has at its root, and copies of PostgreSQL's executables. */
const ignored = /^(lost\+found|postgresql-.*)$/;

/** Returns whether the folder of a `DATA_DIR` exists. @throws Error when it has anything in it. */
export async function requireEmpty(dataDir: string): Promise<boolean> {
  const content = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTDIR') return ifMissing(error);
    throw new Error(`${resolve(dataDir)} is not a folder. Set DATA_DIR to a new folder.`);
  });
  if (!content) return false;
  if (content.every((name) => ignored.test(name))) return true;
  const interrupted = content.includes(restoreDraftName)
    ? ` It has ${restoreDraftName}: another restore is writing to it, or was killed; if none runs, delete that folder.`
    : '';
  throw new Error(
    `${resolve(dataDir)} is not empty, and a restore never replaces anything.${interrupted} Set DATA_DIR to a new folder, or move its content away.`,
  );
}

/** @throws Error when the backup is of another major version of PostgreSQL than the bundled one. */
export function requireMajor({ postgres, gateway }: Manifest, { major }: Binaries): void {
  if (postgres === major) return;
  throw new Error(
    `The backup is of PostgreSQL ${postgres}, and this gateway bundles PostgreSQL ${major}. Restore it with version ${gateway} of the gateway, which made it.`,
  );
}

/**
 * Makes sure that a backup has what every backup has, and nothing else: another file could make PostgreSQL write elsewhere, or
 * connect elsewhere.
 *
 * @throws Error that names the first file that is missing or another one.
 */
export function requireKnown(source: string, { folders, files }: Manifest, secretFiles: readonly string[]): void {
  const isOfCluster = (path: string) => path.startsWith(`${clusterFolder}/`) && !isLeftOut(path);
  const others = [
    ...folders.filter((path) => path !== clusterFolder && !isOfCluster(path)),
    ...files.map(({ path }) => path).filter((path) => !isOfCluster(path) && path !== labelFile && !secretFiles.includes(path)),
  ];
  if (others.length > 0)
    throw new Error(`The manifest of ${source} names ${JSON.stringify(others[0])}, which no backup has. Nothing was restored.`);
  const missing = requiredFiles.find((path) => !files.some((file) => file.path === path));
  if (missing === undefined) return;
  throw new Error(`The manifest of ${source} does not name ${missing}, which every backup has. Nothing was restored.`);
}

/** The file of the data directory that a backup has of its own. */
const labelFile = `${clusterFolder}/backup_label`;

/** Without these, PostgreSQL would begin recovery at the wrong place, or not at all. */
const requiredFiles = [labelFile, `${clusterFolder}/${controlFile}`, `${clusterFolder}/PG_VERSION`];

/** Makes sure that the backup is complete, before anything is written. @throws Error that names the first file that is not. */
export async function requireFiles(source: string, { folders, files }: Manifest): Promise<void> {
  await forEachOf(folders, async (path) => {
    const found = await lstat(join(source, path)).catch(ifMissing);
    if (!found) throw damaged(source, path, 'is missing');
    if (!found.isDirectory()) throw damaged(source, path, 'is not a regular folder');
  });
  await forEachOf(files, async ({ path, bytes }) => {
    const found = await lstat(join(source, path)).catch(ifMissing);
    if (!found) throw damaged(source, path, 'is missing');
    if (!found.isFile()) throw damaged(source, path, 'is not a regular file');
    if (found.size !== bytes) throw damaged(source, path, `has ${found.size} bytes instead of ${bytes}`);
  });
}

/** What to do about a file of a backup that is not what it was. @param what the end of a sentence that begins with its path. */
export const damaged = (source: string, path: string, what: string): Error =>
  new Error(
    `The backup is damaged: ${join(source, path)} ${what}. Nothing was restored. Use another copy of the backup, or another backup.`,
  );
