import { setTimeout as pause } from 'node:timers/promises';
import { createAgent, type Reply as Response, send, sendGraphQL } from '../client.ts';

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

/** A client of one gateway. Its requests never reject. */
export interface Client {
  /** Sends a GraphQL request with an API token. */
  send(token: string, query: string, variables: object): Promise<Reply>;
  /** Introspects a user group token or an embed token, with an API token; `active` is in the data. */
  introspect(token: string, introspected: string): Promise<Reply>;
  close(): void;
}

/** Creates a client, which keeps its connections. */
export function createClient(port: number): Client {
  const agent = createAgent();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return {
    send: async (token, query, variables) => classify(await sendGraphQL(port, query, variables, { token, agent })),
    async introspect(token, introspected) {
      const body = new URLSearchParams({ token: introspected }).toString();
      const response = await send(port, 'POST', '/oauth2/introspect', { token, agent, headers, body });
      return classify({ ...response, json: response.status === 200 ? { data: response.json } : response.json });
    },
    close: () => agent.destroy(),
  };
}

/** The pause after a request that was not served. */
export const retryMs = 50;

/** Sends a request again until it is served, for half a minute. @returns the last response. */
export async function untilServed(ask: () => Promise<Reply>): Promise<Reply> {
  let reply = await ask();
  for (const deadline = Date.now() + 30_000; reply.outcome !== 'served' && Date.now() < deadline; await pause(retryMs))
    reply = await ask();
  return reply;
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
