import { execFileSync } from 'node:child_process';
import { accessSync, chmodSync, constants, cpSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Linux's file system in memory. */
const memoryFolder = '/dev/shm';

/** What must be free there, and of memory: more than twice what the database files of a run take at once. */
const neededBytes = 2 * 2 ** 30;

/**
 * Makes an empty folder for database files that PostgreSQL's user may enter, also where the tests run as root.
 *
 * It is in memory where there is enough: a new cluster is a thousand small files, and making them costs ten times as much on a
 * disk. What a killed process has written stays there as it does on a disk; only a crash of the machine, which no test
 * makes, would lose it. Programs may not be executable there.
 */
export function makeDatabaseFolder(): string {
  const path = mkdtempSync(join(isMemoryFolderUsable() ? memoryFolder : tmpdir(), 'user-group-gateway-test-'));
  chmodSync(path, 0o755);
  return path;
}

function isMemoryFolderUsable(): boolean {
  try {
    accessSync(memoryFolder, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryFolder);
    return Math.min(bavail * bsize, process.availableMemory()) >= neededBytes;
  } catch {
    return false;
  }
}

/** Copies the content of a folder with owners and permissions, because PostgreSQL rejects files of another user. */
export function copyFolder(from: string, to: string): void {
  if (process.platform === 'win32') cpSync(from, to, { recursive: true });
  else execFileSync('cp', ['-a', `${from}/.`, to]);
}
