import { operationOf, type TypedDocument, textOf } from './document.ts';
import { createError, GatewayError, type Issue } from './errors.ts';
import * as operations from './generated.ts';

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What a {@link UserGroupGateway} is created with. */
export interface GatewayOptions {
  /** Where the gateway is reached, such as `https://example.com/groups`. */
  readonly url: string;
  /** The API token of your backend. It must not reach a browser. */
  readonly apiToken: string;
  /** How long a call may take, with all retries and the pauses between them, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number;
  /** How often a call is sent again at most; 3 by default, 0 for never. */
  readonly retries?: number;
  /** Sends the requests instead of the global `fetch`. */
  readonly fetch?: Fetch;
  /**
   * Called after each request, retries included, unless a framework ended it: for a log or metrics. What it throws, the call
   * throws.
   */
  readonly onRequest?: (report: RequestReport) => void;
}

/** Follows no redirects, and takes no response from a cache: some frameworks keep them, also of `POST`, whatever they say. */
export const requestOptions = { redirect: 'manual', cache: 'no-store' } as const;

/** What is known of a request once it is over. */
export interface RequestReport {
  /** The name of the operation, such as `GetOrCreateUserGroup`. */
  readonly operation: string;
  /** 1 for the first request of a call. */
  readonly attempt: number;
  readonly durationMs: number;
  /** The error of the request; nothing if it succeeded. */
  readonly error: GatewayError | undefined;
}

/** The options of a single call. */
export interface CallOptions {
  /** Ends the call, which then rejects with the reason of the signal. It is not sent again. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The key by which a change is made once: your own, if you repeat the call yourself, also from another process. By default, a
   * new one. Not sent with `embedTokens.create`, which changes nothing.
   */
  readonly idempotencyKey?: string;
}

/**
 * Sends an operation until there is a result. @returns its data.
 *
 * @throws GatewayError, also for an error that is the result of a mutation of the client; the reason of the signal.
 */
export type Send = <Result, Variables>(
  document: TypedDocument<Result, Variables> | string,
  variables: Variables | undefined,
  options?: CallOptions,
) => Promise<Result>;

/** Errors after which the same request is sent again: each change has its key, so that it is made once. */
const repeated = new Set(['NETWORK', 'TIMEOUT', 'UNAVAILABLE', 'RATE_LIMITED', 'IDEMPOTENCY_KEY_IN_USE']);

/** Further errors that say nothing of an earlier request for the same change. */
const unrelated = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'INTERNAL', 'REQUEST_TIMEOUT', 'INVALID_RESPONSE']);

/** Whether a change may have been made that failed so. */
const isUncertain = ({ code, message }: GatewayError): boolean =>
  code === 'NETWORK' || code === 'TIMEOUT' || (code === 'UNAVAILABLE' && !message.includes('Nothing was changed'));

/** How long a call may take if the options do not say it. */
export const defaultTimeoutMs = 30_000;

/** Creates the function that sends operations. */
export function createSend(options: GatewayOptions): Send {
  const { apiToken, timeoutMs = defaultTimeoutMs, retries = 3, onRequest } = options;
  const { href, username, password } = new URL(options.url);
  if (username || password) throw new TypeError('url must have no user name and no password: the gateway takes apiToken alone.');
  const endpoint = `${href.replace(/\/+$/, '')}/graphql`;
  // An unset variable of the environment, or the line break at the end of a file. Not shown: it is a secret.
  if (typeof apiToken !== 'string' || !/^[\x21-\x7e]+$/.test(apiToken))
    throw new TypeError('apiToken must be a text of printable characters without spaces or line breaks.');
  const send: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  return async (document, variables, { signal, idempotencyKey = crypto.randomUUID() } = {}) => {
    const query = textOf(document);
    const { type, name: operation } = operationOf(query);
    const body = toJson({ query, variables });
    const headers: Record<string, string> = {
      authorization: `Token ${apiToken}`,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json',
    };
    // With a key, the gateway would store each embed token, and return one again that may have expired.
    if (type === 'mutation' && document !== operations.CreateEmbedToken) {
      if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
        throw new TypeError('idempotencyKey must be 1 to 255 printable ASCII characters.');
      headers['idempotency-key'] = `"${idempotencyKey.replace(/["\\]/g, '\\$&')}"`;
    }
    const ownType = Object.values<unknown>(operations).includes(document) ? type : undefined;
    const deadline = performance.now() + timeoutMs;
    /** Of the latest request after which it is not known whether the change was made. */
    let uncertainty: GatewayError | undefined;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const isLast = attempt > retries;
      const startedAt = performance.now();
      // Half of what is left, so that a request that gets no response can be sent again.
      const limitMs = (deadline - startedAt) / (isLast ? 1 : 2);
      const outcome = await withLimit(endpoint, limitMs, signal, async (limit) =>
        readResponse(await send(endpoint, { method: 'POST', headers, body, ...requestOptions, signal: limit }), type, ownType),
      ).catch((cause: unknown) => {
        // Frameworks end the rendering of a page by such an error, and have to get it unchanged: with Next.js it makes a page
        // dynamic that would be rendered when the application is built.
        if (typeof Object(cause).digest === 'string') throw cause;
        return lost(endpoint, cause);
      });
      signal?.throwIfAborted();
      const error = outcome instanceof GatewayError ? outcome : undefined;
      onRequest?.({ operation, attempt, durationMs: performance.now() - startedAt, error });
      if (!(outcome instanceof GatewayError)) return outcome;
      const pauseMs = (outcome.retryAfterSeconds ?? 0.05 * 2 ** attempt) * 1_000 * (1 + Math.random() / 2);
      if (headers['idempotency-key'] !== undefined && isUncertain(outcome)) uncertainty = outcome;
      const isRepeated = repeated.has(outcome.code);
      if (!isRepeated || isLast || performance.now() + pauseMs >= deadline)
        throw ((isRepeated || unrelated.has(outcome.code)) && uncertainty) || outcome;
      await pause(pauseMs, signal);
    }
  };
}

