import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Context } from '../app.ts';
import { actor } from '../caller.ts';
import type { KeyRing } from '../encryption/keys.ts';
import type { PublicJwk } from './jwt.ts';
import { findSigningKeys, type SigningKey } from './sql.ts';

/** The longest that an embed token is valid, in seconds: a day. */
export const maxEmbedTokenSeconds = 86_400;

/** How long verifiers may keep the public keys, in seconds. */
export const jwksMaxAgeSeconds = 300;

/** How long a new key is published before it signs, in seconds: twice as long as the public keys may be kept, to spare. */
export const publicationLeadSeconds = 2 * jwksMaxAgeSeconds;

/** What a key is used for at a time: not yet to sign, to sign, still to verify, or no longer. */
export type SigningKeyState = 'published' | 'signing' | 'verifying' | 'expired';

/** What each key is used for. Exactly one signs. */
export function signingKeyStates(keys: readonly SigningKey[]): SigningKeyState[] {
  // The first one, if the clock was turned back to before it.
  const signing = Math.max(
    0,
    keys.findLastIndex(({ signsFrom, now }) => signsFrom <= now),
  );
  return keys.map((key, index) => {
    if (index >= signing) return index === signing ? 'signing' : 'published';
    return verifiesUntil(key) > key.now ? 'verifying' : 'expired';
  });
}

/** When the last token that the key may have signed has expired. Only for one that has a successor. */
export function verifiesUntil({ signsFrom, signsUntil }: SigningKey): Date {
  return new Date((signsUntil ?? signsFrom).getTime() + maxEmbedTokenSeconds * 1_000);
}

/** Every signing key, with the first one created if there is none. Of several instances, one creates it. */
export async function ensureSigningKeys(context: Context): Promise<readonly SigningKey[]> {
  const found = (await context.reads.signingKeys('all')) ?? [];
  if (found.length > 0) return found;
  await addSigningKey(context, 0, true);
  return findSigningKeys(context.sql);
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

/** Public keys as the library takes them, which converts each object once; and decrypted private keys. By their ids. */
const publicJwks = new LRUCache<string, PublicJwk>({ max: 16 });
const privateKeys = new LRUCache<string, KeyObject>({ max: 4 });

/** The keys that sign and verify now. */
export async function readSigningKeys(context: Context): Promise<SigningKeySnapshot> {
  const [keys, { toPublicJwk, readPrivateKey }] = await Promise.all([ensureSigningKeys(context), loadJwt()]);
  const states = signingKeyStates(keys);
  const published = keys.filter((_, index) => states[index] !== 'expired');
  const signing = keys[states.indexOf('signing')];
  if (!signing) throw new Error('The first signing key was deleted as soon as it was created.');
  const publicJwkOf = ({ id, publicKey }: SigningKey): PublicJwk => {
    const jwk = publicJwks.get(id) ?? toPublicJwk(id, Buffer.from(publicKey));
    publicJwks.set(id, jwk);
    return jwk;
  };
  return {
    now: signing.now,
    published: new Map(published.map((key) => [key.id, publicJwkOf(key)])),
    signing: () => {
      const { id, publicKey } = signing;
      const read = () =>
        readPrivateKey({ id, publicKey: Buffer.from(publicKey), privateKey: decryptPrivateKey(context.app.keys, signing) });
      const privateKey = privateKeys.get(id) ?? read();
      privateKeys.set(id, privateKey);
      return { id, privateKey };
    },
  };
}

/**
 * Publishes a new key, which signs after {@link publicationLeadSeconds}; until then the present one does. Deletes keys whose
 * last token has expired.
 *
 * @returns whether it added one: not if one is published already that does not sign yet.
 * @throws Forbidden without `admin`.
 */
export async function rotateSigningKey(context: Context): Promise<boolean> {
  context.caller.require('admin');
  await ensureSigningKeys(context);
  const isAdded = await addSigningKey(context, publicationLeadSeconds, false);
  await context.sql('delete-signing-keys', deleteUnused, [maxEmbedTokenSeconds]);
  return isAdded;
}

async function addSigningKey({ app, caller, sql }: Context, delaySeconds: number, isFirst: boolean): Promise<boolean> {
  const { createKeyPair } = await loadJwt();
  const { id, publicKey, privateKey } = await createKeyPair();
  const encrypted = encryptPrivateKey(app.keys, id, privateKey);
  const values = [id, publicKey, encrypted, delaySeconds, isFirst, JSON.stringify(caller.author)];
  return (await sql('add-signing-key', addKey, values)).length === 1;
}

/** Of instances that add a key at once, those that lose the race for its number add none. */
const addKey = `
  with ${actor(6)}
  insert into signing_key (number, id, public_key, private_key_encrypted, signs_from)
  select (select coalesce(max(number), 0) + 1 from signing_key), $1::text, $2::bytea, $3::bytea,
    date_trunc('milliseconds', now()) + $4::int * interval '1 second'
  from actor where not exists (select from signing_key where $5::bool or signs_from > now())
  on conflict do nothing returning id`;

const deleteUnused = `
  delete from signing_key where number in (
    select number from (select number, lead(signs_from) over (order by number) as signs_until from signing_key) as key
    where signs_until + $1::int * interval '1 second' <= now())`;

/** Loaded on first use: few processes sign or verify in their first moments, and all of them start. */
export const loadJwt = () => import('./jwt.ts');

const encryptionOf = (id: string) => ({ column: 'signing_key.private_key_encrypted', row: Buffer.from(id) });

/** Encrypts a private key for its row. */
const encryptPrivateKey = (keys: KeyRing, id: string, privateKey: string): Buffer<ArrayBuffer> =>
  keys.encrypt(encryptionOf(id), privateKey);

/** Decrypts a private key. @throws DecryptionError when the encryption key is not configured, or the value was changed. */
export const decryptPrivateKey = (keys: KeyRing, { id, privateKeyEncrypted }: SigningKey): string =>
  keys.decrypt(encryptionOf(id), privateKeyEncrypted);
