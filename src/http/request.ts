import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { Span } from '@opentelemetry/api';
import type { Authenticate } from '../api-tokens/authenticate.ts';
import { Caller } from '../caller.ts';
import type { ErrorCode } from '../error-catalog.ts';
import { GatewayError, RateLimited, safeToRepeat, shorten } from '../errors.ts';
import { asGatewayError } from '../failures.ts';
import { httpLimits, httpTimeouts, smallBodyBytes, smallResponseBytes } from '../http-limits.ts';
import type { RateLimiting } from '../rate-limit.ts';
import { containsToken } from '../tokens.ts';
import { endRequestSpan, traceRequest } from '../tracing.ts';
import { declaredBytes, readBody } from './body.ts';
import type { PermitOrigin } from './cors.ts';
import { isNavigation } from './media-types.ts';
import { MethodNotAllowed } from './problem.ts';
import type { FindRoute, Handler, HttpRequest, HttpResponse, RequestHead, ResponseBody, Route } from './types.ts';

/** What every request passes. */
export interface ServerOptions {
  readonly authenticate: Authenticate;
  readonly rateLimiting: Pick<RateLimiting, 'headersFor'>;
  readonly routes: readonly Route[];
  /** Logs failures that are the gateway's own or the database's. */
  readonly report: (error: GatewayError, request: RequestHead) => void;
  /** Connections are closed after their response once it is aborted: the gateway is about to stop. */
  readonly draining: AbortSignal;
  /** Permits responses to scripts of other origins, and answers their preflight requests; by default there are none. */
  readonly permitOrigin?: PermitOrigin | undefined;
  /** Renders the errors of requests to paths without a route. */
  readonly renderError: Handler['renderError'];
  /** Called once for each request, after its response was passed to the socket. Must not throw. */
  readonly onResponse: (request: CompletedRequest) => void;
}

/** A request whose response was sent, or can no longer be sent. */
export interface CompletedRequest {
  /** Nothing, if no route has this path or the request is not valid HTTP. */
  readonly route?: Route | undefined;
  /** Nothing, if the request is not valid HTTP. */
  readonly method?: string;
  /** One of few names; empty if none was executed. */
  readonly operation: string;
  /** Nothing, if the client disconnected before the response. */
  readonly status: number | undefined;
  /** Until the response is passed to the socket, without waiting for events; 0 if the request is not valid HTTP. */
  readonly durationMs: number;
  /** The error codes that the response reports, in whatever form; each once. */
  readonly errorCodes: readonly ErrorCode[];
}

/** What the requests of a server share. */
export interface RequestContext extends ServerOptions {
  readonly route: FindRoute;
  /** The bytes in memory of request bodies, and of responses that clients have not read; small ones do not count. */
  readonly held: { bodies: number; unsent: number };
}

