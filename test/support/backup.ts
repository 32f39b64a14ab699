import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBackup } from '../../src/database/backup/create-backup.ts';
import type { Manifest } from '../../src/database/backup/manifest.ts';
import { type RestoreOptions, restoreBackup } from '../../src/database/backup/restore-backup.ts';
import { openDatabase } from '../../src/database/open.ts';
import { copyDataDir, type TestDataDir } from './data-dir.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { testKey, tokenOf } from './keys.ts';

/** The files in `DATA_DIR` that backups contain beside the database. */
const secretFiles = ['postgres-password', 'encryption-keys'];

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

/** Makes a backup. */
export const makeBackup = (
  dataDir: string,
  target: string,
  options: Partial<Parameters<typeof createBackup>[0]> = {},
): Promise<Manifest> =>
  createBackup({ dataDir, target, secretFiles, gateway: '0.0.0', signal: new AbortController().signal, ...options });

/** Restores a backup; by default it only looks whether the gateway's database accepts connections. */
export const restoreInto = (dataDir: string, source: string, options: Partial<RestoreOptions<unknown>> = {}) =>
  restoreBackup({
    ...{ dataDir, source, secretFiles, secretsFolder: undefined, signal: new AbortController().signal },
    inspect: async () => undefined,
    ...options,
  });

/** What is stored: the current token of each provided id of the Testing environment, decrypted. @throws Error when an id is stored twice. */
export async function readStoredTokens({ database }: Pick<TestGateway, 'database'>): Promise<Map<string, string>> {
  // Without indexes, which may hide what the table has.
  const [, groups] = await database.prisma.$transaction([
    database.prisma.$executeRaw`select set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
    database.prisma.userGroup.findMany({ where: { environmentTag: 'Testing' } }),
  ]);
  const tokens = new Map(groups.map((group) => [group.providedId, tokenOf(group)]));
  if (tokens.size !== groups.length) throw new Error(`${groups.length - tokens.size} provided ids are stored twice.`);
  return tokens;
}
