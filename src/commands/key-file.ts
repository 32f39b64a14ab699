import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { keyFileName } from '../database/bundled.ts';
import type { Database } from '../database/client.ts';
import { readOrCreate, replaceFile } from '../durable-file.ts';
import { generateEncryptionKey, parseEncryptionKeys } from '../encryption/key-texts.ts';
import { KeyRing } from '../encryption/keys.ts';
import { findKeyIdsInUse } from '../key-rotation.ts';
import type { Config } from '../settings.ts';

/** The file with the encryption keys of the bundled database, one on a line, the one that encrypts first. */
export const keyFile = (dataDir: string): string => join(dataDir, keyFileName);

/** How often a running gateway looks for changes of the file. */
export const keyRefreshMs = 1_000;

/** Keys as a file has them. */
export const keyFileText = (keys: readonly Buffer[]): string => keys.map((key) => `${key.toString('base64')}\n`).join('');

/** Reads the keys in a file. @throws Error that names the file and what is wrong; the message contains no key. */
export function readKeyFile(file: string): readonly Buffer[] {
  const { keys, problems } = parseEncryptionKeys(readFileSync(file, 'utf8'));
  if (problems.length > 0) throw new Error(`The file ${file} ${problems.join('; ')}. Restore it from a backup.`);
  return keys;
}

/** Puts keys before those that a file has, if there is one. */
export function addKeys(file: string, keys: readonly Buffer[]): void {
  readOrCreate(file, () => keyFileText(keys));
  const others = readKeyFile(file).filter((key) => !keys.some((each) => each.equals(key)));
  replaceFile(file, keyFileText([...keys, ...others]));
}

/**
 * The encryption keys: those of the settings, or those of the file in `DATA_DIR`, which is created when the database has nothing
 * that is encrypted yet. The file is read again when it changes; one that is gone or damaged leaves the keys as they are.
 *
 * @param report hears with each look why the file cannot be read, or nothing.
 * @throws Error when the database has values that are encrypted with a key that is not there.
 */
export async function openKeys(
  { encryptionKeys, dataDir }: Config,
  database: Database,
  report: (problem?: unknown) => void = () => {},
): Promise<KeyRing> {
  const used = await findKeyIdsInUse(database);
  const file = keyFile(dataDir);
  if (!encryptionKeys && !existsSync(file)) {
    // Another key could not decrypt them, and would only hide that the file is missing.
    if (used.length > 0) throw missingKeys(used, `The file ${file} is missing. Restore it from a backup`);
    readOrCreate(file, () => `${generateEncryptionKey()}\n`);
  }
  const keys = encryptionKeys ? new KeyRing(encryptionKeys) : new KeyRing(readKeyFile(file), followKeyFile(file, report));
  const missing = used.filter((id) => !keys.has(id));
  if (missing.length > 0) throw missingKeys(missing, whereKeysBelong({ encryptionKeys, dataDir }));
  return keys;
}

/** Where a missing key is to be added. */
export const whereKeysBelong = ({ encryptionKeys, dataDir }: Pick<Config, 'encryptionKeys' | 'dataDir'>): string =>
  encryptionKeys
    ? 'Add it to ENCRYPTION_KEYS or to the file that ENCRYPTION_KEYS_FILE names'
    : `Add it to the file ${keyFile(dataDir)}, from a backup`;

const missingKeys = (ids: readonly string[], remedy: string): Error =>
  new Error(
    `The database has values that are encrypted with ${ids.length > 1 ? 'keys' : 'a key'} that this gateway lacks (${ids.join(', ')}). ${remedy}.`,
  );

/** Returns a function that returns the keys of a file when the file has changed since. */
function followKeyFile(file: string, report: (problem?: unknown) => void): () => readonly Buffer[] | undefined {
  // The file is only ever replaced.
  const readVersion = () => {
    const { ino, mtimeNs } = statSync(file, { bigint: true });
    return `${ino} ${mtimeNs}`;
  };
  let version = readVersion();
  return () => {
    try {
      const current = readVersion();
      const keys = current === version ? undefined : readKeyFile(file);
      version = current;
      report();
      return keys;
    } catch (problem) {
      report(problem);
      return undefined;
    }
  };
}
