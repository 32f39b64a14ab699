import type { Logger } from 'pino';
import { runPeriodically } from '../concurrency/periodic.ts';
import type { Database } from '../database/client.ts';
import { decryptPrivateKey, encryptPrivateKey } from '../embed-tokens/signing-keys.ts';
import { findSigningKeysOfKey, replaceSigningKey } from '../embed-tokens/statements/signing-keys.ts';
import { DecryptionError, type KeyRing } from '../encryption/keys.ts';
import { decryptToken, encryptToken } from '../encryption/stored-token.ts';
import { decryptWebhookSecret, encryptWebhookSecret } from '../webhooks/secrets.ts';
import { findWebhookSecretsOfKey, replaceWebhookSecret } from '../webhooks/statements/secrets.ts';
import {
  countRowsByKey,
  type EncryptedTable,
  findKeyIdsOfTokens,
  findKeysOfLiveTokens,
  findTokensOfKey,
  type KeyUse,
  replaceStoredTokens,
  type TokenTable,
} from './statements.ts';

/** How many tokens are read and written in one statement: few enough that a request waits only milliseconds for one of them. */
const batchSize = 200;

/** How often the whole is gone through, because rows may be skipped while requests change them. */
const maxPasses = 5;

/** What a re-encryption has done. */
export interface ReencryptionResult {
  /** How many tokens, signing keys and secrets of webhooks were re-encrypted. */
  readonly changed: number;
  /**
   * Rows that still use another key: those that cannot be decrypted, and those that a gateway wrote with it during the rotation.
   */
  readonly remaining: readonly KeyUse[];
  /** Why values cannot be decrypted, the first few. */
  readonly problems: readonly string[];
}

/**
 * Encrypts every user group token, signing key and secret of a webhook with the first key that uses another one. Requests continue during the rotation: a token that one of them rotates at the same moment is the request's. It can be
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
  /** What is decrypted; undefined, with the reason among the problems, if it cannot be. */
  const tryDecrypt: TryDecrypt = (decrypt) => {
    try {
      return decrypt();
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      if (problems.size < 10) problems.add(error.message);
      return undefined;
    }
  };
  let changed = 0;

  for (let pass = 0; pass < maxPasses && others.length > 0; pass += 1) {
    for (const { table, id } of others) {
      for await (const rows of reencryptions[table](id, database, keys, tryDecrypt)) {
        changed += rows;
        onProgress(Math.min(changed, total), total);
      }
    }
    others = await findOthers();
  }
  return { changed, remaining: others, problems: [...problems] };
}

type TryDecrypt = (decrypt: () => string) => string | undefined;

/** Encrypts the values of a table that use the key with this id. Yields how many were changed, after each batch. */
type Reencrypt = (id: string, database: Pick<Database, 'query'>, keys: KeyRing, tryDecrypt: TryDecrypt) => AsyncGenerator<number>;

/** Continues after the last hash, so that rows that cannot be changed are not returned again. */
const reencryptTokens = (table: TokenTable): Reencrypt =>
  async function* (id, database, keys, tryDecrypt) {
    for (let after: Buffer | undefined; ; ) {
      const batch = await findTokensOfKey(database, { table, id, after, limit: batchSize });
      if (batch.length === 0) return;
      const changes = batch.flatMap((stored) => {
        const token = tryDecrypt(() => decryptToken(keys, table, stored));
        return token === undefined ? [] : { previousHash: stored.tokenHash, ...encryptToken(keys, table, token) };
      });
      yield changes.length > 0 ? await replaceStoredTokens(database, table, changes) : 0;
      after = batch.at(-1)?.tokenHash;
    }
  };

/** What is encrypted, by its table. */
const reencryptions: Readonly<Record<EncryptedTable, Reencrypt>> = {
  user_group: reencryptTokens('user_group'),
  retired_token: reencryptTokens('retired_token'),
  async *signing_key(id, database, keys, tryDecrypt) {
    for (const stored of await findSigningKeysOfKey(database, id)) {
      const privateKey = tryDecrypt(() => decryptPrivateKey(keys, stored));
      if (privateKey === undefined) continue;
      yield Number(await replaceSigningKey(database, stored, encryptPrivateKey(keys, stored.id, privateKey)));
    }
  },
  async *webhook(keyId, database, keys, tryDecrypt) {
    for (const stored of await findWebhookSecretsOfKey(database, keyId)) {
      const { id, column, encrypted } = stored;
      const secret = tryDecrypt(() => decryptWebhookSecret(keys, column, id, encrypted));
      if (secret === undefined) continue;
      yield Number(await replaceWebhookSecret(database, stored, encryptWebhookSecret(keys, column, id, secret)));
    }
  },
};

/** How often a gateway looks for keys that it lacks. */
const missingKeyLookMs = 30_000;

/**
 * Sees to it that `keys.missing` says whether tokens that still identify a group are stored under a key that this process lacks.
 * Until it has it, look-ups by token and `/readyz` respond with 503.
 *
 * @returns a function that ends that.
 */
export function watchMissingKeys(database: Pick<Database, 'query'>, keys: KeyRing, log: Logger): () => Promise<void> {
  const look = async () => {
    const lacking = (await findKeyIdsOfTokens(database)).filter((id) => !keys.has(id));
    const [missing] = lacking.length > 0 ? await findKeysOfLiveTokens(database, lacking) : [];
    if (missing !== undefined && missing !== keys.missing)
      log.error({ key: missing }, 'an encryption key is missing: the command doctor says where it belongs');
    if (missing === undefined && keys.missing !== undefined) log.info('no encryption key is missing any more');
    keys.missing = missing;
  };
  return runPeriodically(look, { firstDelayMs: 0, nextDelayMs: () => missingKeyLookMs, onFailure: () => {} });
}
