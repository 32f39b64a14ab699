import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { keyFileName } from '../database/bundled.ts';
import type { Database } from '../database/client.ts';
import { readOrCreate, replaceFile } from '../durable-file.ts';
import { generateEncryptionKey, maxKeyFileBytes, parseEncryptionKeys } from '../encryption/key-texts.ts';
import { KeyRing } from '../encryption/keys.ts';
import { findKeyIdsInUse } from '../key-rotation.ts';
import type { Config } from '../settings.ts';

/** The file with the encryption keys of the bundled database, one on a line, the one that encrypts first. */
export const keyFile = (dataDir: string): string => join(dataDir, keyFileName);

/**
 * How often a running gateway looks for changes of the file: after twice that, every gateway that can read it encrypts with a key
 * that was added.
 */
export const keyRefreshMs = 1_000;

/** Creates the file with a new key unless there is one. Of several processes that do so at once, all use the key of one. */
export function createKeyFile(file: string): void {
  readOrCreate(file, () => `${generateEncryptionKey()}\n`);
}

/** Adds a new key, which encrypts from now on. The file has the old keys or the new ones, also after a crash of the machine. */
export function addKey(file: string): void {
  replaceFile(file, `${generateEncryptionKey()}\n${readFileSync(file, 'utf8')}`);
}

/** Keys as a file has them. */
export const keyFileText = (keys: readonly Buffer[]): string => keys.map((key) => `${key.toString('base64')}\n`).join('');

/** Puts keys before those that a file has, if there is one. */
export function addKeys(file: string, keys: readonly Buffer[]): void {
  readOrCreate(file, () => keyFileText(keys));
  const others = readKeyFile(file).filter((key) => !keys.some((each) => each.equals(key)));
  replaceFile(file, keyFileText([...keys, ...others]));
}

/** Reads the keys in the file. @throws Error that names the file and what is wrong; the message contains no key. */
export function readKeyFile(file: string): readonly Buffer[] {
  // First, because reading a pipe or a device may never end.
  const found = statSync(file);
  if (!found.isFile() || found.size > maxKeyFileBytes) {
    throw new Error(`${file} must be a regular file of at most ${maxKeyFileBytes} bytes. Restore it from a backup.`);
  }
  const { keys, problems } = parseEncryptionKeys(readFileSync(file, 'utf8'));
  if (problems.length > 0) throw new Error(`The file ${file} ${problems.join('; ')}. Restore it from a backup.`);
  return keys;
}

/**
 * Follows the file.
 *
 * @param report receives with each look why the file cannot be read, or nothing.
 * @returns a function that returns the keys when the file has changed since it was read. A file that is gone, damaged or out
 *   of reach leaves the keys as they are.
 */
export function followKeyFile(
  file: string,
  report: (problem?: unknown) => void = () => {},
): { readonly keys: readonly Buffer[]; reload(): readonly Buffer[] | undefined } {
  let version = versionOf(file);
  return {
    keys: readKeyFile(file),
    reload() {
      try {
        const current = versionOf(file);
        if (current === undefined) throw new Error(`The file ${file} is missing. Restore it from a backup.`);
        const keys = current === version ? undefined : readKeyFile(file);
        version = current;
        report();
        return keys;
      } catch (problem) {
        report(problem);
        return undefined;
      }
    },
  };
}

/** Changes whenever the file does: it is only ever replaced. */
function versionOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
}

/**
 * The encryption keys: those of the settings, or those of the file in `DATA_DIR`, which is created when the database has nothing
 * that is encrypted yet.
 *
 * @param report as that of {@link followKeyFile}.
 * @throws Error when the file is damaged, or missing although the database has encrypted values.
 */
export async function openKeys(
  { encryptionKeys, dataDir }: Config,
  database: Database,
  report: (problem?: unknown) => void,
): Promise<KeyRing> {
  if (encryptionKeys) return new KeyRing(encryptionKeys);
  const file = keyFile(dataDir);
  if (!existsSync(file)) {
    // Another key could not decrypt them, and would only hide that the file is missing.
    const ids = await findKeyIdsInUse(database);
    if (ids.length > 0) throw new Error(missingKeys(ids, `The file ${file} is missing. Restore it from a backup`));
    createKeyFile(file);
  }
  const { keys, reload } = followKeyFile(file, report);
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
  return `User group tokens, secrets of webhooks or signing keys in the database are encrypted with ${which}, which is not configured. ${remedy}. Nothing was changed.`;
}
