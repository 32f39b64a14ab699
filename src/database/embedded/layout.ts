import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readOrCreate } from '../durable-file.ts';
import { passwordFileName } from './password.ts';

/** The folders of the embedded PostgreSQL, and the user it runs as. */
export interface Layout {
  /** `DATA_DIR`: owned by the gateway's user; contains the password and, if PostgreSQL's user has access, everything else. */
  readonly dataDir: string;
  /** A folder that PostgreSQL's user has access to: `dataDir` if possible, otherwise a system folder. */
  readonly home: string;
  /** PostgreSQL's data directory (PGDATA). */
  readonly cluster: string;
  /** The user to start PostgreSQL as; none means the gateway's own. */
  readonly user: SystemUser | undefined;
}

/**
 * Where a gateway that runs as root puts files that PostgreSQL's user must reach, because a checkout may be accessible to root
 * only.
 */
const systemFolder = '/var/lib/user-group-gateway';

/** The name of PostgreSQL's data directory. */
const clusterName = 'postgres';

/** The name of the file that records the system folder that replaces the data directory. */
export const homeRecord = 'postgres-home';

/** The name of the file in the system folder that says of which `DATA_DIR` it has the data. */
const ownerRecord = 'data-dir';

/** The name of the file in `DATA_DIR` with the encryption keys, which is created once there is a database. */
export const keyFileName = 'encryption-keys';

/** The folder in `DATA_DIR` that a backup is copied to, and recovered in, while it is restored. */
export const restoreDraftName = 'restore.partial';

/** There is or was a database, but not where it can be used: an empty one in its place would look like it. */
export class UncertainDatabase extends Error {
  /** What was found, without a full stop. */
  readonly found: string;
  readonly remedy: string;

  constructor(found: string, remedy: string) {
    super(`${found}. ${remedy}`);
    this.found = found;
    this.remedy = remedy;
  }
}

/**
 * Determines the folders of `dataDir`, creating it if it does not exist.
 *
 * @throws UncertainDatabase
 * @throws Error when it cannot be created or used.
 */
export function layOut(dataDir: string): Layout {
  assertNotInterpreted(resolve(dataDir));
  const absolute = makeFolder(dataDir);
  assertNotInterpreted(absolute); // it may be a symbolic link
  const user = postgresUser();
  const existing = findHome(absolute, user);
  const home = existing ?? (user && !canEnter(user, absolute) ? join(systemFolder, systemFolderName(absolute)) : absolute);
  if (user && home !== absolute) {
    mkdirSync(home, { recursive: true });
    for (const folder of [systemFolder, home]) chmodSync(folder, 0o755); // regardless of the umask
    writeFileSync(join(home, ownerRecord), absolute);
  }
  return { dataDir: absolute, home, user, cluster: join(home, clusterName) };
}

/**
 * The folders of a `DATA_DIR` that exists. Creates nothing.
 *
 * @returns undefined if it does not exist.
 * @throws UncertainDatabase
 */
export function findLayout(dataDir: string): Layout | undefined {
  if (!existsSync(dataDir)) return undefined;
  const absolute = realpathSync(dataDir);
  const user = postgresUser();
  const home = findHome(absolute, user) ?? absolute;
  return { dataDir: absolute, home, user, cluster: join(home, clusterName) };
}

/**
 * Where the database is that was created before: whoever changes the mode of a folder, or the user that runs the gateway, must
 * not get an empty one in another place.
 *
 * @throws UncertainDatabase when there are two, it is that of another `DATA_DIR`, another user runs the gateway, or PostgreSQL's
 * user has no access to it any more.
 */
function findHome(dataDir: string, user: SystemUser | undefined): string | undefined {
  const record = join(dataDir, homeRecord);
  const homes = [dataDir, ...(existsSync(record) ? [join(systemFolder, readFileSync(record, 'utf8'))] : [])];
  const [home, other] = homes.filter((each) => existsSync(join(each, clusterName)));
  if (home && other)
    throw new UncertainDatabase(
      `There are two databases of this DATA_DIR: ${join(home, clusterName)} and ${join(other, clusterName)}`,
      `Move the one that is not used to another place; with the second, delete ${record}, too.`,
    );
  if (home && home !== dataDir) requireOriginal(dataDir, home);
  if (home) requireOwn(dataDir, join(home, clusterName), user);
  if (home && user && !canEnter(user, home))
    throw new UncertainDatabase(
      `The database is in ${join(home, clusterName)}, and PostgreSQL runs as the user with the id ${user.uid}, who may not enter that folder`,
      `Run chmod o+x on ${home}, and on the folders above it.`,
    );
  return home;
}

