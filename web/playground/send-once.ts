import { createIdempotencyKey } from '../idempotency-key.ts';

const keyHeader = 'idempotency-key';

/** Sends a request. @returns the response, parsed. @throws if there is none. */
// biome-ignore lint/suspicious/noExplicitAny: GraphiQL shows whatever the response is
type Send = (headers: Headers, body: string) => Promise<any>;

/**
 * Sends a mutation with an Idempotency-Key, unless the person gives one: browsers send a request again by themselves when its
 * connection is reset. A request that had no result has the same key when it is sent again.
 */
export function onceOnly(send: Send): Send {
  /** The keys of requests without a result. */
  const keys = new Map<string, string>();
  return async (headers, body) => {
    if (headers.has(keyHeader) || !/\bmutation\b/.test(body)) return send(headers, body);
    const request = JSON.stringify([...headers, body]);
    const key = keys.get(request) ?? createIdempotencyKey();
    keys.set(request, key);
    const response = await send(new Headers([...headers, [keyHeader, key]]), body);
    const hasResult = response?.data != null;
    if (hasResult) keys.delete(request);
    return !hasResult && unkeyed.has(response?.errors?.[0]?.extensions?.code) ? send(headers, body) : response;
  };
}

/** With a key, what is refused before anything is changed: several mutations, and a response that is too large to be stored. */
const unkeyed: ReadonlySet<unknown> = new Set(['INVALID_INPUT', 'QUERY_TOO_COSTLY']);
