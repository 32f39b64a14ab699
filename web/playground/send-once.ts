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
 * connection is reset. If it has no result, it has the same key when it is sent again before another one.
 */
export function onceOnly(send: Send): (query: string, ...request: Parameters<Send>) => ReturnType<Send> {
  /** The latest mutation, and its key until there is a result. */
  let latest = { request: '', key: '' };
  return async (query, headers, body) => {
    if (headers.has(keyHeader) || !/\bmutation\b/.test(query)) return send(headers, body);
    const request = JSON.stringify([...headers, body]);
    if (latest.request !== request) latest = { request, key: createIdempotencyKey() };
    const response = await send(new Headers([...headers, [keyHeader, latest.key]]), body);
    const hasResult = response?.data != null;
    if (hasResult && latest.request === request) latest = { request: '', key: '' };
    // Several mutations, or a response that is too large to be stored. UNAVAILABLE says it of what may have been made.
    const { message, extensions } = response?.errors?.[0] ?? {};
    const isRefused = !hasResult && extensions?.code !== 'UNAVAILABLE' && message?.includes(' with an Idempotency-Key');
    return isRefused ? send(headers, body) : response;
  };
}
