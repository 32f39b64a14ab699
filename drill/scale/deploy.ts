import { chmodSync, copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An example file of `deploy/`, unchanged, where the user that PostgreSQL runs as can read it: a checkout may be closed to it. */
export function deployFile(folder: string, path: string): string {
  const copy = join(folder, basename(path));
  copyFileSync(fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url)), copy);
  chmodSync(copy, 0o644);
  return copy;
}
