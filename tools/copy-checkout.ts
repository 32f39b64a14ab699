import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Copies a checkout to a temporary folder: what git tracks, and what it would track, with links to the installed packages. The
 * caller deletes it.
 *
 * @returns the folder.
 */
export function copyCheckout(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'user-group-gateway-copy-'));
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  for (const folder of ['node_modules', 'tools/node_modules']) symlinkSync(join(root, folder), join(copy, folder), 'junction');
  return copy;
}
