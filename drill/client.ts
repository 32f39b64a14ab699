import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** A response. Status 0 means that the connection ended without one. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body; without a response, the code of the error. */
  readonly text: string;
  /** The body as JSON; `undefined` if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of every form
  readonly json: any;
  readonly milliseconds: number;
}

/** What a request has apart from method and path. */
export interface RequestOptions {
  readonly token?: string;
  readonly idempotencyKey?: string;
  readonly body?: object;
  /** Keeps connections. Without one, each request has its own. */
  readonly agent?: Agent;
}

/** Longer than any time limit of the gateway. */
const timeoutMs = 45_000;

/** Sends a request to a gateway on this machine. Never rejects. */
export function send(port: number, method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
  const { token, idempotencyKey, body, agent = false } = options;
  const payload = body && JSON.stringify(body);
  const headers = {
    ...(token !== undefined && { authorization: `Token ${token}` }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
  };
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, text: string, responseHeaders: IncomingHttpHeaders = {}) =>
      resolve({ status, headers: responseHeaders, text, json: parse(text), milliseconds: performance.now() - began });
    const fail = (error: NodeJS.ErrnoException) => end(0, error.code ?? error.message);
    const target = { host: '127.0.0.1', port, method, path, headers, agent, timeout: timeoutMs };
    const request = httpRequest(target, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      incoming.on('end', () => end(incoming.statusCode ?? 0, text, incoming.headers));
      incoming.on('error', fail);
    });
    request.on('timeout', () => request.destroy(new Error(`no response within ${timeoutMs / 1_000} s`)));
    request.on('error', fail);
    request.end(payload);
  });
}

/** Sends a GraphQL operation. */
export const sendGraphQL = (port: number, query: string, variables: object, options: RequestOptions = {}): Promise<Reply> =>
  send(port, 'POST', '/graphql', { ...options, body: { query, variables } });

/** An agent whose connections are kept. */
export const createAgent = (): Agent => new Agent({ keepAlive: true });

/** Whether it is unknown if a request was executed: it has no response, or one that says so. */
export const isUnknown = ({ status }: Reply): boolean => status === 0 || status === 503;

/** Whether a response says that the gateway cannot serve now, and when to try again. */
export const isRefusal = ({ status, headers, text }: Reply): boolean =>
  (status === 503 || status === 429) && Number(headers['retry-after']) > 0 && /UNAVAILABLE|RATE_LIMITED/.test(text);

/** Whether the first request with the same Idempotency-Key is still being executed. */
export const isKeyInUse = ({ text }: Reply): boolean => /"IDEMPOTENCY_KEY_IN_USE"/.test(text);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
