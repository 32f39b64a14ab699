import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyDataDir, type TestDataDir } from './data-dir.ts';
import { testKey } from './keys.ts';

/** Makes a `DATA_DIR` as the first start leaves it, whose key file has the tests' key. */
export function makeKeyedDataDir(): TestDataDir {
  const dataDir = copyDataDir();
  writeFileSync(join(dataDir.path, 'encryption-keys'), `${testKey}\n`, { mode: 0o600 });
  return dataDir;
}
