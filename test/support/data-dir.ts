import { rmSync } from 'node:fs';
import { inject } from 'vitest';
import { DataFolder } from './data-folder.ts';
import { copyFolder, makeDatabaseFolder } from './database-folder.ts';

/** A folder for an embedded PostgreSQL of a test's own. */
export class TestDataDir extends DataFolder {
  /** Ends a PostgreSQL that is left, and deletes the folder. */
  async remove(): Promise<void> {
    await this.end();
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Makes an empty folder, for tests of what happens when the gateway creates its database. */
export const makeDataDir = (): TestDataDir => new TestDataDir(makeDatabaseFolder());

/** Makes a folder with what the first start leaves: PostgreSQL, stopped, with the gateway's database, migrated and empty. */
export function copyDataDir(): TestDataDir {
  const dataDir = makeDataDir();
  copyFolder(inject('createdDataDir'), dataDir.path);
  return dataDir;
}
