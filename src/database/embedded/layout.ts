import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canEnter, postgresUser, type SystemUser } from './system-user.ts';

/** Where the embedded PostgreSQL keeps its things, and who it runs as. */
export interface Layout {
  /** `DATA_DIR`: belongs to the gateway; holds the password and, where PostgreSQL may enter it, everything else. */
  readonly dataDir: string;
  /** A folder that PostgreSQL's user may enter: `dataDir`, or one of the system's where it may not enter that. */
  readonly home: string;
  /** The data directory proper ("PGDATA"). */
  readonly cluster: string;
  /** The user to start PostgreSQL as; none means the gateway's own. */
  readonly user: SystemUser | undefined;
}

/** Where a root-run gateway puts what must lie outside a checkout that only root may enter. */
const systemFolder = '/var/lib/user-group-gateway';

/** Lays out `dataDir`, creating it if it is not there. @throws Error when it cannot be created. */
export function layOut(dataDir: string): Layout {
  const absolute = makeFolder(dataDir);
  const user = postgresUser();
  const home = user && !canEnter(user, absolute) ? join(systemFolder, ownName(absolute)) : absolute;
  if (user && home !== absolute) {
    mkdirSync(home, { recursive: true });
    for (const folder of [systemFolder, home]) chmodSync(folder, 0o755); // whatever the umask made of them
  }
  return { dataDir: absolute, home, user, cluster: join(home, 'postgres') };
}

/** Makes a folder if it is not there. @returns its one real path, so that a link to it is not taken for another. */
function makeFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true });
    return realpathSync(path);
  } catch (cause) {
    throw new Error(`DATA_DIR cannot be created: ${(cause as Error).message}`, { cause });
  }
}

/** The folder below which copies of the programs go. */
export const copiesFolder = (layout: Layout): string => (layout.user ? systemFolder : layout.home);

/**
 * A name for the data directory's stand-in among the system's folders. It is drawn at random and noted in the data
 * directory, so that deleting the data directory really starts anew, even at the same path.
 */
function ownName(dataDir: string): string {
  return noted(join(dataDir, 'postgres-home'), () => `data-${randomBytes(6).toString('hex')}`);
}

/** The content of a file, made first if it is not there. Of several processes that make it at once, one prevails. */
export function noted(file: string, make: () => string): string {
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, make(), { mode: 0o600 });
    try {
      linkSync(draft, file); // unlike a rename, never replaces what another process put there
    } catch (error) {
      if (!existsSync(file)) throw error;
    } finally {
      rmSync(draft);
    }
  }
  return readFileSync(file, 'utf8');
}
