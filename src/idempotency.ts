import { createHash } from 'node:crypto';
import { type Context, inTransaction } from './app.ts';
import { type EncryptionContext, isMissingKey } from './encryption/keys.ts';
import { GatewayError } from './errors.ts';
import { asGatewayError } from './failures.ts';
import type { HttpResponse } from './http/types.ts';

/** The limits of requests with an Idempotency-Key. */
export const idempotencyLimits = {
  /** The characters of a key. */
  maxIdempotencyKeyCharacters: 255,
  /** The bytes of a response, which is stored for 24 hours. */
  maxStoredResponseBytes: 1_048_576,
} as const;

const { maxIdempotencyKeyCharacters, maxStoredResponseBytes } = idempotencyLimits;

/** How many hours a response is kept, by the database's clock. */
export const idempotencyHours = 24;

/** The header of a response that is the stored one of an earlier request. */
const replayedHeader = 'idempotency-replayed';

/**
 * Responds to a request with an Idempotency-Key: executes it, or sends the response of the first one again, with the status and
 * the body that it had, and the header `Idempotency-Replayed: true`. The changes and the response are committed in one
 * transaction, so that the same request can fetch a response that did not arrive. A refusal changes and keeps nothing.
 *
 * @param content what identifies the request: method, path, and all else that its effect depends on.
 * @param execute takes the context of the transaction. What it throws undoes all changes, and so does a refusal.
 * @throws GatewayError `INVALID_INPUT` when the key is malformed, `IDEMPOTENCY_KEY_IN_USE` while the request is being executed,
 *   `IDEMPOTENCY_KEY_REUSED` when the response is that of another request, `QUERY_TOO_COSTLY` when the response is too large to
 *   be stored, `UNAVAILABLE`. Unauthenticated for an anonymous caller.
 */
export async function respondOnce<Own extends Context>(
  context: Own,
  { idempotencyKey }: { readonly idempotencyKey?: string | undefined },
  content: string,
  execute: (context: Own) => Promise<{ readonly response: HttpResponse; readonly isRefused: boolean }>,
): Promise<HttpResponse> {
  const keyHash = sha256(parseIdempotencyKey(idempotencyKey ?? ''));
  const fingerprint = sha256(content);
  context.caller.requireCredential();
  const id = { apiTokenId: context.caller.apiToken?.id ?? 0, keyHash };
  try {
    return await inTransaction(context, async (inner) => {
      const { app, sql } = inner;
      const [lock] = await sql<{ isLocked: boolean }>('lock-request', lockRequest, [id.apiTokenId, keyHash]);
      if (!lock?.isLocked) throw keyInUse();
      const [record] = await sql<StoredResponse>('find-response', findResponse, [id.apiTokenId, keyHash]);
      if (record) {
        if (Buffer.compare(record.fingerprint, fingerprint) !== 0) throw keyReused();
        const stored = JSON.parse(app.keys.decrypt(encryptionOf(id), record.responseEncrypted)) as HttpResponse;
        return { ...stored, headers: { ...stored.headers, [replayedHeader]: 'true' } };
      }
      const { response, isRefused } = await execute(inner);
      if (isRefused) throw new Refused(response);
      const { status, headers, body } = response;
      const text = JSON.stringify({ status, headers, body });
      if (Buffer.byteLength(text) > maxStoredResponseBytes) throw tooLargeToStore();
      const values = [id.apiTokenId, keyHash, fingerprint, app.keys.encrypt(encryptionOf(id), text)];
      await sql('store-response', storeResponse, values);
      return response;
    });
  } catch (error) {
    if (error instanceof Refused) return error.response;
    throw asKeyedError(error);
  }
}

/** Undoes what a refusal has read and locked. */
class Refused extends Error {
  readonly response: HttpResponse;

  constructor(response: HttpResponse) {
    super('The request was refused.');
    this.response = response;
  }
}

