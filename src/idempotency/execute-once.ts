import { AsyncResource } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Caller } from '../caller.ts';
import { createSemaphore, type QueueKey } from '../concurrency/fair-queue.ts';
import { StoredBytes } from '../concurrency/sliding-window.ts';
import { createWriteLoader, type Load } from '../database/batch-loader.ts';
import type { Database } from '../database/client.ts';
import { isUnavailable } from '../database/errors.ts';
import type { Transaction } from '../database/transaction.ts';
import type { KeyRing } from '../encryption/keys.ts';
import type { Services } from '../user-groups/user-groups.ts';
import { asKeyedError, keyInUse, keyReused, tooLargeToStore, tooMuchStored } from './errors.ts';
import { idempotencyLimits } from './limits.ts';
import {
  decryptResponse,
  encryptResponse,
  findRecords,
  type RecordId,
  type StoredResponse,
  storeRecords,
  tryLockRequests,
} from './statements.ts';

const { maxKeyedTransactions, maxWaitingKeyedTransactions, maxStoredResponseBytes, maxSharedResponseBytes } = idempotencyLimits;
const { minCountedResponseBytes: minBytes, maxStoredBytesPerApiToken: maxBytes } = idempotencyLimits;

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  /** The key: 1 to 255 characters. */
  readonly key: string;
  /** Everything that the effect and the response depend on. Hashed; two requests with one key must have the same. */
  readonly content: string;
  /**
   * What `sharingOf` returns, if the request may share a transaction with others for which it is the same, and so their
   * statements and the commit. Not for one that takes long.
   */
  readonly sharedAs?: string | undefined;
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
 *   is that of another request, `QUERY_TOO_COSTLY` when the response is too large to be stored, or the API token has stored too
 *   much, `UNAVAILABLE`. Unauthenticated for an anonymous caller.
 */
export type ExecuteOnce = (
  caller: Caller,
  request: KeyedRequest,
  execute: (services: Services) => Promise<Execution>,
) => Promise<{ readonly response: string; readonly isReplayed: boolean }>;

/** A request that is to be executed once. */
interface Unit extends RecordId {
  readonly fingerprint: Buffer;
  readonly queueKey: QueueKey;
  readonly execute: (services: Services) => Promise<Execution>;
}

/** The response to a unit, and whether it is a stored one. */
type Executed = Awaited<ReturnType<ExecuteOnce>>;

/** What came of a unit that shared a transaction: also that it failed, if it is not to be tried again. */
type Outcome = Executed | PromiseRejectedResult;

/**
 * Creates a function that executes requests once.
 *
 * Those that may share a transaction are gathered as statements are. If one of several fails, or its response is not kept, their
 * transaction is undone; it is executed in one of its own, and the others together once more.
 *
 * @param bind creates the services of a transaction.
 * @param stored counts what is stored for each API token.
 */
