import { readFile, realpath, stat } from 'node:fs/promises';
import { openDraft } from '../durable-file.ts';

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
  const isReplaced = async () => {
    const content = await readFile(target);
    if (content.equals(previous)) return false;
    if (content.equals(Buffer.from(text))) return true; // through another link
    throw new Error('The file has changed in the meantime, and was not replaced. Run the command again.');
  };
  const draft = openDraft(target, found);
  try {
    draft.write(text);
    await isReplaced();
  } catch (error) {
    draft.discard();
    throw error;
  }
  return {
    async publish() {
      if (!(await isReplaced())) draft.publish();
    },
    discard: async () => draft.discard(),
  };
}
