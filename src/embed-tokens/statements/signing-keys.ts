import type { Database } from '../../database/client.ts';
import { columnTypes } from '../../database/columns.ts';

/** A private key as it is stored. */
export interface StoredPrivateKey {
  readonly id: string;
  readonly privateKeyEncrypted: Buffer;
}

/** How many signing keys use each encryption key, by its id in hexadecimal. */
export async function countSigningKeysByKey({ query }: Pick<Database, 'query'>): Promise<{ id: string; rows: number }[]> {
  const rows = await query('signing-keys-by-key', signingKeysByKey, []);
  return rows.map(([id, count]) => ({ id: id as string, rows: Number(count) }));
}

/** The signing keys that use the encryption key with this id. */
export async function findSigningKeysOfKey({ query }: Pick<Database, 'query'>, id: string): Promise<StoredPrivateKey[]> {
  const rows = await query('signing-keys-of-key', signingKeysOfKey, [id]);
  return rows.map((row) => ({ id: row[0] as string, privateKeyEncrypted: columnTypes.bytes.decode(row[1] as string) }));
}

/** Replaces the encrypted private key of a signing key, unless it was replaced since. Returns whether it did. */
export async function replaceSigningKey(
  { query }: Pick<Database, 'query'>,
  { id, privateKeyEncrypted }: StoredPrivateKey,
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
