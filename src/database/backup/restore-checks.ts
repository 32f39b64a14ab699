import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { syncFolder } from '../durable-file.ts';
import type { Binaries } from '../embedded/binaries.ts';
import { runInitdb } from '../embedded/cluster.ts';
import { type Layout, restoreDraftName } from '../embedded/layout.ts';
import { controlFile, ifMissing, isLeftOut } from './cluster-files.ts';
import { forEachOf } from './copy-file.ts';
import { clusterFolder } from './create-backup.ts';
import type { Manifest } from './manifest.ts';

/** Creates the folder of a restore. @throws Error when another restore has it. */
export async function claim(folder: string): Promise<void> {
  await mkdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause;
    throw new Error(`${folder} exists: another restore is writing to it, or was killed. If none is, delete it.`, { cause });
  });
}

/**
 * Gives what was restored its names. Replaces nothing.
 *
 * @param placed receives each file that is in place, also when this fails.
 * @throws Error when a gateway has been started in the folder in the meantime.
 */
export async function publish(draft: Layout, layout: Layout, secretFiles: readonly string[], placed: string[]): Promise<void> {
  try {
    for (const name of secretFiles) {
      if (!existsSync(join(draft.dataDir, name))) continue;
      const file = join(layout.dataDir, name);
      await link(join(draft.dataDir, name), file); // unlike a rename, fails if there is one
      placed.push(file);
    }
    await rename(draft.cluster, layout.cluster);
  } catch (cause) {
    if (!['EEXIST', 'ENOTEMPTY'].includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
    const text = `${layout.dataDir} was used by a gateway during the restore, and a restore never replaces anything. Stop the gateway, and restore into a new folder.`;
    throw new Error(text, { cause });
  }
  for (const folder of new Set([layout.home, layout.dataDir])) syncFolder(folder);
}

/** Removes the temporary files of a restore next to its result. Never rejects. @returns the folders that could not be removed. */
export async function removeDraft(draft: Layout): Promise<string[]> {
  const folders = [...new Set([draft.dataDir, draft.home])];
  const results = await Promise.allSettled(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 3 })));
  return folders.filter((_, index) => results[index]?.status === 'rejected');
}

/** The files of a data directory with PostgreSQL's settings, which can run programs, and with who may connect. */
const configurationFiles = ['postgresql.conf', 'postgresql.auto.conf', 'pg_hba.conf', 'pg_ident.conf'];

/**
 * Replaces the configuration in the copy of a backup with that of a new data directory.
 *
 * @returns the names of the files of the backup that have another content.
 * @throws Error when `initdb` fails.
 */
export async function renewConfiguration({ files }: Manifest, layout: Layout, binaries: Binaries): Promise<string[]> {
  const fresh = `${layout.cluster}.new`;
  const replaced: string[] = [];
  try {
    await runInitdb(layout, binaries, fresh, randomUUID()); // initdb requires a password; none is kept
    for (const name of configurationFiles) {
      const content = await readFile(join(fresh, name));
      const given = files.find(({ path }) => path === `${clusterFolder}/${name}`);
      if (given && given.sha256 !== createHash('sha256').update(content).digest('hex')) replaced.push(name);
      await rename(join(fresh, name), join(layout.cluster, name));
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  syncFolder(layout.cluster);
  return replaced;
}

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
  const isOfCluster = (path: string) => path.startsWith(`${clusterFolder}/`) && !isLeftOut(path.slice(clusterFolder.length + 1));
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
    // One without files is not kept by object storage.
    if (found && !found.isDirectory()) throw damaged(source, path, 'is not a regular folder');
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
