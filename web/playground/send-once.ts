import { createIdempotencyKey, staysUnknown } from '../idempotency-key.ts';

const keyHeader = 'idempotency-key';

interface Response {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message?: string; readonly extensions?: { readonly code?: string } | null }[];
}

/** Sends a request. @returns the response, parsed. @throws if there is none. */
type Send = (headers: Headers, body: string) => Promise<Response | null>;

/**
 * Sends a mutation with an Idempotency-Key, unless the person gives one: browsers send a request again by themselves when its
 * connection is reset. When it is sent again while it is not known whether it was executed, it has the same key.
 */
export function onceOnly(send: Send): (query: string, ...request: Parameters<Send>) => ReturnType<Send> {
  /** Mutations of which it is not known whether they were executed, or of which there is no response yet: their keys. */
  const unknown = new Map<string, string>();
  // A reload forgets them: a mutation that was executed would be executed again.
  addEventListener('beforeunload', (event) => {
    if (unknown.size > 0) event.preventDefault();
  });
  return async (query, headers, body) => {
    if (headers.has(keyHeader) || !/\bmutation\b/.test(query)) return send(headers, body);
    const request = JSON.stringify([...headers, body]);
    const former = unknown.get(request);
    const key = former ?? createIdempotencyKey();
    unknown.set(request, key);
    const keyed = await send(new Headers([...headers, [keyHeader, key]]), body);
    const response = needsNoKey(keyed) ? await send(headers, body) : keyed;
    const { message = '', extensions } = response?.errors?.[0] ?? {};
    const code = extensions?.code;
    const isUnknown = code === undefined || staysUnknown({ code, message }, former !== undefined);
    if (response?.data != null || !isUnknown) unknown.delete(request);
    return response;
  };
}

/** Whether a mutation was refused because of its key: several, or one whose response is too large to be stored. */
function needsNoKey(response: Response | null): boolean {
  const { message, extensions } = response?.errors?.[0] ?? {};
  // UNAVAILABLE says it of what may have been executed.
  return response?.data == null && extensions?.code !== 'UNAVAILABLE' && message?.includes(' with an Idempotency-Key') === true;
}
