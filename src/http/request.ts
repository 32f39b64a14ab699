import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticate } from '../api-tokens/authenticate.ts';
import { Caller } from '../caller.ts';
import type { ErrorCode } from '../error-catalog.ts';
import { GatewayError, RateLimited, safeToRepeat, shorten } from '../errors.ts';
import { asGatewayError } from '../failures.ts';
import { httpLimits, httpTimeouts } from '../http-limits.ts';
import type { RateLimiting } from '../rate-limits/rate-limit.ts';
import { containsToken } from '../tokens.ts';
import { type RequestSpan, tracing } from '../tracing/tracing.ts';
import { isSmall, isTooLarge, readBody } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { PermitOrigin } from './cors.ts';
import { isNavigation } from './media-types.ts';
import { MethodNotAllowed } from './problem.ts';
import { discard, send, tooMuchUnsent } from './response.ts';
import type { Connection } from './server.ts';
import type { FindRoute, Handler, HttpRequest, HttpResponse, RequestHead, ResponseBody, Route } from './types.ts';

/** What every request passes. */
export interface ServerOptions {
  readonly authenticate: Authenticate;
  readonly rateLimiting: Pick<RateLimiting, 'limit' | 'headersFor'>;
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

/** A request whose response was sent, or can no longer be sent. Its caller is anonymous if the API token was not accepted. */
export interface CompletedRequest extends Pick<HttpRequest, 'id' | 'operation' | 'cost' | 'caller'> {
  /** Nothing, if no route has this path or the request is not valid HTTP. */
  readonly route?: Route | undefined;
  /** Nothing, if the request is not valid HTTP. */
  readonly method?: string;
  readonly headers?: IncomingHttpHeaders;
  /** Nothing, if the client disconnected before the response. */
  readonly status: number | undefined;
  /** From the end of the request's headers until the response is passed to the socket; 0 if the request is not valid HTTP. */
  readonly durationMs: number;
  /** The error codes that the response reports, in whatever form; each once. */
  readonly errorCodes: readonly ErrorCode[];
  /** The id of the trace that its span belongs to, if it has one. */
  readonly traceId?: string | undefined;
}

/** What the requests of a server share. */
export interface RequestContext extends ServerOptions {
  /** The route of a request, if there is one. */
  readonly route: FindRoute;
  /** The bytes of request bodies in memory. */
  readonly bodies: ByteBudget;
  /** The bytes of responses that clients have not read. */
  readonly unsent: ByteBudget;
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
  body: Buffer = noBytes;
  caller = Caller.anonymous;
  operation = '';
  waitedMs = 0;
  cost: number | undefined = undefined;
  readonly context: RequestContext;
  readonly connection: Connection;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  private readonly route: Route | undefined;
  private readonly startedMs = performance.now();
  private readonly errorCodes: ErrorCode[] = [];
  private deadline: NodeJS.Timeout | undefined;
  private isResponded = false;
  private span: RequestSpan | undefined;

