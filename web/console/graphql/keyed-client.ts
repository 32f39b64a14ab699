import { createIdempotencyKey, staysUnknown } from '../../idempotency-key.ts';
import { stringify } from '../../raw-json.ts';
import type { Client } from './client.ts';
import { Failure, toFailure } from './failure.ts';
import { CreateEmbedToken, SendTestEvent } from './generated.ts';

/** A client whose changes are made once. */
export interface KeyedClient extends Client {
  /** Forgets the changes of which it is not known whether they were made. */
  forget(): void;
}

/**
 * A client whose changes are made once, however often they are sent. Each has an Idempotency-Key, which it keeps while it is not
 * known whether the change was made: the same change, sent again within 24 hours, gets the response of the first. Of changes that
 * replace what an earlier one may have done, only the latest keeps its key: the response to an earlier one is no longer true.
 *
 * @param onReplayed called when it does: what it says may have been changed by others since.
 */
export function keyedClient(client: Client, onReplayed?: () => void): KeyedClient {
  /** The keys of changes of which it is not known whether they were made, by what was sent. */
  const keys = new Map<string, string>();
  return {
    forget: () => keys.clear(),
    async send(document, variables, options) {
      // Fragments may come first. An embed token is no change: one that is stored for a key may have expired by then.
      if (!/\bmutation\b/.test(document) || document === (CreateEmbedToken as string))
        return client.send(document, variables, options);
      // Sent with each click: the webhook may be another one.
      if (document === (SendTestEvent as string))
        return client.send(document, variables, { ...options, idempotencyKey: createIdempotencyKey() });
      const change = stringify([document, variables]);
      if (replacing.test(document)) for (const other of keys.keys()) if (other !== change) keys.delete(other);
      const idempotencyKey = keys.get(change) ?? createIdempotencyKey();
      try {
        const response = await client.send(document, variables, { ...options, idempotencyKey }).catch((error) => {
          // Nothing was changed: the response is too large to be stored.
          if (toFailure(error).code === 'QUERY_TOO_COSTLY') return client.send(document, variables, options);
          throw error;
        });
        keys.delete(change);
        if (response.isReplayed) onReplayed?.();
        return response;
      } catch (error) {
        const failure = toFailure(error);
        if (!staysUnknown(failure, keys.has(change))) {
          keys.delete(change);
          throw failure;
        }
        keys.set(change, idempotencyKey);
        throw new Failure(failure.code, failure.message, { ...failure, isOutcomeUnknown: true });
      }
    },
  };
}

/** Changes that replace what an earlier one may have done, and that a person can start while one is not known to be made. */
const replacing = /\bmutation RedeliverEvents/;