/** A request from its headers to the last byte of its response. */
export class ReceivedRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly id: string;
  readonly parameter: string;
  readonly incoming: IncomingMessage;
  body: Buffer = noBytes;
  caller = Caller.anonymous;
  operation = '';
  waitedMs = 0;
  /** Whether the connection ends with the response. */
  isLast = false;
  private readonly context: RequestContext;
  private readonly outgoing: ServerResponse;
  private readonly route: Route | undefined;
  private readonly startedMs = performance.now();
  private readonly errorCodes: ErrorCode[] = [];
  private readonly held = { bodies: 0, unsent: 0 };
  private deadline: NodeJS.Timeout | undefined;
  private isResponded = false;
  private span: Span | undefined;

  constructor(context: RequestContext, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.context = context;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.method = incoming.method ?? 'GET';
    this.headers = incoming.headers;
    this.url = originForm(incoming.url ?? '/');
    const queryAt = this.url.indexOf('?');
    this.path = queryAt < 0 ? this.url : this.url.slice(0, queryAt);
    this.query = queryAt < 0 ? '' : this.url.slice(queryAt + 1);
    this.id = requestId(this.headers['x-request-id']);
    const match = context.route(this.path);
    this.route = match?.route;
    this.parameter = match?.parameter ?? '';
  }

  // A client that has left is no failure.
  readonly report = (error: GatewayError): void => void (this.hasLeft || this.context.report(error, this));
  readonly countError = (code: ErrorCode): void => {
    if (!this.hasLeft && !this.errorCodes.includes(code)) this.errorCodes.push(code);
  };
  readonly isAbandoned = (): boolean => this.isResponded || this.hasLeft;

  private get hasLeft(): boolean {
    return this.outgoing.destroyed || this.incoming.socket.destroyed;
  }

  /** Whether the request is received completely, or its response is being sent. */
  get isReceived(): boolean {
    return this.incoming.complete || this.outgoing.headersSent;
  }

  get idempotencyKey(): string | undefined {
    return this.caller.apiToken && (this.headers['idempotency-key'] as string | undefined); // Node.js joins several by commas
  }

  /** Reads the request and responds. */
  start(): void {
    traceRequest(this, (span) => {
      this.span = span;
      void this.run();
    });
  }

  private async run(): Promise<void> {
    const { context, incoming, outgoing, headers, route } = this;
    context.permitOrigin?.(incoming, outgoing, route?.methods ?? []);
    try {
      // Node.js joins several by commas.
      if (headers.host?.includes(',') ?? incoming.httpVersion === '1.1')
        throw new GatewayError('INVALID_INPUT', 'The request must have exactly one Host header.');
      if (!route)
        throw new GatewayError('NOT_FOUND', `No such path: ${shorten(this.path, 200)}. GET / lists the available paths.`);
      if (this.method === 'OPTIONS' && context.permitOrigin) {
        return this.respond({ status: 200, headers: { allow: [...route.methods, 'OPTIONS'].join(', ') }, body: '' });
      }
      if (!route.methods.includes(this.method)) throw new MethodNotAllowed(this.method, route.methods);
      const isSmall = (declaredBytes(incoming) ?? Number.POSITIVE_INFINITY) <= smallBodyBytes;
      if (!isSmall) {
        this.caller = await context.authenticate(headers.authorization, route, this.id);
        if (this.isAbandoned()) throw disconnected();
      }
      this.body = await this.readBody(isSmall);
      this.deadline = setTimeout(() => this.fail(tooLong()), httpTimeouts.responseMs);
      if (isSmall) this.caller = await context.authenticate(headers.authorization, route, this.id);
      if (this.isAbandoned()) throw disconnected();
      const { browse } = route;
      this.respond(await (browse && this.method === 'GET' && isNavigation(this) ? browse(this) : route.handle(this)));
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  private readBody(isSmall: boolean): Promise<Buffer> {
    const { caller, incoming, context, held } = this;
    const { maxBodyBytes, maxAnonymousBodyBytes, maxHeldBodyBytes } = httpLimits;
    const hold = (bytes: number): void => {
      if (context.held.bodies + bytes > maxHeldBodyBytes) throw tooMuchHeld();
      context.held.bodies += bytes;
      held.bodies += bytes;
    };
    const maxBytes = isSmall || caller.apiToken ? maxBodyBytes : maxAnonymousBodyBytes;
    return readBody(incoming, maxBytes, isSmall ? undefined : hold);
  }

  /** Responds with an error, unless there is a response already. */
  fail(thrown: unknown): void {
    if (this.isResponded) return;
    const error = asGatewayError(thrown);
    if (error instanceof RateLimited) this.caller = error.caller; // which authentication did not return
    this.countError(error.code);
    if (error.code === 'INTERNAL' || error.code === 'UNAVAILABLE') this.report(error);
    try {
      this.respond((this.route ?? this.context).renderError(error, this));
    } catch (defect) {
      this.report(asGatewayError(defect));
      this.outgoing.destroy();
    }
  }

  private respond(response: HttpResponse<ResponseBody>): void {
    const { outgoing, body: _, hasLeft } = this;
    const { body } = response;
    if ((this.isResponded || hasLeft) && body instanceof Readable) body.on('error', () => {}).destroy();
    if (this.isResponded) return;
    clearTimeout(this.deadline);
    if (!hasLeft && !this.send(response)) return void this.fail(tooMuchUnsent());
    this.isResponded = true; // not before: a header that Node.js refuses is a defect, which `fail` reports
    const { route, method, errorCodes, operation, span } = this;
    const status = outgoing.headersSent ? outgoing.statusCode : undefined;
    const durationMs = performance.now() - this.startedMs - this.waitedMs;
    if (span) endRequestSpan(span, { route, method, status, errorCodes });
    this.context.onResponse({ route, method, status, durationMs, errorCodes, operation });
  }

  /** @returns false, and sends nothing, if it is large and too many bytes wait to be sent. */
  private send({ status, headers, body, cacheControl = 'no-store' }: HttpResponse<ResponseBody>): boolean {
    const { outgoing, context, caller } = this;
    const bytes = body instanceof Readable ? undefined : Buffer.byteLength(body);
    if (bytes !== undefined && bytes > smallResponseBytes) {
      if (context.held.unsent + bytes > httpLimits.maxUnsentBytes) return false;
      context.held.unsent += bytes;
      this.held.unsent = bytes;
    }
    // Alternating names and values: the form that Node.js writes fastest.
    const lines = ['x-request-id', this.id, 'x-content-type-options', 'nosniff', 'cache-control', cacheControl];
    const vary = outgoing.getHeader('vary'); // what CORS has set would be replaced
    for (const name in headers) {
      const value = headers[name] as string;
      lines.push(name, name === 'vary' && vary !== undefined ? `${value}, ${vary}` : value);
    }
    const { rateLimiting, draining } = context;
    if (caller.apiToken)
      for (const [name, value] of Object.entries(rateLimiting.headersFor(caller.apiToken))) lines.push(name, value);
    if (status !== 304 && bytes !== undefined) lines.push('content-length', String(bytes));
    if (this.isLast || draining.aborted) lines.push('connection', 'close');
    outgoing.writeHead(status, lines);
    if (body instanceof Readable)
      pipeline(body, outgoing, () => {}); // on a failure it destroys both: the client sees that
    else if (typeof body === 'string')
      outgoing.end(body, bytes === body.length ? 'latin1' : 'utf8'); // written faster
    else outgoing.end(body);
    return true;
  }

  /** Releases what the request holds: the response was sent, or the connection is closed. */
  release(): void {
    const { held } = this;
    this.context.held.bodies -= held.bodies;
    this.context.held.unsent -= held.unsent;
    held.bodies = held.unsent = 0;
  }
}

const noBytes = Buffer.alloc(0);

/** For the record only: a client that has disconnected gets no response. */
const disconnected = (): GatewayError => new GatewayError('INVALID_INPUT', 'The client disconnected before the response.');

const tooMuchHeld = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    'Too many large request bodies are being received. Nothing was changed. Try again after the number of seconds in the Retry-After header.',
  );

const tooMuchUnsent = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    'Too many large responses are waiting for clients to read them. A requested change may have been made. ' +
      'Try again after the number of seconds in the Retry-After header.',
  );

/** The request was received, and there was no result in time. */
const tooLong = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    `No result within ${httpTimeouts.responseMs / 1_000} seconds. A requested change may have been made, or may still be made. ${safeToRepeat}`,
  );

/** Takes over the caller's own id of a request if it is harmless to print, else draws one. */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && !containsToken(given) ? given : randomUUID();
}

/** The path and query of a request target; a proxy may send it in absolute form. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\/?/i, '/');
}
