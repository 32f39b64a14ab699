import type { Client, Response } from './client.ts';
import type { TypedDocument } from './document.ts';
import { Failure } from './failure.ts';

/** The page that a query was sent for. */
export interface SentPage<Result, Variables> {
  readonly response: Response<Result>;
  /** The variables whose page is in the response: with fewer items than were asked for, if those did not fit into one. */
  readonly variables: Variables;
}

/**
 * Sends a query of a page. One that is too large for a response, because its items are, is sent with half as many items until it
 * fits: otherwise a few large items would hide all others.
 *
 * @throws Failure also when a single item does not fit.
 */
export async function sendPage<Result, Variables>(
  client: Client,
  document: TypedDocument<Result, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<SentPage<Result, Variables>> {
  for (let sent = variables; ; ) {
    try {
      return { response: await client.send(document, sent, { signal }), variables: sent };
    } catch (error) {
      const smaller = error instanceof Failure && error.code === 'QUERY_TOO_COSTLY' ? halve(sent) : undefined;
      if (!smaller) throw error;
      sent = smaller;
    }
  }
}

/** The variables of half the page; undefined if they are not of a page, or of one item. */
function halve<Variables>(variables: Variables): Variables | undefined {
  const { first, last } = variables as { readonly first?: unknown; readonly last?: unknown };
  const name = typeof last === 'number' ? 'last' : 'first';
  const size = name === 'last' ? last : first;
  return typeof size === 'number' && size > 1 ? { ...variables, [name]: Math.floor(size / 2) } : undefined;
}
