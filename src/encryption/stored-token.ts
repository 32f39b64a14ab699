import type { TokenTable } from '../key-rotation.ts';
import type { KeyRing } from './keys.ts';

/** A user group token as it is stored. */
export interface StoredToken {
  /** What it is found by: the id of a key, then the token's keyed hash. */
  readonly tokenHash: Uint8Array;
  /** The token, encrypted with the same key. */
  readonly tokenEncrypted: Uint8Array;
}

/**
 * Encrypts a user group token for a table. The row of the encryption is the keyed hash next to it, and not the row's number,
 * because a row that is inserted has its number only afterwards: so that encrypting takes no further statement, and many rows
 * still fit into one. The hash is unique in its table.
 */
export function encryptToken(
  keys: KeyRing,
  table: TokenTable,
  token: string,
): { tokenHash: Buffer<ArrayBuffer>; tokenEncrypted: Buffer<ArrayBuffer> } {
  const tokenHash = Buffer.from(keys.hash(token), 'hex');
  return { tokenHash, tokenEncrypted: keys.encrypt(contextOf(table, tokenHash), token) };
}

/** Decrypts a user group token. @throws DecryptionError when its key is not configured, or when it was changed. */
export function decryptToken(keys: KeyRing, table: TokenTable, { tokenHash, tokenEncrypted }: StoredToken): string {
  return keys.decryptOften(contextOf(table, tokenHash), tokenEncrypted);
}

const contextOf = (table: TokenTable, row: Uint8Array) => ({ column: `${table}.token_encrypted`, row });
