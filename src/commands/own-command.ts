import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How this process was started. */
export interface StartedAs {
  /** The folder of package.json. */
  readonly packageRoot: URL;
  /** The file that Node.js runs: `process.argv[1]`. */
  readonly script: string;
  /** The current folder. */
  readonly folder: string;
}

/**
 * The command that runs another command of the same gateway from the current folder, without its arguments. It never makes npx
 * look in the package registry, where the name may belong to another package.
 */
export function ownCommand({ packageRoot, script, folder }: StartedAs): string {
  const checkout = fileURLToPath(packageRoot);
  const startScript = join(checkout, 'scripts/gateway.js');
  if (existsSync(startScript)) return resolve(folder) === resolve(checkout) ? 'npm run -s gateway --' : node(startScript, folder);
  return existsSync(join(folder, 'node_modules/.bin/user-group-gateway')) ? 'npx user-group-gateway' : node(script, folder);
}

function node(script: string, folder: string): string {
  const path = relative(folder, script);
  return `node ${quote(path.startsWith('..') ? script : path)}`;
}

/** A path as one argument of a command line. */
function quote(path: string): string {
  if (/^[\w./:@+-]+$/.test(path)) return path;
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}
