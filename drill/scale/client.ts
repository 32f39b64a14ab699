import { createAgent, type Reply as Response, sendGraphQL } from '../client.ts';

/**
 * The outcome of a request: `served`, `unavailable` (503 with Retry-After), `rejected` (401), `closed` without a response, or
 * `wrong`, which is anything else.
 */
export type Outcome = 'served' | 'unavailable' | 'rejected' | 'closed' | 'wrong';

/** A response, with its data if it was served. */
export interface Reply {
  readonly outcome: Outcome;
  readonly data: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Sends a GraphQL request to one gateway. Never rejects. */
export type Send = (token: string, query: string, variables: object) => Promise<Reply>;

/** Creates a client of one gateway, which keeps its connections. */
export function createClient(port: number): { readonly send: Send; close(): void } {
  const agent = createAgent();
  return {
    send: async (token, query, variables) => classify(await sendGraphQL(port, query, variables, { token, agent })),
    close: () => agent.destroy(),
  };
}

interface Body {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

function classify({ status, headers, text, json }: Response): Reply {
  const { data, errors } = (json ?? {}) as Body;
  const outcomeOf = (): Outcome => {
    if (status === 0) return 'closed';
    if (status === 503) return headers.get('retry-after') ? 'unavailable' : 'wrong';
    if (status === 401) return 'rejected';
    if (status === 200 && data && !errors) return 'served';
    return errors?.[0]?.extensions?.code === 'UNAUTHENTICATED' ? 'rejected' : 'wrong';
  };
  return { outcome: outcomeOf(), data: data ?? {}, text: status === 0 ? text : `${status} ${text.slice(0, 300)}` };
}
