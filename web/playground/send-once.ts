import { createIdempotencyKey } from '../idempotency-key.ts';

const keyHeader = 'idempotency-key';

interface Response {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message?: string; readonly extensions?: { readonly code?: string } }[];
}

/** Sends a request. @returns the response, parsed. @throws if there is none. */
type Send = (headers: Headers, body: string) => Promise<Response | null>;

/**
 * Sends a mutation with an Idempotency-Key, unless the person gives one: browsers send a request again by themselves when its
 * connection is reset. When one that had no result is sent again, it has the same key.
 */
export function onceOnly(send: Send): (query: string, ...request: Parameters<Send>) => ReturnType<Send> {
  /** The keys of the mutations that have no result yet. */
  const keys = new Map<string, string>();
  const unanswered = new Set<string>();
  // A reload forgets the keys: a mutation that was executed would be executed again.
  addEventListener('beforeunload', (event) => {
    if (unanswered.size > 0) event.preventDefault();
  });
  return async (query, headers, body) => {
    if (headers.has(keyHeader) || !/\bmutation\b/.test(query)) return send(headers, body);
    const request = JSON.stringify([...headers, body]);
    const key = keys.get(request) ?? createIdempotencyKey();
    keys.set(request, key);
    unanswered.add(request);
    const response = await send(new Headers([...headers, [keyHeader, key]]), body);
    const hasResult = response?.data != null;
    if (hasResult) keys.delete(request);
    // UNAVAILABLE says of a mutation that it may have been executed.
    const { message, extensions } = response?.errors?.[0] ?? {};
    const isAnswered = hasResult || extensions?.code !== 'UNAVAILABLE';
    if (isAnswered) unanswered.delete(request);
    // Several mutations, or a response that is too large to be stored.
    const isRefused = !hasResult && isAnswered && message?.includes(' with an Idempotency-Key');
    return isRefused ? send(headers, body) : response;
  };
}
