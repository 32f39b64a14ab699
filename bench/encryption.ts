import { decryptToken, encryptToken, KeyRing } from '../src/encryption/keys.ts';

/** The encryption key of the run's databases, as the setting takes it. What it encrypts is thrown away. */
export const encryptionKey = 'YmVuY2htYXJrcyBlbmNyeXB0IHdpdGggdGhpcyBrZXk=';

const keys = new KeyRing([Buffer.from(encryptionKey, 'base64')]);

/** A user group token as it is stored. */
export const storedToken = (token: string) => encryptToken(keys, 'user_group', token);

/** What a token is found by. */
export const hashOf = (token: string): Buffer<ArrayBuffer> => Buffer.from(keys.hash(token), 'hex');

/** The token of a stored user group. */
export const tokenOf = ({ token_hash, token_encrypted }: TokenColumns): string =>
  decryptToken(keys, 'user_group', { tokenHash: token_hash, tokenEncrypted: token_encrypted });

/** The columns of a stored user group that have its token. */
export interface TokenColumns {
  readonly token_hash: Buffer;
  readonly token_encrypted: Buffer;
}
