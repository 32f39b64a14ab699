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
