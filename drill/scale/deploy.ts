import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * An example file of `deploy/`, where the user that PostgreSQL runs as can read it: a checkout may be closed to it.
 *
 * @param edits lines that an operator would edit too, by what replaces them.
 * @throws Error when the file has no such line.
 */
export function deployFile(folder: string, path: string, edits: Readonly<Record<string, string>> = {}): string {
  let text = readFileSync(fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url)), 'utf8');
  for (const [line, replacement] of Object.entries(edits)) {
    if (!text.includes(`\n${line}\n`)) throw new Error(`deploy/${path} has no line "${line}".`);
    text = text.replace(`\n${line}\n`, () => `\n${replacement}\n`);
  }
  const copy = join(folder, basename(path));
  writeFileSync(copy, text);
  chmodSync(copy, 0o644);
  return copy;
}
