import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The text of each file of a folder, by its path with slashes. */
export function readFiles(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return new Map(paths.map((path) => [path.slice(folder.length + 1).replaceAll('\\', '/'), readFileSync(path, 'utf8')]));
}

/**
 * The digest of the files of a folder, which is committed next to the generated client, so that a test notices edits by hand.
 *
 * @returns 64 hexadecimal digits.
 */
export function digestFiles(folder: string): string {
  const hash = createHash('sha256');
  const files = [...readFiles(folder)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [path, text] of files) hash.update(`${path}\n${text.length}\n${text}`);
  return hash.digest('hex');
}
