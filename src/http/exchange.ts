import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Turnstile } from '../concurrency.ts';
import { Caller } from '../domain/caller.ts';
import { asGatewayError, type ErrorCode, GatewayError, shorten } from '../domain/errors.ts';
import { RateLimited } from '../domain/rate-limit.ts';
import type { Share } from '../fair-queue.ts';
import type { RequestSpan } from '../tracing/tracing.ts';
import type { Authenticate } from './authenticate.ts';
import { BodyHold, declaresBody, isSmall, isTooLarge, readBody } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { CompletedExchange } from './completed-exchange.ts';
import type { Deadlines, Expiring } from './deadlines.ts';
import { disconnected, tooLong, tooSlow } from './exchange-errors.ts';
import { httpLimits, httpTimeouts, largeBodyBytes, smallResponseBytes } from './limits.ts';
import { MethodNotAllowed } from './problem.ts';
import type { Rejections } from './rejections.ts';
import { assertOneHost, originForm, requestId, splitOnce } from './request-head.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { FindRoute } from './router.ts';
import type { Handler, HttpRequest, HttpResponse, RequestHead, ResponseBody, Route } from './types.ts';

/** What every request passes. */
export interface ListenerOptions {
  readonly authenticate: Authenticate;
  /** The route of a request, if there is one. */
  readonly route: FindRoute;
  /** Logs failures that are the gateway's own or the database's. */
  readonly report: (error: GatewayError, request: RequestHead) => void;
  /** Whether connections should be closed after their response, because the gateway is about to stop. */
  readonly isDraining: () => boolean;
  /** Renders the errors of requests to paths without a route. */
  readonly renderError: Handler['renderError'];
  /** Called once for each request, after its response was passed to the socket. Must not throw. */
  readonly onResponse?: (exchange: CompletedExchange) => void;
}

/** What the requests of a server share. */
export interface ExchangeContext extends ListenerOptions {
  readonly deadlines: Deadlines;
  readonly bodies: ByteBudget;
  readonly turnstile: Turnstile;
  readonly writer: ResponseWriter;
  readonly rejections: Rejections;
}

/** A request and its response, from the headers of the one to the last byte of the other. */
export class Exchange implements HttpRequest, Expiring {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly id: string;
  body: Buffer = noBytes;
  caller = Caller.anonymous;
  operation = '';
  cost: number | undefined = undefined;
  expiresAtMs = 0;
  slot = -1;
  private readonly shared: ExchangeContext;
  private readonly incoming: IncomingMessage;
  private readonly outgoing: ServerResponse;
  private readonly route: Route | undefined;
  readonly parameter: string;
  private readonly startedMs: number;
  private isReading = true;
  private isResponded = false;
  private isRefused = false;
  private errorCodes: ErrorCode[] | undefined;
  private span: RequestSpan | undefined;

  constructor(shared: ExchangeContext, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.shared = shared;
    this.startedMs = shared.onResponse ? performance.now() : 0;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.method = incoming.method ?? 'GET';
    this.headers = incoming.headers;
    this.url = originForm(incoming.url ?? '/');
    [this.path, this.query] = splitOnce(this.url, '?');
    this.id = requestId(this.headers['x-request-id']);
    const match = shared.route(this.path, this.method);
    this.route = match?.route;
    this.parameter = match?.parameter ?? '';
  }

  readonly report = (error: GatewayError): void => this.shared.report(error, this);
  readonly countError = (code: ErrorCode): void => {
    this.errorCodes ??= [];
    if (!this.errorCodes.includes(code)) this.errorCodes.push(code);
  };
  readonly isAbandoned = (): boolean => this.isResponded || this.outgoing.destroyed;
  readonly reserve = (bytes: number): void => {
    if (bytes <= smallResponseBytes) return;
    if (this.isAbandoned()) throw disconnected();
    this.isRefused = true;
    this.shared.writer.reserve(this.outgoing, bytes, this.caller.share);
    this.isRefused = false;
  };

