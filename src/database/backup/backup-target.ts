import { lstat, mkdir, readdir, realpath, rename, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { syncFolder } from '../durable-file.ts';
import type { Layout } from '../embedded/layout.ts';
import { describeServerError } from '../errors.ts';
import { ifMissing } from './cluster-files.ts';

/** The codes of errors for a lack of space, and for the limit of a user. */
const noSpace: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT'];

/** The codes of system errors that are of the connection to PostgreSQL. */
const connectionErrors: readonly (string | undefined)[] = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

/**
 * What a failure to write a backup, or to restore one, means to the operator.
 *
 * @param folder what was being written.
 * @param left the folders with what was written that could not be removed.
 */
export function describeWriteFailure(error: unknown, folder: string, left: readonly string[]): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  const removal = left.length === 0 ? 'What was written was removed.' : describeLeft(left);
  const reported = describeServerError(error);
  if (reported) return new Error(`${reported} ${removal}`, { cause: error });
  const isOfFile = code !== undefined && syscall !== undefined && !connectionErrors.includes(code);
  if (!isOfFile) return left.length === 0 ? error : new Error(`${message} ${describeLeft(left)}`, { cause: error });
  const text = noSpace.includes(code)
    ? `No space is left for ${folder}. ${removal} Free space, or choose another file system.`
    : `${folder} could not be written completely: ${message}. ${removal}`;
  return new Error(text, { cause: error });
}

/** What to do about folders that could not be removed. */
export const describeLeft = (folders: readonly string[]): string =>
  `Delete ${folders.join(' and ')}, which could not be removed.`;

/**
 * Makes sure that a backup may get this name, before anything is copied.
 *
 * @returns its absolute path, without symbolic links.
 */
export async function requireFree(folder: string, { cluster }: Layout): Promise<string> {
  const parent = await realpath(dirname(resolve(folder))).catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`${folder} cannot be created: ${cause.message}. Create the folder that is to contain it.`);
  });
  const given = join(parent, basename(resolve(folder)));
  const target = (await lstat(given).catch(ifMissing)) ? await requireEmptyFolder(given) : given;
  const path = relative(await realpath(cluster), target);
  const isOutside = path.startsWith(`..${sep}`) || isAbsolute(path); // absolute on another drive
  if (!isOutside) throw new Error(`${target} is in the data directory. Choose a folder elsewhere.`);
  return target;
}

/** @returns its path without symbolic links. @throws Error when it cannot be replaced by a backup. */
async function requireEmptyFolder(given: string): Promise<string> {
  const target = await realpath(given).catch(ifMissing);
  if (!target)
    throw new Error(`${given} is a symbolic link to a folder that does not exist. Create that folder, or choose another one.`);
  const found = await stat(target);
  if (!found.isDirectory())
    throw new Error(`${target} is not a folder, and a backup never replaces anything. Choose another name.`);
  if (found.dev !== (await stat(dirname(target))).dev) throw mountPoint(target);
  if ((await readdir(target)).length > 0) {
    throw new Error(`${target} is not empty, and a backup never replaces anything. Choose another folder.`);
  }
  return target;
}

const mountPoint = (target: string): Error =>
  new Error(
    `${target} is the root of a file system, which cannot be replaced by a complete backup. Choose a folder in it, such as ${join(target, 'backup')}.`,
  );

/** Creates the folder that a backup is written to. @throws Error when it exists: another backup has it. */
export async function makeDraft(draft: string): Promise<void> {
  try {
    await mkdir(draft, { mode: 0o700 });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new Error(`${draft} cannot be created: ${message}.`);
    throw new Error(`${draft} exists: another backup is being written to it, or was interrupted. If none is, delete it.`);
  }
}

/** Gives a complete backup its name. @throws Error when something has got this name in the meantime. */
export async function publish(draft: string, target: string): Promise<void> {
  try {
    // An empty folder may be replaced on most systems, but not on all.
    if (await stat(target).catch(ifMissing)) await rmdir(target);
    await rename(draft, target);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EBUSY') throw mountPoint(target); // of a folder of the same file system
    if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(code ?? '')) throw cause;
    const text = `${target} was created during the backup, and a backup never replaces anything. Choose another folder.`;
    throw new Error(text, { cause });
  }
  syncFolder(dirname(target));
}
