import { type Author, actor } from '../../audit-log/statements/author.ts';
import { createBatchLoader, type Load } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { columnTypes } from '../../database/columns.ts';

/** A key pair that signs embed tokens, as it is stored. */
export interface StoredSigningKey {
  /** Its JWK thumbprint (RFC 7638), the `kid` of its tokens. */
  readonly id: string;
  /** The public key, 32 bytes. */
  readonly publicKey: Buffer;
  /** The private key, encrypted. */
  readonly privateKeyEncrypted: Buffer;
}

/** A stored key with its times. */
export interface SigningKeyRecord extends StoredSigningKey {
  readonly createdAt: Date;
  /** From when on it signs. */
  readonly signsFrom: Date;
  /** When the next key takes over; null if there is none. */
  readonly signsUntil: Date | null;
}

/** Every signing key at a point in time. */
export interface SigningKeyList {
  /** The database's clock, which is the same for all instances. */
  readonly now: Date;
  /** In the order in which they sign. */
  readonly keys: readonly SigningKeyRecord[];
}

/** Access to the signing keys. */
export interface SigningKeyQueries {
  /** Every signing key; undefined if there is none. Requests share a statement. */
  readonly listSigningKeys: Load<'all', SigningKeyList>;
  /**
   * Adds a key that signs after `delaySeconds`. Does nothing, and returns false, if there is one that does not sign yet; with
   * `isFirst`, if there is any.
   */
  addSigningKey(key: StoredSigningKey, delaySeconds: number, isFirst: boolean, author: Author): Promise<boolean>;
  /** Deletes the keys that have not signed for `seconds`. */
  deleteSigningKeys(seconds: number): Promise<void>;
}

/**
 * Binds the access to signing keys to the database that holds the truth: a copy may not have a new key yet. Not through Prisma,
 * because requests share the statement, and because it reads the clock.
 */
export function bindSigningKeys({ query }: Pick<Database, 'query'>): SigningKeyQueries {
  return {
    listSigningKeys: createBatchLoader<'all', SigningKeyList>({
      keyOf: (all) => all,
      maxKeys: 1,
      load: async () => {
        const rows = await query('signing-keys', signingKeys, []);
        const keys = rows.map(
          ([id, publicKey, encrypted, createdAt, signsFrom, signsUntil]): SigningKeyRecord => ({
            id: columnTypes.text.decode(id as string),
            publicKey: columnTypes.bytes.decode(publicKey as string),
            privateKeyEncrypted: columnTypes.bytes.decode(encrypted as string),
            createdAt: columnTypes.time.decode(createdAt as string),
            signsFrom: columnTypes.time.decode(signsFrom as string),
            signsUntil: columnTypes.nullableTime.decode(signsUntil as string | null),
          }),
        );
        const now = rows[0]?.[6];
        return new Map(now == null ? [] : [['all', { now: columnTypes.time.decode(now), keys }]]);
      },
    }),
    addSigningKey: async ({ id, publicKey, privateKeyEncrypted }, delaySeconds, isFirst, author) => {
      const values = [id, publicKey, privateKeyEncrypted, delaySeconds, isFirst, JSON.stringify(author)];
      return (await query('add-signing-key', addKey, values)).length === 1;
    },
    deleteSigningKeys: async (seconds) => {
      await query('delete-signing-keys', deleteUnused, [seconds]);
    },
  };
}

const signingKeys = `
  select id, public_key, private_key_encrypted, created_at, signs_from, lead(signs_from) over (order by number), now()
  from signing_key order by number`;

/** Of instances that add a key at once, those that lose the race for its number add none. */
const addKey = `
  with ${actor(6)}
  insert into signing_key (number, id, public_key, private_key_encrypted, signs_from)
  select (select coalesce(max(number), 0) + 1 from signing_key), $1::text, $2::bytea, $3::bytea,
    date_trunc('milliseconds', now()) + $4::int * interval '1 second'
  from actor where not exists (select from signing_key where $5::bool or signs_from > now())
  on conflict do nothing returning 1`;

const deleteUnused = `
  delete from signing_key where number in (
    select number from (select number, lead(signs_from) over (order by number) as signs_until from signing_key) as key
    where signs_until + $1::int * interval '1 second' <= now())`;

/** How many signing keys use each encryption key, by its id in hexadecimal. */
export async function countSigningKeysByKey({ query }: Pick<Database, 'query'>): Promise<{ id: string; rows: number }[]> {
  const rows = await query('signing-keys-by-key', signingKeysByKey, []);
  return rows.map(([id, count]) => ({ id: id as string, rows: Number(count) }));
}

/** The signing keys that use the encryption key with this id. */
export async function findSigningKeysOfKey(
  { query }: Pick<Database, 'query'>,
  id: string,
): Promise<Pick<StoredSigningKey, 'id' | 'privateKeyEncrypted'>[]> {
  const rows = await query('signing-keys-of-key', signingKeysOfKey, [id]);
  return rows.map((row) => ({ id: row[0] as string, privateKeyEncrypted: columnTypes.bytes.decode(row[1] as string) }));
}

/** Replaces the encrypted private key of a signing key, unless it was replaced since. Returns whether it did. */
export async function replaceSigningKey(
  { query }: Pick<Database, 'query'>,
  { id, privateKeyEncrypted }: Pick<StoredSigningKey, 'id' | 'privateKeyEncrypted'>,
  replacement: Buffer,
): Promise<boolean> {
  return (await query('replace-signing-key', replaceKey, [id, privateKeyEncrypted, replacement])).length === 1;
}

const signingKeysByKey = `
  select encode(substr(private_key_encrypted, 1, 4), 'hex'), count(*) from signing_key group by 1`;

const signingKeysOfKey = `
  select id, private_key_encrypted from signing_key
  where substr(private_key_encrypted, 1, 4) = decode($1, 'hex') order by number`;

const replaceKey = `
  update signing_key set private_key_encrypted = $3::bytea where id = $1::text and private_key_encrypted = $2::bytea returning 1`;
