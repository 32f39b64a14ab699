import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import picomatch from 'picomatch';

/** A folder with more files and folders is not a documentation site, but for example one where links to folders multiply. */
const maxEntries = 100_000;

/**
 * The files in a folder and below, as paths from there with forward slashes. Hidden entries and `node_modules` are skipped;
 * links are followed, except back to a folder on the way.
 *
 * @throws Error when a folder cannot be read, or has too many entries.
 */
export async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  let count = 0;
  async function visit(prefix: string, above: readonly string[]): Promise<void> {
    const { dev, ino } = await stat(join(folder, prefix));
    const id = `${dev}:${ino}`;
    if (above.includes(id)) return;
    for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (++count > maxEntries) throw new Error(`There are more than ${maxEntries} files and folders in ${folder}.`);
      const path = prefix + entry.name;
      const kind = entry.isSymbolicLink() ? await stat(join(folder, path)).catch(() => undefined) : entry;
      if (kind?.isDirectory()) await visit(`${path}/`, [...above, id]);
      else if (kind?.isFile()) files.push(path);
    }
  }
  await visit('', []);
  return files;
}

/**
 * The files of an argument: the file of that name; for a folder, each `mint.json` in it and below; for a glob, what it matches.
 *
 * @throws Error when there is none.
 */
export async function findFiles(argument: string): Promise<string[]> {
  const found = await stat(argument).catch(() => undefined);
  const wildcard = argument.search(/[*?[{]/);
  if (found ? !found.isDirectory() : wildcard < 0) return [argument];
  const folder = found ? argument : argument.slice(0, argument.lastIndexOf('/', wildcard) + 1);
  const isWanted = picomatch(found ? '**/mint.json' : argument.slice(folder.length), { posix: true, noextglob: true });
  const files = (await listFiles(folder || '.')).filter((file) => isWanted(file));
  if (files.length > 0) return files.map((file) => join(folder, file));
  throw new Error(found ? 'There is no mint.json in this folder or below.' : 'No file matches.');
}
