import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/database/open.ts';
import { copyDataDir, type TestDataDir } from './data-dir.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { testKey } from './keys.ts';

/** Makes a `DATA_DIR` as the first start leaves it, whose key file has the tests' key. */
export function makeKeyedDataDir(): TestDataDir {
  const dataDir = copyDataDir();
  writeFileSync(join(dataDir.path, 'encryption-keys'), `${testKey}\n`, { mode: 0o600 });
  return dataDir;
}

/** Starts a gateway in this process on the embedded PostgreSQL of a `DATA_DIR`, which it starts and stops. */
export async function startEmbeddedGateway(dataDir: string): Promise<TestGateway> {
  const database = await openDatabase({ databaseUrl: undefined, dataDir, namedStatements: true, onEvent: () => {} });
  const gateway = await startGateway({ ...database, url: '' });
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await database.close();
    },
  };
}
