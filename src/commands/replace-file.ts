import { randomUUID } from 'node:crypto';
import { type BigIntStats, fstatSync } from 'node:fs';
import { lstat, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createFile } from '../database/durable-file.ts';

/** A text that is ready to replace that of a file. */
export interface Replacement {
  /**
   * Replaces the text atomically: readers see the old text or the new one, even after a crash.
   *
   * @throws Error when the file was changed in the meantime; file system errors. The file then stays unchanged.
   */
  publish(): Promise<void>;
  /** Leaves the file as it was, unless the text is published. */
  discard(): Promise<void>;
}

/**
 * Writes a text next to the file that it is to replace. Symbolic links, the owner and the mode are preserved.
 *
 * @param previous the content that the text was made from.
 * @throws Error when the file is read-only, has another content, further hard links, which would keep the old text, or an owner
 *   or a group that this process may not give to a file; file system errors. Nothing is left next to the file.
 */
export async function prepareReplacement(path: string, previous: Buffer, text: string): Promise<Replacement> {
  const target = await realpath(path);
  const found = await stat(target);
  if ((found.mode & 0o222) === 0) throw new Error('The file is read-only, and was not replaced.');
  if (found.nlink > 1) throw new Error('The file has further hard links, which would keep the old text, and was not replaced.');
  const draft = `${target}.${randomUUID()}.tmp`;
  const discard = () => rm(draft, { force: true });
  const isReplaced = async () => {
    const content = await readFile(target);
    if (content.equals(previous)) return false;
    if (content.equals(Buffer.from(text))) return true; // through another link
    throw new Error('The file has changed in the meantime, and was not replaced. Run the command again.');
  };
  try {
    createFile(draft, text, found);
    await isReplaced();
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    async publish() {
      if (!(await isReplaced())) await rename(draft, target);
    },
    discard,
  };
}

/** A file that is being written, and does not exist under its own name yet. */
export interface FileDraft {
  readonly stream: Writable;
  /** Replaces the file atomically, or creates it: readers see the old content or all of the new one, even after a crash. */
  publish(): Promise<void>;
  /** Leaves the file as it was, unless it is published. */
  discard(): Promise<void>;
}

/**
 * Begins to write a file, next to it. Symbolic links are preserved.
 *
 * @param mode the mode of the file, also of one that exists.
 * @throws Error when it is not a regular file, a symbolic link to none, read-only, the path of an open file, or where this
 *   command's standard output or standard error goes; file system errors. The file is then unchanged.
 */
export async function openDraft(path: string, mode: number): Promise<FileDraft> {
  const target = await realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    const found = await lstat(path).catch(() => undefined);
    if (found) throw new Error('It is a symbolic link to a file that does not exist'); // its disk may not be mounted
    return path;
  });
  const isDescriptor = /^\/proc\/.+\/fd$/.test(await realpath(dirname(path)).catch(() => ''));
  if (isDescriptor) throw new Error('It is an open file, which others may append to, so it is not replaced'); // such as /dev/fd/3
  const found = await stat(target, { bigint: true }).catch(() => undefined);
  if (found && !found.isFile()) throw new Error('It is not a regular file, so it is not replaced'); // a device, or a folder
  if (found && (found.mode & 0o222n) === 0n) throw new Error('It is read-only, so it is not replaced');
  // What the shell, or an earlier command, has written there would be lost.
  if (found && [1, 2].some((descriptor) => isSameFile(descriptor, found)))
    throw new Error('The standard output, or the standard error, of this command goes there, so it is not replaced');
  const draft = `${target}.${randomUUID()}.tmp`;
  const handle = await open(draft, 'wx', mode);
  const stream = handle.createWriteStream({ flush: true });
  stream.on('error', () => {}); // reported by what waits for it
  return {
    stream,
    async publish() {
      stream.end();
      await finished(stream);
      await rename(draft, target);
    },
    async discard() {
      stream.destroy();
      await rm(draft, { force: true });
    },
  };
}

function isSameFile(descriptor: number, { dev, ino }: BigIntStats): boolean {
  try {
    const open = fstatSync(descriptor, { bigint: true });
    return open.dev === dev && open.ino === ino;
  } catch {
    return false; // it is closed
  }
}
