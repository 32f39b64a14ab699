import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { TokenTable } from '../key-rotation.ts';

/** A value that cannot be decrypted. The message says why, and has neither the value nor a key. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

/** A value whose encryption key is not among the configured ones. */
export class MissingKey extends DecryptionError {
  /** The id of the key, in hexadecimal. */
  readonly keyId: string;
  /** Whether what failed is a look-up before any change. */
  readonly isUnchanged: boolean;

  constructor(column: string, keyId: string, { isUnchanged = false }: { readonly isUnchanged?: boolean } = {}) {
    super(`A value of ${column} is encrypted with the key ${keyId}, which is not among the configured keys.`);
    this.keyId = keyId;
    this.isUnchanged = isUnchanged;
  }
}

/** The error, or what caused it, if that is that a key is missing. */
export const missingKeyIn = (error: unknown): MissingKey | undefined =>
  [error, error instanceof Error && error.cause].find((each) => each instanceof MissingKey);

/** Whether an error, or what caused it, is that a key is missing. */
export const isMissingKey = (error: unknown): boolean => missingKeyIn(error) !== undefined;

/** How many bytes identify a key in what is stored: enough that two keys with one id do not occur by chance. */
const idBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;

const cipherOptions = { authTagLength: tagBytes };

/** How many bytes of the keyed hash are stored after the id of its key. */
const hashBytes = 16;

/** Where an encrypted value is stored. It cannot be decrypted anywhere else. */
export interface EncryptionContext {
  /** Table and column, as `table.column`. */
  readonly column: string;
  /** What identifies the row, known before the row is written. */
  readonly row: Uint8Array;
}

/**
 * The encryption keys in use: the first encrypts, all of them decrypt. From each key HKDF-SHA256 derives three that reveal
 * nothing about each other: the id, the key of the keyed hash, and the key of the encryption.
 *
 * Encryption is AES-256-GCM with a random nonce of 96 bits, which allows for 2³² values under one key. What is stored is the id
 * of the key, the nonce, the ciphertext and the tag.
 */
export class KeyRing {
  /** The id of a key that stored tokens have and this process lacks, as far as it is known: see key-rotation. */
  missing: string | undefined;
  private keys: readonly DerivedKey[];
  private readonly reload: (() => readonly Buffer[] | undefined) | undefined;

  /**
   * @param keys at least one, of 32 bytes each; the first encrypts.
   * @param reload returns the keys that apply now if they have changed, for keys that are in a file.
   */
  constructor(keys: readonly Buffer[], reload?: () => readonly Buffer[] | undefined) {
    this.keys = keys.map((key) => new DerivedKey(key));
    this.reload = reload;
  }

  /** The ids of the keys in hexadecimal, the one that encrypts first. */
  get ids(): readonly string[] {
    return this.keys.map(({ id }) => id);
  }

  /** Whether there is a key with this id. Keys in a file are read again if it is not known yet. */
  has(id: string): boolean {
    return this.find(id) !== undefined;
  }

  private find(id: string): DerivedKey | undefined {
    const find = () => this.keys.find((key) => key.id === id);
    return find() ?? (this.refresh() ? find() : undefined);
  }

  /** Takes over keys that were added or removed since. Returns whether they have changed. */
  refresh(): boolean {
    const keys = this.reload?.();
    if (!keys) return false;
    this.keys = keys.map((key) => new DerivedKey(key));
    return true;
  }

  /**
   * The keyed hash of a text: the id of the key that encrypts, then 16 bytes of HMAC-SHA256; in hexadecimal. The id comes first
   * so that an index on hashes also finds the rows that use a key.
   */
  hash(text: string): string {
    return this.writing.hash(text);
  }

  /** The keyed hashes of a text under every key, the one that encrypts first: what is stored has one of them. */
  hashes(text: string): readonly string[] {
    return this.keys.map((key) => key.hash(text));
  }

  /** Encrypts a text for one context with the first key. */
  encrypt(context: EncryptionContext, text: string): Buffer<ArrayBuffer> {
    return this.writing.encrypt(context, text);
  }

  /**
   * Decrypts what was encrypted for this context. Keys in a file are read again if the value has a key that is not known yet.
   *
   * @throws MissingKey when its key is not configured.
   * @throws DecryptionError when it was changed or belongs to another context.
   */
  decrypt(context: EncryptionContext, encrypted: Uint8Array): string {
    const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength);
    const id = bytes.toString('hex', 0, idBytes);
    const key = this.find(id);
    if (!key) throw new MissingKey(context.column, id);
    return key.decrypt(context, bytes);
  }

  private get writing(): DerivedKey {
    const [first] = this.keys;
    if (!first) throw new TypeError('There is no encryption key.');
    return first;
  }
}

/** What is derived from one encryption key. */
class DerivedKey {
  /** In hexadecimal. */
  readonly id: string;
  private readonly idPrefix: Buffer;
  private readonly encryption: KeyObject;
  private readonly keyedHash: KeyObject;

  constructor(key: Buffer) {
    this.idPrefix = derive(key, 'id', idBytes);
    this.id = this.idPrefix.toString('hex');
    this.encryption = createSecretKey(derive(key, 'encryption', 32));
    this.keyedHash = createSecretKey(derive(key, 'keyed hash', 32));
  }

  hash(text: string): string {
    const hmac = createHmac('sha256', this.keyedHash).update(text).digest('hex');
    return this.id + hmac.slice(0, 2 * hashBytes);
  }

  encrypt(context: EncryptionContext, text: string): Buffer<ArrayBuffer> {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.encryption, nonce);
    cipher.setAAD(associatedData(context));
    const ciphertext = cipher.update(text, 'utf8');
    cipher.final();
    return Buffer.concat([this.idPrefix, nonce, ciphertext, cipher.getAuthTag()]);
  }

  decrypt(context: EncryptionContext, encrypted: Buffer): string {
    const tagAt = encrypted.length - tagBytes;
    try {
      const nonce = encrypted.subarray(idBytes, idBytes + nonceBytes);
      const decipher = createDecipheriv('aes-256-gcm', this.encryption, nonce, cipherOptions);
      decipher.setAAD(associatedData(context));
      decipher.setAuthTag(encrypted.subarray(tagAt));
      // As bytes: for a text, each decipher would have a decoder of its own.
      const text = decipher.update(encrypted.subarray(idBytes + nonceBytes, tagAt));
      decipher.final();
      return text.toString();
    } catch (cause) {
      throw new DecryptionError(`A value of ${context.column} was changed, or belongs to another row: it cannot be decrypted.`, {
        cause,
      });
    }
  }
}

function derive(key: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `user-group-gateway ${purpose}`, bytes));
}

/** Column and row, with a byte between them that is in no name. */
function associatedData({ column, row }: EncryptionContext): Buffer {
  return Buffer.concat([Buffer.from(`${column}\0`), row]);
}

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
  return keys.decrypt(contextOf(table, tokenHash), tokenEncrypted);
}

const contextOf = (table: TokenTable, row: Uint8Array) => ({ column: `${table}.token_encrypted`, row });