export function createExecuteOnce(
  database: Pick<Database, 'interactiveTransaction' | 'poolSize'>,
  keys: KeyRing,
  bind: (transaction: Transaction) => Services,
  stored = new StoredBytes({ minBytes, maxBytes }),
): ExecuteOnce {
  const connections = Math.max(1, Math.floor(database.poolSize / 2));
  // Apart from the reads, because a request may read pages while it has a place: in one queue they could wait for each other.
  const permits = createSemaphore(
    Math.min(maxKeyedTransactions, connections),
    maxWaitingKeyedTransactions,
    'requests with an Idempotency-Key',
  );
  const loaders = new Map<string, Load<Unit, Outcome>>();

  /** Executes a unit together with others that may share its transaction. @returns nothing if it is to be executed alone. */
  function executeShared(sharedAs: string, unit: Unit): Promise<Outcome | undefined> {
    const load =
      loaders.get(sharedAs) ?? createWriteLoader((units) => permits.run(units[0]?.queueKey, () => executeGroup(units)));
    loaders.set(sharedAs, load);
    return load(unit, unit.queueKey);
  }

  /** @returns by index; none for a unit that fails because of itself. */
  async function executeGroup(units: readonly Unit[]): Promise<ReadonlyMap<number, Outcome>> {
    try {
      return new Map((await executeTogether(units)).entries());
    } catch (error) {
      if (units.length === 1 || isUnavailable(error)) throw error;
      const outcomes = new Map<number, Outcome>();
      if (!(error instanceof SomeFailed)) return outcomes;
      const others: Unit[] = [];
      for (const [index, unit] of units.entries()) {
        const failure = error.failures.get(unit);
        if (!failure) others.push(unit);
        else if (isUnavailable(failure.reason)) outcomes.set(index, failure); // it has waited long enough
      }
      const executed = others.length > 0 ? await executeTogether(others).catch(() => []) : [];
      for (const [index, each] of executed.entries()) outcomes.set(units.indexOf(others[index] as Unit), each);
      return outcomes;
    }
  }

  /**
   * Executes units in one transaction, and stores their responses.
   *
   * @throws what a single one throws, `NotKept` too; `SomeFailed` when one of several did.
   */
  async function executeTogether(units: readonly Unit[]): Promise<readonly Executed[]> {
    const uncounts: (() => void)[] = [];
    try {
      return await database.interactiveTransaction(async (transaction) => {
        const first = { query: transaction.queryFirst };
        // The server looks for them once it has the locks.
        const [isLocked, records] = await Promise.all([tryLockRequests(first, units), findRecords(first, units)]);
        const services = bind(transaction);
        const begun = new Set<string>();
        let bytes = 0;
        const settled = await Promise.allSettled(
          units.map(async (unit, index): Promise<Executed> => {
            // The transaction holds a lock twice, too.
            const id = `${unit.apiTokenId} ${unit.keyHash.toString('hex')}`;
            if (!isLocked[index] || begun.has(id)) throw keyInUse();
            begun.add(id);
            const executed = await respondTo(unit, records.get(index), services);
            bytes += Buffer.byteLength(executed.response);
            if (units.length > 1 && bytes > maxSharedResponseBytes) throw new Error('The responses are too large together.');
            if (!executed.isReplayed) uncounts.push(countStored(unit, executed.response));
            return executed;
          }),
        );
        const executed = assertFulfilled(units, settled);
        const created = units.filter((_, index) => !executed[index]?.isReplayed);
        const responses = executed.filter(({ isReplayed }) => !isReplayed).map(({ response }) => response);
        const encrypted = created.map((unit, index) => encryptResponse(keys, unit, responses[index] as string));
        if (created.length > 0) storeRecords(transaction, created, encrypted);
        return executed;
      });
    } catch (error) {
      // Otherwise the responses may be stored.
      if (!isUnavailable(error)) for (const uncount of uncounts) uncount();
      throw error;
    }
  }

  async function respondTo(unit: Unit, record: StoredResponse | undefined, services: Services): Promise<Executed> {
    if (record) {
      if (!record.fingerprint.equals(unit.fingerprint)) throw keyReused();
      return { response: decryptResponse(keys, unit, record.responseEncrypted), isReplayed: true };
    }
    const { response, isKept } = await unit.execute(services);
    if (!isKept) throw new NotKept(response);
    return { response, isReplayed: false };
  }

  /** Counts a response that is to be stored. @returns what takes that back. */
  function countStored({ apiTokenId }: Unit, response: string): () => void {
    const bytes = Buffer.byteLength(response);
    if (bytes > maxStoredResponseBytes) throw tooLargeToStore();
    const takeBack = stored.admit(apiTokenId, bytes);
    if (!takeBack) throw tooMuchStored();
    return takeBack;
  }

  return async (caller, { key, content, sharedAs }, execute) => {
    caller.requireCredential();
    const { queueKey } = caller;
    const unit: Unit = {
      apiTokenId: caller.apiToken?.id ?? 0,
      keyHash: sha256(key),
      fingerprint: sha256(content),
      queueKey,
      // Traced as a part of its own request, not of the one whose statements it shares.
      execute: AsyncResource.bind(execute),
    };
    try {
      const executed = sharedAs === undefined ? undefined : await executeShared(sharedAs, unit);
      if (executed && 'reason' in executed) throw executed.reason;
      return executed ?? ((await permits.run(queueKey, () => executeTogether([unit])))[0] as Executed);
    } catch (error) {
      if (error instanceof NotKept) return { response: error.response, isReplayed: false };
      throw asKeyedError(error);
    }
  };
}

/** @throws what the only unit threw; `SomeFailed`. */
function assertFulfilled(units: readonly Unit[], settled: readonly PromiseSettledResult<Executed>[]): Executed[] {
  const failures = new Map(
    settled.flatMap((each, index) => (each.status === 'rejected' ? [[units[index] as Unit, each] as const] : [])),
  );
  if (failures.size > 0 && units.length > 1) throw new SomeFailed(failures);
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}

/** Ends a transaction of which a part failed. */
class SomeFailed extends Error {
  readonly failures: ReadonlyMap<Unit, PromiseRejectedResult>;

  constructor(failures: ReadonlyMap<Unit, PromiseRejectedResult>) {
    super('Some of the requests failed.');
    this.failures = failures;
  }
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
