import type { KeyObject } from 'node:crypto';
import { type Author, systemAuthor } from '../audit-log/statements/author.ts';
import type { KeyRing } from '../encryption/keys.ts';
import type { PublicJwk } from './jwt.ts';
import type { SigningKeyList, SigningKeyQueries, SigningKeyRecord, StoredSigningKey } from './statements/signing-keys.ts';
import type { FindViewerGeneration } from './statements/viewer-generations.ts';

/** The longest that an embed token is valid, in seconds: a day. */
export const maxEmbedTokenSeconds = 86_400;

/** How long verifiers may keep the public keys, in seconds. */
export const jwksMaxAgeSeconds = 300;

/** How long a new key is published before it signs, in seconds: twice as long as the public keys may be kept, to spare. */
export const publicationLeadSeconds = 2 * jwksMaxAgeSeconds;

/** What a key is used for at a time: not yet to sign, to sign, still to verify, or no longer. */
export type SigningKeyState = 'published' | 'signing' | 'verifying' | 'expired';

/** What each key is used for, in the order of the list. Exactly one signs. */
export function signingKeyStates({ now, keys }: SigningKeyList): SigningKeyState[] {
  // The first one, if the clock was turned back to before it.
  const signing = Math.max(
    0,
    keys.findLastIndex(({ signsFrom }) => signsFrom <= now),
  );
  return keys.map((key, index) => {
    if (index >= signing) return index === signing ? 'signing' : 'published';
    return verifiesUntil(key) > now ? 'verifying' : 'expired';
  });
}

/** When the last token that the key may have signed has expired. Only for one that has a successor. */
export function verifiesUntil({ signsFrom, signsUntil }: Pick<SigningKeyRecord, 'signsFrom' | 'signsUntil'>): Date {
  return new Date((signsUntil ?? signsFrom).getTime() + maxEmbedTokenSeconds * 1_000);
}

/** The signing keys at a point in time. */
export interface SigningKeySnapshot {
  /** The database's clock. */
  readonly now: Date;
  /** The public keys to verify with, by their ids. */
  readonly published: ReadonlyMap<string, PublicJwk>;
  /** The key that signs. @throws DecryptionError when it is encrypted with a key that is not configured. */
  signing(): { readonly id: string; readonly privateKey: KeyObject };
}

/** What embed tokens are signed and verified with. */
export interface EmbedTokenIssuer {
  readonly signingKeys: SigningKeys;
  readonly findViewerGeneration: FindViewerGeneration;
  /** The URL of the gateway, without a slash at its end: the issuers of its tokens begin with it. */
  readonly publicUrl: () => string;
}

/** The signing keys of embed tokens. Every instance reads them from the database each time, so that all of them always agree. */
export class SigningKeys {
  private readonly queries: SigningKeyQueries;
  private readonly keys: KeyRing;
  /** The decrypted private key that signs, by its id. */
  private readonly privateKeys = new Map<string, KeyObject>();
  /** The public keys of the last read: the library converts each object once. */
  private published: ReadonlyMap<string, PublicJwk> = new Map();

  constructor(queries: SigningKeyQueries, keys: KeyRing) {
    this.queries = queries;
    this.keys = keys;
  }

  /** Every signing key, with the first one created if there is none. Of several instances, one creates it. */
  async list(): Promise<SigningKeyList> {
    const found = await this.queries.listSigningKeys('all');
    if (found) return found;
    await this.queries.addSigningKey(await this.createKey(), 0, true, systemAuthor);
    const created = await this.queries.listSigningKeys('all');
    if (!created) throw new Error('The first signing key was deleted as soon as it was created.');
    return created;
  }

  /** The keys that sign and verify now. */
  async read(): Promise<SigningKeySnapshot> {
    const [list, { toPublicJwk, readPrivateKey }] = await Promise.all([this.list(), loadJwt()]);
    const states = signingKeyStates(list);
    const published = list.keys.filter((_, index) => states[index] !== 'expired');
    this.published = new Map(published.map(({ id, publicKey }) => [id, this.published.get(id) ?? toPublicJwk(id, publicKey)]));
    const signing = list.keys[states.indexOf('signing')] as SigningKeyRecord;
    return {
      now: list.now,
      published: this.published,
      signing: () => {
        const { id, publicKey } = signing;
        let privateKey = this.privateKeys.get(id);
        if (!privateKey) {
          privateKey = readPrivateKey({ id, publicKey, privateKey: decryptPrivateKey(this.keys, signing) });
          this.privateKeys.clear(); // the others sign no more
          this.privateKeys.set(id, privateKey);
        }
        return { id, privateKey };
      },
    };
  }

  /**
   * Publishes a new key, which signs after {@link publicationLeadSeconds}; until then the present one does. Deletes keys whose
   * last token has expired.
   *
   * @param author who does so, for the audit log; by default the gateway itself.
   * @returns whether it added one: not if one is published already that does not sign yet.
   */
  async rotate(author: Author = systemAuthor): Promise<boolean> {
    await this.list();
    const isAdded = await this.queries.addSigningKey(await this.createKey(), publicationLeadSeconds, false, author);
    await this.queries.deleteSigningKeys(maxEmbedTokenSeconds);
    return isAdded;
  }

  private async createKey(): Promise<StoredSigningKey> {
    const { createKeyPair } = await loadJwt();
    const { id, publicKey, privateKey } = await createKeyPair();
    return { id, publicKey, privateKeyEncrypted: encryptPrivateKey(this.keys, id, privateKey) };
  }
}

/** Loaded on first use: few processes sign or verify in their first moments, and all of them start. */
export const loadJwt = () => import('./jwt.ts');

const contextOf = (id: string) => ({ column: 'signing_key.private_key_encrypted', row: Buffer.from(id) });

/** Encrypts a private key for its row. */
export function encryptPrivateKey(keys: KeyRing, id: string, privateKey: string): Buffer {
  return keys.encrypt(contextOf(id), privateKey);
}

/** Decrypts a private key. @throws DecryptionError when the encryption key is not configured, or the value was changed. */
export function decryptPrivateKey(
  keys: KeyRing,
  { id, privateKeyEncrypted }: Pick<StoredSigningKey, 'id' | 'privateKeyEncrypted'>,
): string {
  return keys.decrypt(contextOf(id), privateKeyEncrypted);
}
