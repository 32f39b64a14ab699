import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { copyFolder, makeDatabaseFolder } from './database-folder.ts';
import { until } from './process.ts';

/** A folder for an embedded PostgreSQL of a test's own. */
export interface TestDataDir {
  readonly path: string;
  /** The process of the PostgreSQL that runs on it, by its own lock file; none after an orderly stop. */
  postmaster(): number | undefined;
  /** The URL of the gateway's database in the PostgreSQL that runs on it. */
  databaseUrl(): string;
  /** Ends a PostgreSQL that is left, and deletes the folder. */
  remove(): Promise<void>;
}

/** Makes an empty folder, for tests of what happens when the gateway creates its database. */
export function makeDataDir(): TestDataDir {
  const path = makeDatabaseFolder();
  return dataDirAt(path, join(path, 'postgres'));
}

/** Makes a folder with what the first start leaves: PostgreSQL, stopped, with the gateway's database, migrated and empty. */
export function copyDataDir(): TestDataDir {
  const dataDir = makeDataDir();
  copyFolder(inject('createdDataDir'), dataDir.path);
  return dataDir;
}

/** The same for a folder that is there; `cluster` is PostgreSQL's own folder. */
function dataDirAt(path: string, cluster: string): TestDataDir {
  const postmaster = () => {
    const file = join(cluster, 'postmaster.pid');
    return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) || undefined : undefined;
  };
  return {
    path,
    postmaster,
    databaseUrl() {
      const port = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[3];
      const password = readFileSync(join(path, 'postgres-password'), 'utf8');
      return `postgresql://gateway:${password}@127.0.0.1:${port}/user_group_gateway`;
    },
    async remove() {
      const pid = postmaster();
      if (pid && isAlive(pid)) {
        process.kill(pid, 'SIGQUIT');
        await until(() => !isAlive(pid), 'the PostgreSQL that was left ends');
      }
      for (const folder of new Set([path, cluster])) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/**
 * Whether a process runs; one that has given its memory back does not, though the system may still be ending it, or keep it
 * until its parent has waited for it.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`).length > 0;
  } catch {
    return false;
  }
}
