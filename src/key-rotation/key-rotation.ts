import type { Database } from '../database/client.ts';
import { decryptPrivateKey, encryptPrivateKey } from '../embed-tokens/signing-keys.ts';
import { findSigningKeysOfKey, replaceSigningKey } from '../embed-tokens/statements/signing-keys.ts';
import { DecryptionError, type KeyRing } from '../encryption/keys.ts';
import { decryptToken, encryptToken } from '../encryption/stored-token.ts';
import { decryptResponse, encryptResponse } from '../idempotency/idempotency.ts';
import { type EncryptedRecord, findRecordsOfKey, replaceRecord } from '../idempotency/statements.ts';
import { decryptWebhookSecret, encryptWebhookSecret } from '../webhooks/secrets.ts';
import { findWebhookSecretsOfKey, replaceWebhookSecret } from '../webhooks/statements/secrets.ts';
import {
  countRowsByKey,
  findTokensOfKey,
  type KeyUse,
  type Reencryption,
  replaceStoredTokens,
  type StoredToken,
  type TokenTable,
} from './statements.ts';

/** How many tokens are read and written in one statement: few enough that a request waits only milliseconds for one of them. */
const batchSize = 200;

/** How many stored responses are read in one statement: each may have megabytes. */
const responseBatchSize = 10;

/** How often the whole is gone through, because rows may be skipped while requests change them. */
const maxPasses = 5;

/** What a re-encryption has done. */
export interface ReencryptionResult {
  /** How many tokens, signing keys, secrets of webhooks and stored responses were re-encrypted. */
  readonly changed: number;
  /**
   * Rows that still use another key: those that cannot be decrypted, and those that a gateway wrote with it during the rotation.
   */
  readonly remaining: readonly KeyUse[];
  /** Why values cannot be decrypted, the first few. */
  readonly problems: readonly string[];
}

/**
 * Encrypts every user group token, signing key, secret of a webhook and stored response with the first key that uses another
 * one. Requests continue during the rotation: a token that one of them rotates at the same moment is the request's. It can be
 * interrupted at any time; the next call does what is left.
 *
 * @param onProgress hears how many of how many tokens are done.
 */
export async function reencryptAll(
  database: Pick<Database, 'query'>,
  keys: KeyRing,
  onProgress: (done: number, total: number) => void,
): Promise<ReencryptionResult> {
  const [first] = keys.ids;
  const findOthers = async () => (await countRowsByKey(database)).filter(({ id }) => id !== first);
  let others = await findOthers();
  const total = others.reduce((sum, { rows }) => sum + rows, 0);
  const problems = new Set<string>();
  let changed = 0;

  for (let pass = 0; pass < maxPasses && others.length > 0; pass += 1) {
    for (const { table, id } of others) {
      if (table === 'signing_key') {
        changed += await reencryptSigningKeys(database, keys, id, problems);
        onProgress(Math.min(changed, total), total);
        continue;
      }
      if (table === 'webhook') {
        changed += await reencryptWebhookSecrets(database, keys, id, problems);
        onProgress(Math.min(changed, total), total);
        continue;
      }
      if (table === 'idempotency_record') {
        for await (const record of recordsOf(database, id)) {
          changed += await reencryptRecord(database, keys, record, problems);
          onProgress(Math.min(changed, total), total);
        }
        continue;
      }
      for await (const batch of batchesOf(database, table, id)) {
        const changes = reencrypt(keys, table, batch, problems);
        if (changes.length > 0) changed += await replaceStoredTokens(database, table, changes);
        onProgress(Math.min(changed, total), total);
      }
    }
    others = await findOthers();
  }
  return { changed, remaining: others, problems: [...problems] };
}

/** Encrypts the few signing keys that use the key with this id. Returns how many it did. */
async function reencryptSigningKeys(
  database: Pick<Database, 'query'>,
  keys: KeyRing,
  id: string,
  problems: Set<string>,
): Promise<number> {
  let changed = 0;
  for (const stored of await findSigningKeysOfKey(database, id)) {
    const privateKey = tryDecrypt(() => decryptPrivateKey(keys, stored), problems);
    if (privateKey === undefined) continue;
    if (await replaceSigningKey(database, stored, encryptPrivateKey(keys, stored.id, privateKey))) changed += 1;
  }
  return changed;
}

/** Encrypts the few secrets of webhooks that use the key with this id. Returns how many it did. */
async function reencryptWebhookSecrets(
  database: Pick<Database, 'query'>,
  keys: KeyRing,
  keyId: string,
  problems: Set<string>,
): Promise<number> {
  let changed = 0;
  for (const stored of await findWebhookSecretsOfKey(database, keyId)) {
    const { id, column, encrypted } = stored;
    const secret = tryDecrypt(() => decryptWebhookSecret(keys, column, id, encrypted), problems);
    if (secret === undefined) continue;
    if (await replaceWebhookSecret(database, stored, encryptWebhookSecret(keys, column, id, secret))) changed += 1;
  }
  return changed;
}

/** Continues after the last record, for the same reason as {@link batchesOf}. */
async function* recordsOf(database: Pick<Database, 'query'>, id: string): AsyncGenerator<EncryptedRecord> {
  for (let after: EncryptedRecord | undefined; ; ) {
    const batch = await findRecordsOfKey(database, { id, after, limit: responseBatchSize });
    if (batch.length === 0) return;
    yield* batch;
    after = batch.at(-1);
  }
}

/** Encrypts a stored response. Returns how many rows it changed. */
async function reencryptRecord(
  database: Pick<Database, 'query'>,
  keys: KeyRing,
  record: EncryptedRecord,
  problems: Set<string>,
): Promise<number> {
  const response = tryDecrypt(() => decryptResponse(keys, record, record.responseEncrypted), problems);
  if (response === undefined) return 0;
  return (await replaceRecord(database, record, encryptResponse(keys, record, response))) ? 1 : 0;
}

/** Continues after the last hash, so that rows that cannot be changed are not returned again. */
async function* batchesOf(database: Pick<Database, 'query'>, table: TokenTable, id: string): AsyncGenerator<StoredToken[]> {
  for (let after: Buffer | undefined; ; ) {
    const batch = await findTokensOfKey(database, { table, id, after, limit: batchSize });
    if (batch.length === 0) return;
    yield batch;
    after = batch.at(-1)?.tokenHash;
  }
}

function reencrypt(keys: KeyRing, table: TokenTable, batch: readonly StoredToken[], problems: Set<string>): Reencryption[] {
  return batch.flatMap((stored) => {
    const token = tryDecrypt(() => decryptToken(keys, table, stored), problems);
    return token === undefined ? [] : { previousHash: stored.tokenHash, ...encryptToken(keys, table, token) };
  });
}

/** What is decrypted; undefined, with the reason among the problems, if it cannot be. */
function tryDecrypt(decrypt: () => string, problems: Set<string>): string | undefined {
  try {
    return decrypt();
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    if (problems.size < 10) problems.add(error.message);
    return undefined;
  }
}
