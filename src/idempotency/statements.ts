import type { Database } from '../database/client.ts';
import { columnTypes } from '../database/columns.ts';
import type { EncryptionContext, KeyRing } from '../encryption/keys.ts';

/** What identifies the request that a response was stored for. */
export interface RecordId {
  /** The API token that the request was sent with. */
  readonly apiTokenId: number;
  /** SHA-256 of its key. */
  readonly keyHash: Buffer;
}

/** A stored response. */
export interface IdempotencyRecord extends RecordId {
  /** SHA-256 of what the request asked for. */
  readonly fingerprint: Buffer;
  /** Begins with the id of the key that encrypts it, 4 bytes. */
  readonly responseEncrypted: Buffer;
}

/** How many hours a response is kept, by the database's clock. */
export const idempotencyHours = 24;

/** A response as it is stored, and what it is the response to. */
export type StoredResponse = Pick<IdempotencyRecord, 'fingerprint' | 'responseEncrypted'>;

/**
 * Locks a request until the transaction ends.
 *
 * @returns whether it is locked: not, if another transaction holds its lock. What that stored is visible to the next statement.
 */
export async function tryLockRequest({ query }: Pick<Database, 'query'>, { apiTokenId, keyHash }: RecordId): Promise<boolean> {
  const [[isLocked = null] = []] = await query('lock-request', lockRequest, [apiTokenId, keyHash]);
  return columnTypes.boolean.decode(isLocked);
}

/** The response that was stored for a request, unless it is older than is kept. */
export async function findRecord(
  { query }: Pick<Database, 'query'>,
  { apiTokenId, keyHash }: RecordId,
): Promise<StoredResponse | undefined> {
  const [row] = await query('find-idempotency-record', find, [apiTokenId, keyHash]);
  if (!row) return undefined;
  const [fingerprint = null, responseEncrypted = null] = row;
  const { decode } = columnTypes.bytes;
  return { fingerprint: decode(fingerprint), responseEncrypted: decode(responseEncrypted) };
}

/** Stores an encrypted response, in place of one that is older than is kept. */
export async function storeRecord(
  { query }: Pick<Database, 'query'>,
  { apiTokenId, keyHash, fingerprint }: RecordId & Pick<StoredResponse, 'fingerprint'>,
  response: Buffer,
): Promise<void> {
  await query('store-idempotency-record', store, [apiTokenId, keyHash, fingerprint, response]);
}

/** The ids of the encryption keys that stored responses use, in hexadecimal. Takes a few index accesses for each key. */
export async function findKeyIdsOfRecords({ query }: Pick<Database, 'query'>): Promise<string[]> {
  return (await query('key-ids-of-records', `${usedKeys} select encode(id, 'hex') from used where id is not null`, [])).map(
    ([id]) => id as string,
  );
}

/** How many stored responses use each encryption key, by its id in hexadecimal. Reads a whole index. */
export async function countRecordsByKey({ query }: Pick<Database, 'query'>): Promise<{ id: string; rows: number }[]> {
  const rows = await query('records-by-key', recordsByKey, []);
  return rows.map(([id, count]) => ({ id: id as string, rows: Number(count) }));
}

/** A stored response that is to be re-encrypted. */
export interface EncryptedRecord extends Omit<IdempotencyRecord, 'fingerprint'> {
  /** When the request was executed. A text, because it is only compared. */
  readonly createdAt: string;
}

/**
 * Stored responses that use the key with this id, the oldest first.
 *
 * @param after the last one of the previous batch; undefined for the first.
 */
export async function findRecordsOfKey(
  { query }: Pick<Database, 'query'>,
  { id, after, limit }: { id: string; after: EncryptedRecord | undefined; limit: number },
): Promise<EncryptedRecord[]> {
  const position = [after?.createdAt ?? '-infinity', after?.apiTokenId ?? 0, after?.keyHash ?? Buffer.alloc(0)];
  const rows = await query('records-of-key', recordsOfKey, [id, ...position, limit]);
  return rows.map(([apiTokenId, keyHash, responseEncrypted, createdAt]) => ({
    apiTokenId: Number(apiTokenId),
    keyHash: columnTypes.bytes.decode(keyHash ?? null),
    responseEncrypted: columnTypes.bytes.decode(responseEncrypted ?? null),
    createdAt: createdAt as string,
  }));
}

/** Replaces an encrypted response, unless it was replaced since. Returns whether it did. */
export async function replaceRecord(
  { query }: Pick<Database, 'query'>,
  { apiTokenId, keyHash, responseEncrypted }: EncryptedRecord,
  replacement: Buffer,
): Promise<boolean> {
  return (await query('replace-record', replace, [apiTokenId, keyHash, responseEncrypted, replacement])).length === 1;
}

function contextOf({ apiTokenId, keyHash }: RecordId): EncryptionContext {
  const row = Buffer.alloc(4 + keyHash.length);
  row.writeInt32BE(apiTokenId);
  keyHash.copy(row, 4);
  return { column: 'idempotency_record.response_encrypted', row };
}

/** Encrypts a response for its row. */
export function encryptResponse(keys: KeyRing, id: RecordId, response: string): Buffer {
  return keys.encrypt(contextOf(id), response);
}

/** Decrypts a response. @throws DecryptionError when its key is not configured, or when it was changed. */
export function decryptResponse(keys: KeyRing, id: RecordId, encrypted: Uint8Array): string {
  return keys.decrypt(contextOf(id), encrypted);
}

/** From id to id, as an index scan that skips. */
export const usedKeys = `
  with recursive used as (
    (select encryption_key_id as id from idempotency_record order by encryption_key_id limit 1)
    union all
    select (
      select encryption_key_id from idempotency_record
      where encryption_key_id > used.id order by encryption_key_id limit 1
    ) from used where used.id is not null
  )`;

/** Of the 64 bits, requests of different keys share them about never; if they did, one of them would be sent again. */
const lockRequest = `
  select pg_try_advisory_xact_lock(('x' || encode(substr(sha256(int4send($1::int) || $2::bytea), 1, 8), 'hex'))::bit(64)::bigint)`;

const find = `
  select fingerprint, response_encrypted from idempotency_record
  where api_token_id = $1::int and key_hash = $2::bytea and created_at > now() - interval '${idempotencyHours} hours'`;

const store = `
  insert into idempotency_record (api_token_id, key_hash, fingerprint, response_encrypted, encryption_key_id)
  values ($1::int, $2::bytea, $3::bytea, $4::bytea, substr($4::bytea, 1, 4))
  on conflict (api_token_id, key_hash) do update set fingerprint = excluded.fingerprint,
    response_encrypted = excluded.response_encrypted, encryption_key_id = excluded.encryption_key_id, created_at = excluded.created_at`;

const recordsByKey = `
  select encode(encryption_key_id, 'hex'), count(*) from idempotency_record group by encryption_key_id`;

const recordsOfKey = `
  select api_token_id, key_hash, response_encrypted, created_at from idempotency_record
  where encryption_key_id = decode($1, 'hex') and created_at >= $2::timestamptz
    and (created_at, api_token_id, key_hash) > ($2::timestamptz, $3::int, $4::bytea)
  order by created_at, api_token_id, key_hash limit $5`;

const replace = `
  update idempotency_record set response_encrypted = $4::bytea, encryption_key_id = substr($4::bytea, 1, 4)
  where api_token_id = $1 and key_hash = $2 and response_encrypted = $3::bytea returning 1`;
