import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import picomatch from 'picomatch';
import { UsageError } from './options.ts';

/**
 * The maximum number of files and folders. A folder with more is not a documentation site, but for example a home folder, or one
 * where links to folders multiply.
 */
const maxEntries = 100_000;

/** What is in a folder and below, but cannot be listed. */
interface Unlisted {
  /** The paths of the folders that cannot be read, except one that was deleted in the meantime. */
  readonly folders: string[];
  /** What is no file and no folder, or cannot be reached, such as a link to nothing; as paths from the folder. */
  readonly entries: string[];
}

/** A folder on the way: its path, empty or with a slash at its end, and the folder that it was found in. */
interface Folder {
  readonly path: string;
  readonly parent: Folder | undefined;
  /** What tells it from all others, whatever its path; set once it is listed. */
  id?: string;
}

/**
 * The files in a folder and below, as paths from there with forward slashes. Hidden entries and `node_modules` are
 * skipped; links are followed, except back to a folder on the way. Folders that cannot be read count as empty.
 *
 * @param unlisted takes what is left out.
 * @returns undefined when there are more than 100,000 files and folders: a file that was not listed would be reported as missing.
 */
export async function filesAround(
  folder: string,
  unlisted: Unlisted = { folders: [], entries: [] },
): Promise<string[] | undefined> {
  const files: string[] = [];
  const waiting: Folder[] = [{ path: '', parent: undefined }];
  let count = 0;
  for (let parent = waiting.pop(); parent; parent = waiting.pop()) {
    for (const entry of await entriesOf(parent, folder, unlisted.folders)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (++count > maxEntries) return undefined;
      const path = `${parent.path}${entry.name}`;
      const kind = entry.isSymbolicLink() ? await stat(join(folder, path)).catch(() => undefined) : entry;
      if (kind?.isDirectory()) waiting.push({ path: `${path}/`, parent });
      else (kind?.isFile() ? files : unlisted.entries).push(path);
    }
  }
  return files;
}

/** The entries of a folder; none when a link led back to it. */
async function entriesOf(folder: Folder, start: string, unreadable: string[]): Promise<Dirent[]> {
  const path = join(start, folder.path);
  try {
    // By number, because finding the real path of each folder takes longer the deeper it is.
    const { dev, ino } = await stat(path);
    folder.id = `${dev}:${ino}`;
    for (let { parent } = folder; parent; { parent } = parent) if (parent.id === folder.id) return [];
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    // A name that is not UTF-8 has U+FFFD here, with which it does not exist.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path.includes('\ufffd')) unreadable.push(path);
    return [];
  }
}

/** The name of the configuration file, by which it is found in a folder. */
const configFileName = 'mint.json';

/** The maximum length of a glob, in characters. */
const maxGlobCharacters = 1_000;

/** How long a glob may be compared with the names of files. 100,000 names take a tenth of a second. */
const maxMatchingMs = 3_000;

/** The files of an argument. */
export interface FoundFiles {
  /** Paths in the form that the user would write, sorted. */
  readonly files: readonly string[];
  /** Why there are none, or not all of them. */
  readonly problem?: string;
}

/**
 * Finds the files of an argument: the file of that name; for a folder, each `mint.json` in it and below; for a glob, what it
 * matches. Hidden folders and `node_modules` are skipped. An existing file takes precedence over a glob of the same name.
 *
 * @throws UsageError for a glob that is too long.
 */
export async function findFiles(argument: string, cwd: string): Promise<FoundFiles> {
  const found = await stat(resolve(cwd, argument)).catch(() => undefined);
  if (found?.isDirectory()) return inFolder(argument, cwd);
  const wildcard = argument.search(/[*?[{]/);
  if (found || wildcard < 0) return { files: [argument] };
  return matching(argument, argument.lastIndexOf('/', wildcard) + 1, cwd);
}

/** The files in a folder and below; those that cannot be read, too, because reading them says why. */
async function allAround(folder: string): Promise<{ readonly all: string[] | undefined; readonly unreadable: string[] }> {
  const unlisted: Unlisted = { folders: [], entries: [] };
  const files = await filesAround(folder, unlisted);
  return { all: files && [...files, ...unlisted.entries], unreadable: unlisted.folders };
}

async function inFolder(folder: string, cwd: string): Promise<FoundFiles> {
  const { all, unreadable } = await allAround(resolve(cwd, folder));
  if (!all) return tooMany(folder);
  const files = all.filter((file) => posix.basename(file) === configFileName);
  if (files.length + unreadable.length > 0) return { files: below(folder, files), ...notRead(unreadable) };
  const newer = all.find((file) => posix.basename(file) === 'docs.json');
  const hint = newer ? ` It has ${join(folder, newer)}; pass that file to check it.` : '';
  return { files: [], problem: `There is no ${configFileName} in this folder or below.${hint}` };
}

/** The files that a glob matches. Its first characters, up to `patternStart`, are the folder that they are in. */
async function matching(argument: string, patternStart: number, cwd: string): Promise<FoundFiles> {
  if (argument.length > maxGlobCharacters)
    throw new UsageError(`The glob is longer than 1,000 characters: ${argument.slice(0, 80)}…`);
  const folder = argument.slice(0, patternStart);
  const { all, unreadable } = await allAround(resolve(cwd, folder));
  if (!all) return tooMany(folder === '' ? '.' : folder);
  // Parentheses and the like are ordinary characters: names of folders have them.
  const pattern = argument.slice(patternStart).replace(/\\.|[()|+]/gs, (text) => (text.length > 1 ? text : `\\${text}`));
  const isMatch = picomatch(pattern, { posix: true, nonegate: true, noextglob: true });
  const files = filterInTime(all, isMatch);
  if (!files) {
    const seconds = maxMatchingMs / 1_000;
    return { files: [], problem: `Matching the glob takes more than ${seconds} seconds; use fewer wildcards.` };
  }
  if (files.length + unreadable.length > 0) return { files: below(folder, files), ...notRead(unreadable) };
  return { files: [], problem: `No file matches ${argument}.` };
}

/**
 * The files that match. The regular expression of a glob may try exponentially many ways to match one name, and only a time limit
 * of `node:vm` ends it.
 *
 * @returns undefined when that takes too long.
 */
function filterInTime(files: readonly string[], isMatch: (file: string) => boolean): string[] | undefined {
  const filter = () => files.filter((file) => isMatch(file));
  try {
    return runInNewContext('filter()', { filter }, { timeout: maxMatchingMs }) as string[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

function below(folder: string, files: readonly string[]): string[] {
  return files.map((file) => join(folder, file)).sort();
}

/** What to say of folders whose files are not among those that were found. */
function notRead(folders: readonly string[]): Pick<FoundFiles, 'problem'> {
  const [first, ...others] = folders;
  if (first === undefined) return {};
  return { problem: `The folder ${first} cannot be read${others.length > 0 ? `, nor can ${others.length} others` : ''}.` };
}

function tooMany(folder: string): FoundFiles {
  return { files: [], problem: `There are more than 100,000 files and folders in ${folder}; pass a folder with fewer.` };
}