  /** Reads the request, authenticates it, and responds. Never rejects. */
  async run(span?: RequestSpan): Promise<void> {
    this.span = span;
    const { shared, incoming, headers, route } = this;
    const { deadlines } = shared;
    // Until the credential is checked, a request without one gets less time.
    deadlines.start(this, headers.authorization === undefined ? httpTimeouts.anonymousRequestMs : httpTimeouts.requestMs);
    let hold: BodyHold | undefined;
    try {
      assertOneHost(incoming);
      if (!route)
        throw new GatewayError('NOT_FOUND', `No such path: ${shorten(this.path, 200)}. GET / lists the available paths.`);
      if (!route.methods.includes(this.method)) throw new MethodNotAllowed(this.method, route.methods);
      if (isSmall(incoming)) {
        this.body = await this.readBody();
        this.endReading();
        this.caller = await shared.authenticate(headers.authorization, route, this.id);
      } else {
        this.caller = await shared.authenticate(headers.authorization, route, this.id);
        hold = new BodyHold(shared.bodies, this.caller.share);
        deadlines.restart(this, this.caller.share === undefined ? httpTimeouts.anonymousRequestMs : httpTimeouts.requestMs);
        this.body = await this.readBody(hold.take, this.caller.apiToken ? undefined : httpLimits.maxAnonymousBodyBytes);
        this.endReading();
        if (this.body.length >= largeBodyBytes) await shared.turnstile.enter(this.caller.share);
      }
      if (this.isAbandoned()) throw disconnected();
      this.respond(await route.handle(this));
    } catch (thrown) {
      this.fail(thrown);
    } finally {
      hold?.release();
    }
  }

  /** Reads the body; a client that sent `Expect: 100-continue` gets the interim response first. */
  private readBody(hold?: (bytes: number) => boolean, maxBytes?: number): Promise<Buffer> {
    if (this.headers.expect?.toLowerCase() === '100-continue' && !isTooLarge(this.incoming, maxBytes))
      this.outgoing.writeContinue();
    return readBody(this.incoming, maxBytes, hold);
  }

  /** The time for this part is over. */
  expire(): void {
    this.fail(this.isReading ? tooSlow() : tooLong());
  }

  private endReading(): void {
    this.isReading = false;
    this.shared.deadlines.restart(this, httpTimeouts.responseMs);
  }

  private respond(response: HttpResponse<ResponseBody>): void {
    if (this.isResponded) return;
    this.isResponded = true;
    this.shared.deadlines.end(this);
    this.shared.writer.write(this.incoming, this.outgoing, response, this);
    if (this.shared.onResponse) this.complete(this.shared.onResponse);
  }

  private complete(onResponse: NonNullable<ListenerOptions['onResponse']>): void {
    const { route, method, id, startedMs, outgoing, errorCodes = noErrors, operation, cost, headers, caller } = this;
    const status = outgoing.headersSent ? outgoing.statusCode : undefined;
    const durationMs = performance.now() - startedMs;
    this.span?.end({ route, status, errorCodes });
    const traceId = this.span?.traceId;
    onResponse({ route, method, status, id, durationMs, errorCodes, operation, cost, traceId, headers, caller });
  }

  /** The share of the budgets that this request's response counts towards. */
  get share(): Share {
    return this.caller.share;
  }

  /**
   * Whether the connection is closed after the response: after a refusal, so that pipelined requests are not executed needlessly.
   */
  get closes(): boolean {
    return this.isRefused || this.shared.isDraining();
  }

  private fail(thrown: unknown): void {
    if (this.isResponded) return;
    const error = asGatewayError(thrown);
    if (error instanceof RateLimited) this.caller = error.caller; // which authentication did not return
    this.countError(error.code);
    if (error.code === 'INTERNAL' || error.code === 'UNAVAILABLE') this.report(error);
    // Once its body is being read, discarding more of it costs more than the rejection.
    const isUnread = this.incoming.readableFlowing === null && declaresBody(this.incoming);
    if (this.isReading && isUnread) this.shared.rejections.add(() => this.respondWith(error));
    else this.respondWith(error);
  }

  private respondWith(error: GatewayError): void {
    if (!this.isResponded) this.respond(this.render(error));
  }

  /** Renders a failure in the form of the route. */
  render(error: GatewayError): HttpResponse {
    return (this.route ?? this.shared).renderError(error, this);
  }
}

const noBytes = Buffer.alloc(0);
const noErrors: readonly ErrorCode[] = [];
