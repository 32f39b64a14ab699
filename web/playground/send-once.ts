import { parse, print } from 'graphql';
import { createIdempotencyKey, staysUnknown } from '../idempotency-key.ts';
import { withoutSpace } from '../raw-json.ts';

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
  /** Mutations of which it is not known whether they were executed, or of which there is no response yet: key and body. */
  const unknown = new Map<string, { readonly key: string; readonly body: string }>();
  // A reload forgets them: a mutation that was executed would be executed again.
  addEventListener('beforeunload', (event) => {
    if (unknown.size > 0) event.preventDefault();
  });
  return async (query, headers, body) => {
    if (headers.has(keyHeader) || !/\bmutation\b/.test(query)) return send(headers, body);
    // Prettify of the document, or a comment, makes no other request of it.
    const request = JSON.stringify([...headers, prettified(query), withoutSpace(body.replace(JSON.stringify(query), ''))]);
    const former = unknown.get(request);
    const sent = former ?? { key: createIdempotencyKey(), body };
    unknown.set(request, sent);
    const keyed = await send(new Headers([...headers, [keyHeader, sent.key]]), sent.body);
    const response = needsNoKey(keyed) ? await send(headers, body) : keyed;
    const { message = '', extensions } = response?.errors?.[0] ?? {};
    const code = extensions?.code;
    const isUnknown = code === undefined || staysUnknown({ code, message }, former !== undefined);
    if (response?.data != null || !isUnknown) unknown.delete(request);
    return response;
  };
}

/** A document as Prettify writes it, unless it is none. */
function prettified(query: string): string {
  try {
    return print(parse(query));
  } catch {
    return query;
  }
}

/** Whether a mutation was refused because of its key: several, or one whose response is too large to be stored. */
function needsNoKey(response: Response | null): boolean {
  const { message, extensions } = response?.errors?.[0] ?? {};
  // UNAVAILABLE says it of what may have been executed.
  return response?.data == null && extensions?.code !== 'UNAVAILABLE' && message?.includes(' with an Idempotency-Key') === true;
}
