import { stat } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import { filesAround } from './files-around.ts';
import { compileGlob, isGlob } from './glob.ts';

/** The name of the configuration file, by which it is found in a folder. */
const configFileName = 'mint.json';

/** The files of an argument. */
export interface FoundFiles {
  /** Paths in the form that the user would write, sorted. */
  readonly files: readonly string[];
  /** Why there are none. */
  readonly problem?: string;
}

/**
 * Finds the files of an argument: the file of that name; for a folder, each `mint.json` in it and below; for a glob, what it
 * matches. Hidden folders and `node_modules` are skipped. An existing file takes precedence over a glob of the same name.
 *
 * @throws ArgumentsError for a glob that is too long.
 */
export async function findFiles(argument: string, cwd: string): Promise<FoundFiles> {
  const found = await stat(resolve(cwd, argument)).catch(() => undefined);
  if (found?.isDirectory()) return inFolder(argument, cwd);
  if (found) return { files: [argument] };
  return isGlob(argument) ? matching(argument, cwd) : { files: [argument] };
}

async function inFolder(folder: string, cwd: string): Promise<FoundFiles> {
  const all = await filesAround(resolve(cwd, folder));
  if (!all) return tooMany(folder);
  const files = all.filter((file) => posix.basename(file) === configFileName);
  if (files.length > 0) return { files: below(folder, files) };
  const newer = all.find((file) => posix.basename(file) === 'docs.json');
  const hint = newer ? ` It has ${join(folder, newer)}; pass that file to check it.` : '';
  return { files: [], problem: `There is no ${configFileName} in this folder or below.${hint}` };
}

async function matching(argument: string, cwd: string): Promise<FoundFiles> {
  const { folder, matches } = compileGlob(argument);
  const all = await filesAround(resolve(cwd, folder));
  if (!all) return tooMany(folder === '' ? '.' : folder);
  const files = all.filter(matches);
  return files.length > 0 ? { files: below(folder, files) } : { files: [], problem: `No file matches ${argument}.` };
}

function below(folder: string, files: readonly string[]): string[] {
  return files.map((file) => join(folder, file)).sort();
}

function tooMany(folder: string): FoundFiles {
  return { files: [], problem: `There are more than 100,000 files in ${folder}; pass a folder with fewer files.` };
}
