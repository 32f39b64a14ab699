import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { bundledMajor, clusterOf, findLoss, hasCluster } from '../../database/bundled.ts';
import { type Check, failure, ok, skipped } from './check.ts';

/** Whether `DATA_DIR` can be used. */
export const checkDataDirectory: Check = ({ config: { databaseUrl, dataDir } }) => {
  if (databaseUrl) return skipped('DATABASE_URL is set, so that DATA_DIR is not used');
  const folder = existingParent(resolve(dataDir));
  if (!isWritable(folder))
    return failure(
      `${folder} is not writable`,
      'Make the user that runs the gateway its owner, or set DATA_DIR to another folder.',
    );
  const cluster = clusterOf(dataDir);
  const lost = findLoss(dataDir);
  if (lost) return failure(lost.found, lost.remedy);
  if (!hasCluster(dataDir)) return ok(`${resolve(dataDir)} has no database yet: the first start creates it`);
  const [major, bundled] = [readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim(), bundledMajor()];
  if (major !== bundled)
    return failure(
      `the data is of PostgreSQL ${major}, and this gateway bundles PostgreSQL ${bundled}`,
      'Make a backup with the version of the gateway that created it, and restore that into a new DATA_DIR.',
    );
  return ok(`${cluster}: PostgreSQL ${major}`);
};

/** The folder itself, or the nearest one above that exists. */
export function existingParent(path: string): string {
  return existsSync(path) ? path : existingParent(dirname(path));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

/** Says that others than the owner can read or write a file; undefined if none can, or the system has no such modes. */
export function describeMode(file: string): string | undefined {
  const mode = statSync(file).mode & 0o777;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined;
  return `${file} can be used by others than its owner (mode ${mode.toString(8).padStart(3, '0')})`;
}
