import { randomBytes } from 'node:crypto';

/** The length of an encryption key, in bytes. */
const encryptionKeyBytes = 32;

/** The most keys that may be configured. A look-up by token hashes it under each of them. */
export const maxEncryptionKeys = 16;

/** The largest file with keys that is read, in bytes: many times the length of the most keys that there may be. */
export const maxKeyFileBytes = 65_536;

/** Makes an encryption key as the settings take it: 32 random bytes in base64. */
export function generateEncryptionKey(): string {
  return randomBytes(encryptionKeyBytes).toString('base64');
}

/**
 * Reads encryption keys, separated by commas, spaces or line breaks.
 *
 * @returns the keys, or what is wrong, each as the end of a sentence that begins with the name of the setting. No text contains
 *   a key.
 */
export function parseEncryptionKeys(text: string): { readonly keys: readonly Buffer[]; readonly problems: readonly string[] } {
  const words = text.split(/[\s,]/).filter((word) => word !== '');
  if (words.length === 0) return { keys: [], problems: ['contains no key; it must have at least one 32-byte key in base64'] };
  if (words.length > maxEncryptionKeys) return { keys: [], problems: [`must have at most ${maxEncryptionKeys} keys`] };
  const problems: string[] = [];
  const keys = words.map((word, index) => {
    const which = words.length > 1 ? `: key ${index + 1} of ${words.length}` : ': it';
    const key = Buffer.from(word, 'base64');
    if (!/^[\w+/-]*={0,2}$/.test(word)) problems.push(`must be 32-byte keys in base64${which} is not base64`);
    else if (key.length !== encryptionKeyBytes) problems.push(`must be 32-byte keys in base64${which} has ${key.length} bytes`);
    else if (words.findIndex((other) => Buffer.from(other, 'base64').equals(key)) < index)
      problems.push(`must not repeat a key${which} is the same as an earlier one`);
    return key;
  });
  return { keys, problems };
}
