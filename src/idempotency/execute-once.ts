import { createHash } from 'node:crypto';
import type { Caller } from '../caller.ts';
import { createSemaphore } from '../concurrency/fair-queue.ts';
import type { Database } from '../database/client.ts';
import type { Transaction } from '../database/transaction.ts';
import type { KeyRing } from '../encryption/keys.ts';
import type { Services } from '../user-groups/user-groups.ts';
import { asKeyedError, keyInUse, keyReused, tooLargeToStore } from './errors.ts';
import { idempotencyLimits } from './limits.ts';
import { decryptResponse, encryptResponse, findRecord, storeRecord, tryLockRequest } from './statements.ts';

const { maxKeyedTransactions, maxWaitingKeyedTransactions, maxStoredResponseBytes } = idempotencyLimits;

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  /** The key: 1 to 255 characters. */
  readonly key: string;
  /** Everything that the effect and the response depend on. Hashed; two requests with one key must have the same. */
  readonly content: string;
}

/** What came of the execution of a request. */
export interface Execution {
  /** The response as a text. */
  readonly response: string;
  /** Whether to commit the changes and to keep the response. Otherwise nothing was changed, and the key can be used again. */
  readonly isKept: boolean;
}

/**
 * Executes a request once, or returns the response that was stored when it was executed. The changes and the response are
 * committed in one transaction, so that the same request can fetch a response that did not arrive.
 *
 * @param execute takes the services whose database is the transaction. What it throws undoes all changes.
 * @returns the response as a text, and whether it is a stored one.
 * @throws GatewayError `IDEMPOTENCY_KEY_IN_USE` while the request is being executed, `IDEMPOTENCY_KEY_REUSED` when the response
 *   is that of another request, `QUERY_TOO_COSTLY` when the response is too large to be stored, `UNAVAILABLE`. Unauthenticated
 *   for an anonymous caller.
 */
export type ExecuteOnce = (
  caller: Caller,
  request: KeyedRequest,
  execute: (services: Services) => Promise<Execution>,
) => Promise<{ readonly response: string; readonly isReplayed: boolean }>;

/**
 * Creates a function that executes requests once.
 *
 * @param bind creates the services of a transaction.
 */
export function createExecuteOnce(
  database: Pick<Database, 'interactiveTransaction' | 'poolSize'>,
  keys: KeyRing,
  bind: (transaction: Transaction) => Services,
): ExecuteOnce {
  const connections = Math.max(1, Math.floor(database.poolSize / 2));
  // Apart from the reads, because a request may read pages while it has a place: in one queue they could wait for each other.
  const permits = createSemaphore(
    Math.min(maxKeyedTransactions, connections),
    maxWaitingKeyedTransactions,
    'requests with an Idempotency-Key',
  );

  return async (caller, { key, content }, execute) => {
    caller.requireCredential();
    const request = { apiTokenId: caller.apiToken?.id ?? 0, keyHash: sha256(key), fingerprint: sha256(content) };
    const work = async (transaction: Transaction) => {
      if (!(await tryLockRequest(transaction, request))) throw keyInUse();
      const record = await findRecord(transaction, request);
      if (record) {
        if (!record.fingerprint.equals(request.fingerprint)) throw keyReused();
        return { response: decryptResponse(keys, request, record.responseEncrypted), isReplayed: true };
      }
      const { response, isKept } = await execute(bind(transaction));
      if (!isKept) throw new NotKept(response);
      if (Buffer.byteLength(response) > maxStoredResponseBytes) throw tooLargeToStore();
      await storeRecord(transaction, request, encryptResponse(keys, request, response));
      return { response, isReplayed: false };
    };
    try {
      return await permits.run(caller.queueKey, () => database.interactiveTransaction(work));
    } catch (error) {
      if (error instanceof NotKept) return { response: error.response, isReplayed: false };
      throw asKeyedError(error);
    }
  };
}

/** Ends a transaction whose response is sent, but not kept. */
class NotKept extends Error {
  readonly response: string;

  constructor(response: string) {
    super('The response is not kept.');
    this.response = response;
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
