import { existsSync } from 'node:fs';
import type { Config } from '../config.ts';
import type { Database } from '../database/client.ts';
import { findKeyIdsInUse } from '../database/queries/key-uses.ts';
import { KeyRing } from '../domain/keys.ts';
import { createKeyFile, followKeyFile, keyFile } from './key-file.ts';

/**
 * The encryption keys: those of the settings, or those of the file in `DATA_DIR`, which is created when the database has nothing
 * that is encrypted yet.
 *
 * @throws Error when the file is damaged, or missing although the database has encrypted values.
 */
export async function openKeys({ encryptionKeys, dataDir }: Config, database: Database): Promise<KeyRing> {
  if (encryptionKeys) return new KeyRing(encryptionKeys);
  const file = keyFile(dataDir);
  if (!existsSync(file)) {
    // Another key could not decrypt them, and would only hide that the file is missing.
    const ids = await findKeyIdsInUse(database);
    if (ids.length > 0) throw new Error(missingKeys(ids, `The file ${file} is missing. Restore it from a backup`));
    createKeyFile(file);
  }
  const { keys, reload } = followKeyFile(file);
  return new KeyRing(keys, reload);
}

/**
 * Makes sure that every key that rows use is there.
 *
 * @throws Error that names the missing keys, and where they belong.
 */
export async function requireKeys(
  { encryptionKeys, dataDir }: Pick<Config, 'encryptionKeys' | 'dataDir'>,
  keys: KeyRing,
  database: Database,
): Promise<void> {
  const findMissing = async () => (await findKeyIdsInUse(database)).filter((id) => !keys.ids.includes(id));
  let missing = await findMissing();
  if (missing.length > 0 && keys.refresh()) missing = await findMissing();
  if (missing.length === 0) return;
  const remedy = encryptionKeys
    ? 'Add it to ENCRYPTION_KEYS or to the file that ENCRYPTION_KEYS_FILE names'
    : `Add it to the file ${keyFile(dataDir)}, from a backup`;
  throw new Error(missingKeys(missing, remedy));
}

function missingKeys(ids: readonly string[], remedy: string): string {
  const which = ids.length > 1 ? `the keys with the ids ${ids.join(', ')}` : `the key with the id ${ids[0]}`;
  return `User group tokens, stored responses or signing keys in the database are encrypted with ${which}, which is not configured. ${remedy}. Nothing was changed.`;
}