/** A copy of a `DATA_DIR` has its record, too. @throws UncertainDatabase while there is the one that last used the data. */
function requireOriginal(dataDir: string, home: string): void {
  const owner = join(home, ownerRecord);
  const original = existsSync(owner) ? join(readFileSync(owner, 'utf8'), homeRecord) : undefined;
  const record = join(dataDir, homeRecord);
  // The folders, because a file of a snapshot may be the same by a hard link.
  if (original === undefined || !existsSync(original)) return;
  const [first, second] = [statSync(dirname(original), { bigint: true }), statSync(dataDir, { bigint: true })];
  if (first.ino === second.ino && first.dev === second.dev) return;
  if (readFileSync(original, 'utf8') !== readFileSync(record, 'utf8')) return;
  throw new UncertainDatabase(
    `${record} and ${original} name the same database`,
    'One of these folders is a copy, which has no data of its own: move it elsewhere. To copy data, use the commands backup and restore.',
  );
}

/**
 * Only its owner can run PostgreSQL on a data directory. Data that is root's, or whose password is this user's, was given away by
 * mistake: the command doctor says how to take it back.
 *
 * @throws UncertainDatabase when another user runs the gateway.
 */
function requireOwn(dataDir: string, cluster: string, user: SystemUser | undefined): void {
  const own = process.geteuid?.();
  if (own === undefined) return;
  const owner = statSync(cluster).uid;
  const password = statSync(join(dataDir, passwordFileName), { throwIfNoEntry: false });
  // As root, PostgreSQL runs as another user than the gateway.
  const runner = password?.uid ?? owner;
  if (runner === own || [0, user?.uid ?? own].includes(owner)) return;
  throw new UncertainDatabase(
    `The database in ${cluster} belongs to the user with the id ${runner}, and this is the one with the id ${own}`,
    `Run every command as the user that runs the gateway: sudo -E -u '#${runner}' COMMAND`,
  );
}

/** pg_ctl builds shell commands with paths in double quotes, in which a shell would interpret these characters. */
function assertNotInterpreted(path: string): void {
  if (process.platform === 'win32' || !/["$`\n]|\\\\/.test(path)) return;
  throw new Error(
    `DATA_DIR must not contain double quotes, dollar signs, backticks, double backslashes or line breaks: ${JSON.stringify(path)}.`,
  );
}

/**
 * Creates a folder if it does not exist, and makes sure that this process may use it.
 *
 * @returns its real path, so that a symbolic link to it means the same data directory.
 */
function makeFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
  } catch (cause) {
    throw new Error(`DATA_DIR cannot be created: ${(cause as Error).message}`, { cause });
  }
  return requireUsable(path);
}

/** @returns the real path of a folder. @throws Error when this process may not use it. */
export function requireUsable(path: string): string {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(path);
  } catch (cause) {
    throw new Error(
      `DATA_DIR cannot be used: ${(cause as Error).message}. Make the user that runs the gateway the owner of the folder and of everything ` +
        'in it, or set DATA_DIR to another folder.',
      { cause },
    );
  }
}

/** The folder for copies of the executables. */
export const copiesFolder = (layout: Layout): string => (layout.user ? systemFolder : layout.home);

/**
 * The name of the system folder that replaces the data directory. It is random and recorded in the data directory, so that
 * deleting the data directory starts over, even at the same path.
 */
function systemFolderName(dataDir: string): string {
  return readOrCreate(join(dataDir, homeRecord), () => `data-${randomBytes(6).toString('hex')}`);
}

/** A user of the operating system, by number. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user to run PostgreSQL as, which refuses to run as root. `undefined` means the user of this process. When this process runs
 * as root, it is the system user `postgres` if there is one, otherwise `nobody`.
 *
 * @throws Error when this process runs as root and the system has neither user.
 */
export function postgresUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const number = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe', encoding: 'utf8' }));
      return { uid: number('-u'), gid: number('-g') };
    } catch {
      // No such user; try the next.
    }
  }
  throw new Error(
    'PostgreSQL cannot run as root, and this system has no user "postgres" or "nobody" to run it as. ' +
      'Start the gateway as a regular user, or set DATABASE_URL to a PostgreSQL server of your own.',
  );
}

/**
 * Whether the permission bits let `user` enter a folder and all its parents. Capabilities do not help PostgreSQL here: it
 * calls access(2), which checks the real user.
 */
export function canEnter(user: SystemUser, folder: string): boolean {
  const { uid, gid, mode } = statSync(folder);
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || canEnter(user, parent);
}