interface StoredResponse {
  readonly fingerprint: Uint8Array;
  readonly responseEncrypted: Uint8Array;
}

/** Of the 64 bits, requests of different keys share them about never; if they did, one of them would be sent again. */
const lockRequest = `
  select pg_try_advisory_xact_lock(('x' || encode(substr(sha256(int4send($1::int) || $2::bytea), 1, 8), 'hex'))::bit(64)::bigint) as "isLocked"`;

const findResponse = `
  select fingerprint, response_encrypted as "responseEncrypted" from idempotency_record
  where api_token_id = $1::int and key_hash = $2::bytea and created_at > now() - interval '${idempotencyHours} hours'`;

/** In place of one that is older than is kept. */
const storeResponse = `
  insert into idempotency_record (api_token_id, key_hash, fingerprint, response_encrypted) values ($1::int, $2::bytea, $3::bytea, $4::bytea)
  on conflict (api_token_id, key_hash) do update
    set fingerprint = excluded.fingerprint, response_encrypted = excluded.response_encrypted, created_at = excluded.created_at`;

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

function encryptionOf({ apiTokenId, keyHash }: { readonly apiTokenId: number; readonly keyHash: Buffer }): EncryptionContext {
  const row = Buffer.alloc(4 + keyHash.length);
  row.writeInt32BE(apiTokenId);
  keyHash.copy(row, 4);
  return { column: 'idempotency_record.response_encrypted', row };
}

/** A key in the form of the draft: a string of RFC 8941. */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/** A key as it is widely sent: printable characters without those that separate several values, or values and parameters. */
const bare = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;

/**
 * Reads the value of the header Idempotency-Key: a quoted string as in draft-ietf-httpapi-idempotency-key-header, or the same
 * text without quotes. The two are the same key.
 *
 * @throws GatewayError `INVALID_INPUT` when it is neither, also for several headers, or when the key has not 1 to 255 characters.
 */
export function parseIdempotencyKey(value: string): string {
  // The longest valid value has each character escaped, in quotes.
  const text = value.length <= 2 * maxIdempotencyKeyCharacters + 2 ? value : '';
  const key = quoted.exec(text)?.[1]?.replace(/\\(.)/g, '$1') ?? bare.exec(text)?.[0] ?? '';
  if (key.length >= 1 && key.length <= maxIdempotencyKeyCharacters) return key;
  throw new GatewayError(
    'INVALID_INPUT',
    `The header Idempotency-Key must be one key of 1 to ${maxIdempotencyKeyCharacters} printable ASCII characters, such as a UUID: ` +
      'in double quotes, or without quotes if it has no spaces, commas, semicolons, quotes or backslashes.',
  );
}

const keyInUse = (): GatewayError =>
  new GatewayError(
    'IDEMPOTENCY_KEY_IN_USE',
    'A request with this Idempotency-Key is being executed. Send the same request again to get its response.',
  );

const keyReused = (): GatewayError =>
  new GatewayError(
    'IDEMPOTENCY_KEY_REUSED',
    'Another request had this Idempotency-Key within the last 24 hours. Nothing was changed. Use a new key for each request, and the ' +
      'same one only to send the same request again.',
  );

const tooLargeToStore = (): GatewayError =>
  new GatewayError(
    'QUERY_TOO_COSTLY',
    `The response exceeds the limit of ${maxStoredResponseBytes} bytes for requests with an Idempotency-Key. Nothing was changed. Request ` +
      'fewer fields or items.',
  );

/** With a key, a request is safe to repeat when it is not known whether its change was made. */
function asKeyedError(error: unknown): GatewayError {
  const known = asGatewayError(error);
  if (known.code !== 'UNAVAILABLE' || known.cause === undefined || isMissingKey(known)) return known;
  const message = 'The database is unavailable. The requested change may have been made.';
  return new GatewayError('UNAVAILABLE', `${message} Send the same request with the same Idempotency-Key again.`, {
    cause: known.cause,
  });
}
