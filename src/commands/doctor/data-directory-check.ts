import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { bundledMajor } from '../../database/embedded/binaries.ts';
import { findLoss, readMajor } from '../../database/embedded/cluster.ts';
import { findEmbedded } from '../../database/embedded/find-embedded.ts';
import { type Layout, UncertainDatabase } from '../../database/embedded/layout.ts';
import { readPassword } from '../../database/embedded/password.ts';
import { shellWord } from '../../shell-word.ts';
import { type Check, failure, type Outcome, ok, skipped, warning } from './check.ts';

/** Whether `DATA_DIR` can be used, and only by its owner. */
export const checkDataDirectory: Check = async ({ config: { databaseUrl, dataDir, port }, isServed }) => {
  if (databaseUrl) return skipped('DATABASE_URL is set, so that DATA_DIR is not used');
  const embedded = await findEmbedded(dataDir);
  const path = resolve(dataDir);
  const writable = embedded ? embedded.layout.dataDir : existingParent(path);
  const readOnly = describeReadOnly(writable);
  if (readOnly) return readOnly;
  if (!isWritable(writable))
    return failure(
      `${writable} is not writable`,
      'Make the user that runs the gateway its owner, or set DATA_DIR to another folder.',
    );
  // First of all whether it can be read.
  const refused = embedded && describeRefusal(embedded.layout);
  if (refused) return refused;
  const major = embedded && readMajor(embedded.layout);
  const wrongVersion = requireBundled(major);
  if (wrongVersion) return wrongVersion;
  const lost = embedded && findLoss(embedded.layout);
  if (lost) return failure(lost.found, lost.remedy);
  const { server, isUsedElsewhere } = embedded ?? {};
  if (isServed && !server && !isUsedElsewhere)
    return failure(
      `${path} has no database that runs, and a gateway listens on port ${port}: it uses another one, which is not checked`,
      'Run doctor with the settings of that gateway, and as its user.',
    );
  if (!embedded || major === undefined) return ok(`${path} has no database yet: the first start creates it`);
  try {
    readPassword(embedded.layout);
  } catch (error) {
    return failure(
      `${(error as Error).message.replace(/\.$/, '')}: the data cannot be opened without it`,
      'Restore the file from a backup; the message of a start says what to do without one.',
    );
  }
  const open = describeMode(embedded.passwordFile);
  if (open) return warning(open, `Run: chmod 600 ${shellWord(embedded.passwordFile)}`);
  const stopped = isUsedElsewhere ? 'runs where its process is not visible' : 'does not run; only a start shows whether it can';
  const state = server ? `runs (process ${server.pid}, port ${server.port})` : stopped;
  return ok(`${path}: PostgreSQL ${major} ${state}`);
};

/** Whether the bundled PostgreSQL can start on its data. */
function requireBundled(major: string | undefined): Outcome | undefined {
  const bundled = bundledMajor();
  if (major === undefined || major === bundled) return undefined;
  return failure(
    `the data is of PostgreSQL ${major}, and this gateway bundles PostgreSQL ${bundled}`,
    `Start it with the gateway version that created it, dump the database with pg_dump ${major}, and restore the dump into a new DATA_DIR.`,
  );
}

/** Folders of a new database without files: tools that copy only files, such as those of object storage, leave them out. */
const emptyFolders = [
  'pg_commit_ts',
  'pg_logical/mappings',
  'pg_logical/snapshots',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat',
  'pg_tblspc',
  'pg_twophase',
];

/** Files that PostgreSQL needs, and that have been found missing: each folder before its content. */
const requiredFiles = [
  'PG_VERSION',
  'global',
  'global/pg_control',
  'postgresql.conf',
  'pg_hba.conf',
  'pg_wal',
  'pg_xact',
  'pg_multixact',
  'pg_multixact/members',
  'pg_multixact/offsets',
  'base',
  'pg_logical',
  ...emptyFolders,
];

