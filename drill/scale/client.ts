import { Agent, request as httpRequest } from 'node:http';

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

/** Longer than any time limit of the gateway. */
const timeoutMs = 40_000;

/** Creates a client of one gateway, which keeps its connections. */
export function createClient(port: number): { readonly send: Send; close(): void } {
  const agent = new Agent({ keepAlive: true });
  const send: Send = (token, query, variables) => {
    const body = JSON.stringify({ query, variables });
    const headers = {
      authorization: `Token ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    return new Promise((resolve) => {
      const options = { host: '127.0.0.1', port, path: '/graphql', method: 'POST', headers, agent, timeout: timeoutMs };
      const request = httpRequest(options, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', () => resolve(classify(incoming.statusCode ?? 0, incoming.headers['retry-after'], text)));
        incoming.on('error', (error) => resolve({ outcome: 'closed', data: {}, text: error.message }));
      });
      request.on('timeout', () => request.destroy(new Error('no response')));
      request.on('error', (error) => resolve({ outcome: 'closed', data: {}, text: error.message }));
      request.end(body);
    });
  };
  return { send, close: () => agent.destroy() };
}

interface Body {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

function classify(status: number, retryAfter: string | undefined, text: string): Reply {
  const { data, errors } = parse(text);
  const outcomeOf = (): Outcome => {
    if (status === 503) return retryAfter ? 'unavailable' : 'wrong';
    if (status === 401) return 'rejected';
    if (status === 200 && data && !errors) return 'served';
    return errors?.[0]?.extensions?.code === 'UNAUTHENTICATED' ? 'rejected' : 'wrong';
  };
  return { outcome: outcomeOf(), data: data ?? {}, text: `${status} ${text.slice(0, 300)}` };
}

function parse(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
}
