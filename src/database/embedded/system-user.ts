import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

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