/** Why PostgreSQL would not start on its data directory; undefined if there is none, or no reason is seen. */
function describeRefusal(layout: Layout): Outcome | undefined {
  const { cluster, user } = layout;
  const found = statSync(cluster, { throwIfNoEntry: false });
  if (!found || isEmpty(cluster)) return undefined; // a new one takes the place of an empty folder
  // In this order: what is in it can be seen only by its owner, and with this mode.
  const outcome = describeOwner(cluster, user) ?? describeModeOf(cluster, found.mode) ?? describeReadOnly(cluster);
  if (outcome) return outcome;
  for (const name of requiredFiles) {
    const path = join(cluster, name);
    const outcome = exists(path)
      ? (describeOwner(cluster, user, name) ?? describeOwnerMode(cluster, path) ?? describeReadOnly(path))
      : failure(
          `${path} is missing, without which PostgreSQL does not work`,
          emptyFolders.includes(name) ? describeCreation(layout) : 'Restore a backup into another DATA_DIR.',
        );
    if (outcome) return outcome;
  }
  return undefined;
}

/** How to create what is missing of {@link emptyFolders}. */
function describeCreation({ cluster, user }: Layout): string {
  const missing = emptyFolders.map((name) => join(cluster, name)).filter((path) => !existsSync(path));
  const paths = missing.map(shellWord).join(' ');
  return user
    ? `It has no files. As root, run: install -d -m 700 -o ${user.uid} -g ${user.gid} ${paths}`
    : `It has no files. Run: mkdir ${process.platform === 'win32' ? '' : '-m 700 '}${paths}`;
}

/** Whether a folder is empty; one that cannot be read counts as not. */
function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}

/** Says that a file of the data directory, or itself, is another user's; undefined if not, or the system has no such owners. */
function describeOwner(cluster: string, user: Layout['user'], name = '.'): Outcome | undefined {
  const own = user ?? { uid: process.geteuid?.(), gid: process.getegid?.() };
  const path = join(cluster, name);
  if (process.platform === 'win32' || statSync(path).uid === own.uid) return undefined;
  return failure(
    `${path} belongs to another user than the one that runs PostgreSQL`,
    `As root, run: chown -R ${own.uid}:${own.gid} ${shellWord(repairable(cluster, path))}`,
  );
}

/** What a command repairs: a data directory, or what a path in it leads to elsewhere, as commands do not follow its links. */
function repairable(cluster: string, path: string): string {
  const [all, own] = [realpathSync(cluster), realpathSync(path)];
  return own.startsWith(join(all, '/')) ? all : own;
}

/** Whether there is a file or folder. @throws when that cannot be seen. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UncertainDatabase(
      `${path} cannot be read (${code})`,
      code === 'EACCES'
        ? 'Permit the user that runs the gateway to enter the folders above it.'
        : 'Restore a backup into another DATA_DIR.',
    );
  }
}

/** Says that the owner of a file or folder may not use it; undefined if the owner may, or the system has no such modes. */
function describeOwnerMode(cluster: string, path: string): Outcome | undefined {
  const found = statSync(path);
  const needed = found.isDirectory() ? 0o700 : path.endsWith('pg_control') ? 0o600 : 0o400;
  if (process.platform === 'win32' || (found.mode & needed) === needed) return undefined;
  return failure(
    `${path} has mode ${modeText(found.mode)}, with which PostgreSQL does not work`,
    `Run: chmod -R u+rwX ${shellWord(repairable(cluster, path))}`,
  );
}

/** Says that a file or folder is on a file system that is mounted read-only, where even root cannot write. */
function describeReadOnly(path: string): Outcome | undefined {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS')
      return failure(
        `${path} is on a file system that is mounted read-only`,
        'Mount it for writing, or set DATA_DIR to another folder.',
      );
  }
  return undefined;
}

const modeText = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0');

function describeModeOf(cluster: string, mode: number): Outcome | undefined {
  if (process.platform === 'win32' || ((mode & 0o700) === 0o700 && (mode & 0o027) === 0)) return undefined;
  return failure(
    `${cluster} has mode ${modeText(mode)}, with which PostgreSQL does not start`,
    `Run: chmod 700 ${shellWord(cluster)}`,
  );
}

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
  return `${file} can be used by others than its owner (mode ${modeText(mode)})`;
}
