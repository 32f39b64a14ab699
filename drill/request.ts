import { request as httpRequest } from 'node:http';
import type { Outcome } from './row.ts';

/** The response to a request, or how it ended without one. */
export interface Reply {
  /** `unclear` is a 4xx, or a 200 with errors, without a code or without a useful message. */
  readonly outcome: Outcome | '5xx' | '3xx' | 'unclear' | 'timeout';
  /** 0 without a response. */
  readonly status: number;
  /** The error code of the problem or the first error. */
  readonly code: string;
  /** The problem's detail or the first error's message; without a response, how the connection ended. */
  readonly text: string;
  readonly milliseconds: number;
  /** Whether the request had a credential, as far as the drill knows: one that is sent as bytes counts as one without. */
  readonly isAuthorized: boolean;
}

/** A request that an HTTP client can send. */
export interface RequestOptions {
  readonly method?: string;
  readonly path?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text or bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** How much of a response is kept; the rest is counted and discarded. */
const keptBytes = 2_097_152;

/** Sends a request on a new connection. Never rejects. */
export function sendRequest(port: number, options: RequestOptions, signal: AbortSignal): Promise<Reply> {
  const { method = 'POST', path = '/graphql', token, body } = options;
  const payload =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const headers = {
    ...(token !== undefined && { authorization: `Token ${token}` }),
    ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    ...options.headers,
  };
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, text: string, retryAfter?: string) =>
      resolve({
        ...readReply({ status, body: text, retryAfter }, performance.now() - began, signal.aborted),
        isAuthorized: token !== undefined,
      });
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false, signal }, (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        if (bytes < keptBytes) chunks.push(chunk);
        bytes += chunk.length;
      });
      incoming.on('end', () => {
        end(incoming.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'), incoming.headers['retry-after']);
      });
      incoming.on('error', (error) => end(0, `the response was cut off: ${error.message}`));
    });
    request.on('error', (error) => end(0, error.message));
    request.end(payload);
  });
}

/** What of a response is classified. Status 0 means that there is none, and the body then says how the connection ended. */
interface Received {
  readonly status: number;
  readonly body: string;
  /** The value of `Retry-After`. */
  readonly retryAfter?: string | undefined;
}

/** Classifies a response to a request without a credential. */
export function readReply({ status, body, retryAfter }: Received, milliseconds: number, ended: boolean): Reply {
  const rest = { status, milliseconds, isAuthorized: false };
  if (status === 0) return { outcome: ended ? 'timeout' : 'closed', code: '', text: body, ...rest };
  const { code, text, hasErrors } = readFailure(body);
  // Only one that says so, and when to try again, is a refusal because of overload.
  const isRefusal = status === 503 && code === 'UNAVAILABLE' && text.length >= shortestAdvice && Number(retryAfter) > 0;
  return { outcome: isRefusal ? '503' : outcomeOf(status, code, text, hasErrors), code, text, ...rest };
}

/** The length of the shortest useful message. */
const shortestAdvice = 20;

function outcomeOf(status: number, code: string, text: string, hasErrors: boolean): Reply['outcome'] {
  if (status >= 500 || status < 200) return '5xx';
  if (status < 300) return hasErrors ? (code ? 'errors' : 'unclear') : '2xx';
  if (status < 400) return '3xx';
  // An error without a useful message counts as a failure.
  return code && text.length >= shortestAdvice ? '4xx' : 'unclear';
}

function readFailure(body: string): { code: string; text: string; hasErrors: boolean } {
  const { code, detail, errors } = parse(body);
  const [first] = errors ?? [];
  const hasErrors = errors !== undefined || /^\{"errors":/.test(body);
  if (first || detail !== undefined)
    return { code: code ?? first?.extensions?.code ?? '', text: detail ?? first?.message ?? '', hasErrors };
  // The body is longer than the part that is kept.
  return { code: /"code":"([A-Z_]+)"/.exec(body)?.[1] ?? '', text: body.slice(0, 200), hasErrors };
}

interface Failure {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly message?: string; readonly extensions?: { readonly code?: string } }[];
}

function parse(body: string): Failure {
  try {
    return (JSON.parse(body) ?? {}) as Failure;
  } catch {
    return {};
  }
}
