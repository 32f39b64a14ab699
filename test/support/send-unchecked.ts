import { type Agent, request as httpRequest } from 'node:http';

/** A complete response. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every form
  readonly json: any;
}

/** What a request may have in addition to its method and path. */
export interface RequestOptions {
  /** The API token; `null` sends none. */
  readonly token?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text or bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  /** Keeps connections; `false` opens one for this request. */
  readonly agent?: Agent | false;
  /** Ends the request, which then rejects. */
  readonly signal?: AbortSignal;
}

/**
 * Sends a request as legacy callers do: unlike `fetch`, with a body on any method. Rejects when there is no complete response.
 */
export function sendUnchecked(url: string, method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
  const { token, body, agent, signal } = options;
  const payload =
    body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const headers = {
    ...(token != null && { authorization: `Token ${token}` }),
    ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL(path, url), { method, headers, agent, signal }, async (incoming) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString('utf8');
        const replyHeaders = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
        resolve({ status: incoming.statusCode ?? 0, headers: replyHeaders, text, json: parseJson(text) });
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', reject);
    request.end(payload);
  });
}

/** A text as JSON; `undefined` if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