/**
 * The JSON of a request.
 *
 * @throws TypeError for what JSON has null, an empty object or nothing for: it would remove what is stored.
 */
function toJson(content: object): string {
  // Independent of the realm that a value comes from.
  const kindOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1);
  // Of an instance whose data is in private fields or behind getters, JSON has an empty object.
  const isOpaque = (value: unknown) =>
    kindOf(value) === 'Object' &&
    Object.keys(value as object).length === 0 &&
    Object.getPrototypeOf(Object.getPrototypeOf(value) ?? Object.prototype) !== null;
  const places = new Map<unknown, string>();
  return JSON.stringify(content, function (this: Record<string, unknown>, key, value: unknown) {
    const original = this[key];
    const place = `${places.get(this) ?? ''}.${key}`.replace(/^\.+/, '');
    places.set(value, place);
    const isLost = value === null ? original !== null : (value === undefined && Array.isArray(this)) || isOpaque(value);
    if (!isLost && (Number.isFinite(value) || /^(Object|Array|String|Boolean|Null|Undefined)$/.test(kindOf(value)))) return value;
    const type = isOpaque(value) ? 'an instance without enumerable fields of its own' : `the type ${kindOf(original)}`;
    const what = typeof original === 'number' ? original : type;
    throw new TypeError(`${place}: JSON cannot express ${what}. Convert it, or leave it out.`);
  });
}

/**
 * Reads the response to a GraphQL request.
 *
 * @param type the type of the operation.
 * @param ownType the type of an operation of the client, which calls its field `result`; that of a query may be null.
 * @throws GatewayError when it has errors, or is not one of the gateway.
 */
async function readResponse(response: Response, type: string, ownType: string | undefined) {
  const { status, ok, headers } = response;
  const text = await response.text();
  const requestId = headers.get('x-request-id') ?? undefined;
  // A proxy may send anything, such as a date.
  const seconds = Number(headers.get('retry-after'));
  const retryAfterSeconds = seconds > 0 ? seconds : undefined;
  const { data, errors } = parse(text);
  // A proxy's errors may look like those of the gateway, which always have a code: one of two if the gateway has failed.
  const problem = Array.isArray(errors) ? errors[0] : (errors ?? undefined);
  const { code: reason, issues } = problem?.extensions ?? {};
  if (problem && typeof reason === 'string' && (status < 500 || ['UNAVAILABLE', 'INTERNAL'].includes(reason))) {
    const isPartial = type === 'mutation' && Object.values(Object(data)).some(isObject);
    const message = isPartial
      ? `${problem.message} A change may have been made: only a part of the result is missing.`
      : problem.message;
    throw createError(reason, message, { issues, requestId, retryAfterSeconds });
  }
  const result = ownType === undefined ? data : data?.result;
  const isWhole = ok && problem === undefined;
  if (isWhole && ownType === 'mutation' && result?.code) throw createError(result.code, result.message, { ...result, requestId });
  const isNothing = ownType === 'query' && result === null;
  if (isWhole && (isNothing || isObject(result))) return data;
  const code = codeOf(status);
  const hint = code === 'RATE_LIMITED' ? '' : ' A change may have been made.';
  const message = `The response, with status ${status}, is not one of the gateway: it was cut off, or a proxy sent it.${hint}`;
  throw createError(code, message, { requestId, retryAfterSeconds });
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

interface Body {
  // biome-ignore lint/suspicious/noExplicitAny: as the type of the operation says
  readonly data?: any;
  readonly errors?: readonly ({
    readonly message: string;
    readonly extensions?: { readonly code?: unknown; readonly issues?: readonly Issue[] };
  } | null)[];
}

function parse(text: string): Body {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** What a response means that is not one of the gateway. */
function codeOf(status: number): string {
  if (status === 429) return 'RATE_LIMITED';
  if (status === 408 || status >= 500) return 'UNAVAILABLE';
  return status >= 200 && status <= 299 ? 'NETWORK' : 'INVALID_RESPONSE';
}

/** What a request threw, as an error of the client. */
export function lost(url: string, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const { message = cause } = Object((cause as Error | undefined)?.cause ?? cause);
  return createError('NETWORK', `No complete response from ${url}: ${message}`, { cause });
}

/**
 * Runs something that a signal ends after a time, or when the caller's signal does; then rejects, also if it goes on.
 *
 * @throws what it throws; GatewayError `TIMEOUT` when the time is over; the reason of the caller's signal.
 */
export async function withLimit<Value>(
  what: string,
  limitMs: number,
  signal: AbortSignal | undefined,
  run: (limit: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  const end = () => controller.abort(signal?.reason);
  const expire = () => controller.abort(createError('TIMEOUT', `${what} did not respond within ${Math.ceil(limitMs)} ms.`));
  const timer = setTimeout(expire, Math.min(limitMs, 2 ** 31 - 1));
  signal?.addEventListener('abort', end);
  try {
    return await Promise.race([run(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Waits, unless the signal ends it. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end = () => {};
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    end = resolve;
    signal?.addEventListener('abort', end);
  });
  clearTimeout(timer);
  signal?.removeEventListener('abort', end);
}
