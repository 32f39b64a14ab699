import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The maximum number of files. A folder with more is not a documentation site, but for example a home folder. */
const maxFiles = 100_000;

/**
 * The files in a folder and below, as paths from there with forward slashes. Hidden entries and `node_modules` are
 * skipped; links are followed, each folder once. Folders that cannot be read count as empty.
 *
 * @param unreadable takes the paths of these folders, except one that was deleted in the meantime.
 * @returns undefined when there are more than 100,000, so that no file is reported as missing that was not listed.
 */
export async function filesAround(folder: string, unreadable: string[] = []): Promise<string[] | undefined> {
  const files: string[] = [];
  const seen = new Set<string>();
  const waiting = [''];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    const path = join(folder, below);
    for (const entry of await entriesOf(path, seen, unreadable)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const relative = `${below}${entry.name}`;
      const kind = entry.isSymbolicLink() ? await stat(join(folder, relative)).catch(() => undefined) : entry;
      if (kind?.isDirectory()) waiting.push(`${relative}/`);
      else if (kind?.isFile()) files.push(relative);
      if (files.length > maxFiles) return undefined;
    }
  }
  return files;
}

async function entriesOf(path: string, seen: Set<string>, unreadable: string[]): Promise<Dirent[]> {
  try {
    // By number, because finding the real path of each folder takes longer the deeper it is.
    const { dev, ino } = await stat(path);
    const id = `${dev}:${ino}`;
    if (seen.has(id)) return [];
    seen.add(id);
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    // A name that is not UTF-8 has U+FFFD here, with which it does not exist.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path.includes('\ufffd')) unreadable.push(path);
    return [];
  }
}
