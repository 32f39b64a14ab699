import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** More files than any documentation has; a folder with more is something else, such as a home folder. */
const maxFiles = 100_000;

/**
 * The files in a folder and below, as paths from there with forward slashes. What begins with a dot, and node_modules, is left
 * out; links are followed, each folder once. Folders that cannot be read are taken for empty.
 *
 * @returns undefined when there are more than 100,000, so that nothing is said to be missing that was only not looked at.
 */
export async function filesAround(folder: string): Promise<string[] | undefined> {
  const files: string[] = [];
  const seen = new Set<string>();
  const waiting = [''];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    const path = join(folder, below);
    for (const entry of await entriesOf(path, seen)) {
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

async function entriesOf(path: string, seen: Set<string>): Promise<Dirent[]> {
  try {
    // By number, because finding the real path of each folder takes longer the deeper it lies.
    const { dev, ino } = await stat(path);
    const id = `${dev}:${ino}`;
    if (seen.has(id)) return [];
    seen.add(id);
    return await readdir(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
