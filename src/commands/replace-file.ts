import { randomUUID } from 'node:crypto';
import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises';

/**
 * Replaces the text of a file at once: whoever reads meanwhile, and whatever breaks off, the file holds the old text or the new
 * one. A link goes on pointing where it did, and the mode is kept.
 *
 * @throws what the file system throws; the file is then as it was.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path);
  const { mode } = await stat(target);
  const draft = `${target}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, text, { mode, flag: 'wx' });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
