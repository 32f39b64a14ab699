import { request as httpRequest } from 'node:http';
import type { Outcome } from './row.ts';

/** What came back, or how it ended otherwise. */
export interface Reply {
  /** `unclear` is a 4xx, or 200 with errors, that has no code or hardly a text. */
  readonly outcome: Outcome | '5xx' | '3xx' | 'unclear' | 'timeout';
  /** 0 where there was no response. */
  readonly status: number;
  /** The error code, from the problem or the first of the errors. */
  readonly code: string;
  /** What a person is shown: the problem's detail or the first error's message; how the connection ended, where there was no response. */
  readonly text: string;
  readonly milliseconds: number;
}

/** A request that an HTTP client can send. */
export interface RequestOptions {
  readonly method?: string;
  readonly path?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text or bytes as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** How much of a response is kept; the rest is counted and dropped. */
const keptBytes = 2_097_152;

/** Sends a request on a new connection. Resolves whatever happens. */
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
    const end = (status: number, text: string) => resolve(readReply(status, text, performance.now() - began, signal.aborted));
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false, signal }, (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        if (bytes < keptBytes) chunks.push(chunk);
        bytes += chunk.length;
      });
      incoming.on('end', () => end(incoming.statusCode ?? 0, Buffer.concat(chunks).toString('utf8')));
      incoming.on('error', (error) => end(0, `the response was cut off: ${error.message}`));
    });
    request.on('error', (error) => end(0, error.message));
    request.end(payload);
  });
}

/** Judges a response by its status and the text of its body. */
export function readReply(status: number, body: string, milliseconds: number, ended: boolean): Reply {
  if (status === 0) return { outcome: ended ? 'timeout' : 'closed', status, code: '', text: body, milliseconds };
  const { code, text, hasErrors } = readFailure(body);
  return { outcome: outcomeOf(status, code, text, hasErrors), status, code, text, milliseconds };
}

/** The shortest text that can say what to do. */
const shortestAdvice = 20;

function outcomeOf(status: number, code: string, text: string, hasErrors: boolean): Reply['outcome'] {
  if (status === 503) return '503';
  if (status >= 500 || status < 200) return '5xx';
  if (status < 300) return hasErrors ? (code ? 'errors' : 'unclear') : '2xx';
  if (status < 400) return '3xx';
  // A refusal that does not say why is no better than a fault.
  return code && text.length >= shortestAdvice ? '4xx' : 'unclear';
}

function readFailure(body: string): { code: string; text: string; hasErrors: boolean } {
  const { code, detail, errors } = parse(body);
  const [first] = errors ?? [];
  const hasErrors = errors !== undefined || /^\{"errors":/.test(body);
  if (first || detail !== undefined)
    return { code: code ?? first?.extensions?.code ?? '', text: detail ?? first?.message ?? '', hasErrors };
  // A body that is longer than what is kept of it.
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
