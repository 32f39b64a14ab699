import { Agent } from 'node:http';
import { type Reply as CompleteReply, type RequestOptions as Options, sendUnchecked } from '../test/support/send-unchecked.ts';

/** A response. Status 0 means that the connection ended without one; then the text is the code of the error. */
export interface Reply extends CompleteReply {
  readonly milliseconds: number;
}

/** What a request has apart from method and path. Without an agent, each request has a connection of its own. */
export interface RequestOptions extends Options {
  readonly idempotencyKey?: string | undefined;
}

/** Longer than any time limit of the gateway. */
const timeoutMs = 45_000;

/** Sends a request to a gateway on this machine. Never rejects. */
export async function send(port: number, method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
  const { idempotencyKey, ...rest } = options;
  const headers = { ...rest.headers, ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }) };
  const startedAt = performance.now();
  const own = { agent: false as const, signal: AbortSignal.timeout(timeoutMs), ...rest, headers };
  const reply = await sendUnchecked(`http://127.0.0.1:${port}`, method, path, own).catch((error: NodeJS.ErrnoException) => ({
    status: 0,
    headers: new Headers(),
    text: error.code ?? error.message,
    json: undefined,
  }));
  return { ...reply, milliseconds: performance.now() - startedAt };
}

/** Sends a GraphQL operation. */
export const sendGraphQL = (port: number, query: string, variables: object, options: RequestOptions = {}): Promise<Reply> =>
  send(port, 'POST', '/graphql', { ...options, body: { query, variables } });

/** Whether a gateway is ready. */
export const isReady = async (port: number): Promise<boolean> => (await send(port, 'GET', '/readyz')).status === 200;

/** An agent whose connections are kept. */
export const createAgent = (): Agent => new Agent({ keepAlive: true });

/** Whether a response says that the gateway cannot serve now, and when to try again. */
export const isRefusal = ({ status, headers, text }: Reply): boolean =>
  (status === 503 || status === 429) && Number(headers.get('retry-after')) > 0 && /UNAVAILABLE|RATE_LIMITED/.test(text);