  constructor(context: RequestContext, connection: Connection, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.context = context;
    this.connection = connection;
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

  readonly report = (error: GatewayError): void => this.context.report(error, this);
  readonly countError = (code: ErrorCode): void => {
    if (!this.errorCodes.includes(code)) this.errorCodes.push(code);
  };
  readonly isAbandoned = (): boolean => this.isResponded || this.outgoing.destroyed;
  readonly responseRoom = (): number => this.context.unsent.roomFor(this.caller.queueKey);

  get idempotencyKey(): string | undefined {
    return this.caller.apiToken && (this.headers['idempotency-key'] as string | undefined); // Node.js joins several by commas
  }

  /** Reads the request and responds. */
  start(): void {
    if (!tracing.active) return void this.run();
    tracing.active.request(this, (span) => {
      this.span = span;
      void this.run();
    });
  }

  private async run(): Promise<void> {
    const { context, incoming, headers, route } = this;
    let heldBytes = 0;
    context.permitOrigin?.(incoming, this.outgoing, route?.methods ?? []);
    try {
      // Node.js joins several by commas.
      if (headers.host?.includes(',') ?? incoming.httpVersion === '1.1') {
        throw new GatewayError('INVALID_INPUT', 'The request must have exactly one Host header.');
      }
      if (!route)
        throw new GatewayError('NOT_FOUND', `No such path: ${shorten(this.path, 200)}. GET / lists the available paths.`);
      if (this.method === 'OPTIONS' && context.permitOrigin) {
        return this.respond({ status: 200, headers: { allow: [...route.methods, 'OPTIONS'].join(', ') }, body: '' });
      }
      if (!route.methods.includes(this.method)) throw new MethodNotAllowed(this.method, route.methods);
      if (isSmall(incoming)) {
        this.body = await this.readBody();
        this.startDeadline();
        this.caller = await context.authenticate(headers.authorization, route, this.id);
      } else {
        this.startDeadline();
        this.caller = await context.authenticate(headers.authorization, route, this.id);
        if (this.isAbandoned()) throw disconnected();
        clearTimeout(this.deadline);
        const { apiToken, queueKey } = this.caller;
        const hold = (bytes: number): boolean => {
          const isHeld = context.bodies.take(bytes, queueKey);
          if (isHeld) heldBytes += bytes;
          return isHeld;
        };
        this.body = await this.readBody(apiToken ? undefined : httpLimits.maxAnonymousBodyBytes, hold);
        this.startDeadline();
      }
      if (this.isAbandoned()) throw disconnected();
      const { browse } = route;
      this.respond(await (browse && this.method === 'GET' && isNavigation(this) ? browse(this) : route.handle(this)));
    } catch (thrown) {
      this.fail(thrown);
    } finally {
      if (heldBytes > 0) context.bodies.release(heldBytes, this.caller.queueKey);
    }
  }

  /** Reads the body; a client that sent `Expect: 100-continue` gets the interim response first. */
  private readBody(maxBytes?: number, hold?: (bytes: number) => boolean): Promise<Buffer> {
    if (this.headers.expect?.toLowerCase() === '100-continue' && !isTooLarge(this.incoming, maxBytes))
      this.outgoing.writeContinue();
    return readBody(this.incoming, maxBytes, hold);
  }

  private startDeadline(): void {
    this.deadline = setTimeout(() => this.fail(tooLong()), httpTimeouts.responseMs);
  }

  /** Responds with an error, unless there is a response already. */
  fail(thrown: unknown): void {
    if (this.isResponded) return;
    const error = asGatewayError(thrown);
    if (error instanceof RateLimited) this.caller = error.caller; // which authentication did not return
    this.countError(error.code);
    if (error.code === 'INTERNAL' || error.code === 'UNAVAILABLE') this.report(error);
    try {
      this.respond(this.renderError(error));
    } catch (defect) {
      this.report(asGatewayError(defect));
      this.outgoing.destroy();
    }
  }

  private renderError(error: GatewayError): HttpResponse {
    return (this.route ?? this.context).renderError(error, this);
  }

  private respond(response: HttpResponse<ResponseBody>): void {
    const { outgoing } = this;
    if (this.isResponded) return void discard(response);
    clearTimeout(this.deadline);
    try {
      if (outgoing.destroyed) discard(response);
      else if (!this.send(response)) return void this.fail(tooMuchUnsent());
    } catch (error) {
      discard(response);
      throw error;
    }
    this.isResponded = true; // not before: a header that Node.js refuses is a defect, which `fail` reports
    const { route, method, id, errorCodes, operation, cost, headers, caller, span } = this;
    const status = outgoing.headersSent ? outgoing.statusCode : undefined;
    const durationMs = performance.now() - this.startedMs - this.waitedMs;
    span?.end({ route, status, errorCodes });
    const traceId = span?.traceId;
    this.context.onResponse({ route, method, status, id, durationMs, errorCodes, operation, cost, traceId, headers, caller });
  }

  /** @returns false, and sends nothing, if too many bytes wait to be sent. */
  private send(response: HttpResponse<ResponseBody>): boolean {
    const { caller, context } = this;
    const { rateLimiting } = context;
    if (!caller.apiToken || !caller.isRateLimited(rateLimiting.limit)) return send(this, response);
    return send(this, { ...response, headers: { ...response.headers, ...rateLimiting.headersFor(caller.apiToken) } });
  }
}

const noBytes = Buffer.alloc(0);

/** For the record only: a client that has disconnected gets no response. */
const disconnected = (): GatewayError => new GatewayError('INVALID_INPUT', 'The client disconnected before the response.');

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
