import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Authenticate } from '../api-tokens/authenticate.ts';
import { Caller } from '../caller.ts';
import { heavyWork } from '../concurrency/heavy-work.ts';
import type { ErrorCode } from '../error-catalog.ts';
import { GatewayError, RateLimited, shorten } from '../errors.ts';
import { asGatewayError } from '../failures.ts';
import { type RequestSpan, tracing } from '../tracing/tracing.ts';
import { BodyHold, isSmall, isTooLarge, readBody } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { PermitOrigin } from './cors.ts';
import { httpLimits, httpTimeouts, largeBodyBytes } from './limits.ts';
import { MethodNotAllowed } from './problem.ts';
import { assertSingleHeaders, disconnected, originForm, requestId, splitOnce, tooLong, tooMuchUnsent } from './request-head.ts';
import type { CompletedRequest } from './response.ts';
import { discard, OutgoingResponse, type ResponseContext } from './response.ts';
import type { FindRoute } from './router.ts';
import type { Connection } from './server.ts';
import type { Handler, HttpRequest, HttpResponse, RequestHead, ResponseBody, Route } from './types.ts';

/** What every request passes. */
export interface ServerOptions {
  readonly authenticate: Authenticate;
  /** The route of a request, if there is one. */
  readonly route: FindRoute;
  /** Logs failures that are the gateway's own or the database's. */
  readonly report: (error: GatewayError, request: RequestHead) => void;
  /** Whether connections should be closed after their response, because the gateway is about to stop. */
  readonly isDraining: () => boolean;
  /** Permits responses to scripts of other origins, and answers their preflight requests; by default there are none. */
  readonly permitOrigin?: PermitOrigin | undefined;
  /** Renders the errors of requests to paths without a route. */
  readonly renderError: Handler['renderError'];
  /** Called once for each request, after its response was passed to the socket. Must not throw. */
  readonly onResponse?: (request: CompletedRequest) => void;
}

/** What the requests of a server share. */
export interface RequestContext extends ServerOptions, ResponseContext {
  /** The bytes of request bodies in memory. */
  readonly bodies: ByteBudget;
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
  cost: number | undefined = undefined;
  private readonly context: RequestContext;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  private readonly response: OutgoingResponse;
  private readonly connection: Connection;
  private readonly route: Route | undefined;
  private readonly startedMs: number;
  private deadline: NodeJS.Timeout | undefined;
  private isResponded = false;
  private errorCodes: ErrorCode[] | undefined;
  private span: RequestSpan | undefined;

  constructor(context: RequestContext, connection: Connection, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.context = context;
    this.startedMs = context.onResponse ? performance.now() : 0;
    this.connection = connection;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.response = new OutgoingResponse(context, connection, incoming, outgoing);
    this.method = incoming.method ?? 'GET';
    this.headers = incoming.headers;
    this.url = originForm(incoming.url ?? '/');
    [this.path, this.query] = splitOnce(this.url, '?');
    this.id = requestId(this.headers['x-request-id']);
    const match = context.route(this.path);
    this.route = match?.route;
    this.parameter = match?.parameter ?? '';
  }

  readonly report = (error: GatewayError): void => this.context.report(error, this);
  readonly countError = (code: ErrorCode): void => {
    this.errorCodes ??= [];
    if (!this.errorCodes.includes(code)) this.errorCodes.push(code);
  };
  readonly isAbandoned = (): boolean => this.isResponded || this.outgoing.destroyed;
  readonly responseRoom = (): number => this.context.unsent.roomFor(this.caller.queueKey);

  get isReceived(): boolean {
    return this.incoming.complete || this.outgoing.headersSent;
  }

  start(): void {
    if (!tracing.active) return void this.run();
    tracing.active.request(this, (span) => {
      this.span = span;
      void this.run();
    });
  }

  private async run(): Promise<void> {
    const { context, incoming, headers, route } = this;
    let hold: BodyHold | undefined;
    context.permitOrigin?.(incoming, this.outgoing, route?.methods ?? []);
    try {
      assertSingleHeaders(incoming);
      if (!route)
        throw new GatewayError('NOT_FOUND', `No such path: ${shorten(this.path, 200)}. GET / lists the available paths.`);
      if (this.method === 'OPTIONS' && context.permitOrigin) return this.respond(preflightResponse(route));
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
        hold = new BodyHold(context.bodies, this.caller.queueKey);
        this.body = await this.readBody(hold.take, this.caller.apiToken ? undefined : httpLimits.maxAnonymousBodyBytes);
        this.startDeadline();
        if (this.body.length >= largeBodyBytes) await heavyWork.enter(this.caller);
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

  private startDeadline(): void {
    this.deadline = setTimeout(expire, httpTimeouts.responseMs, this);
  }

  failParsing(error: GatewayError): void {
    this.connection.isClosing = true;
    if (!this.incoming.complete) this.fail(error);
  }

  abort(): void {
    this.response.close();
    if (!this.incoming.complete) this.incoming.destroy(disconnected());
  }

  private fail(thrown: unknown): void {
    if (this.isResponded) return;
    const error = asGatewayError(thrown);
    if (error instanceof RateLimited) this.caller = error.caller; // which authentication did not return
    this.countError(error.code);
    if (error.code === 'INTERNAL' || error.code === 'UNAVAILABLE') this.report(error);
    this.respond(this.renderError(error));
  }

  /** The time for a response is over. */
  expire(): void {
    this.fail(tooLong());
  }

  private renderError(error: GatewayError): HttpResponse {
    return (this.route ?? this.context).renderError(error, this);
  }

  private respond(response: HttpResponse<ResponseBody>): void {
    if (this.isResponded) return void discard(response);
    this.isResponded = true;
    clearTimeout(this.deadline);
    if (this.outgoing.destroyed) discard(response);
    else {
      try {
        this.sendOrRefuse(response);
      } catch (error) {
        // Such as a header that Node.js refuses: a defect, and no other response can be sent.
        this.report(asGatewayError(error));
        discard(response);
        this.outgoing.destroy();
      }
    }
    if (this.context.onResponse) this.complete(this.context.onResponse);
  }

  private sendOrRefuse(response: HttpResponse<ResponseBody>): void {
    const { body } = response;
    const bytes = body instanceof Readable ? response.bytes : Buffer.byteLength(body);
    if (body instanceof Readable || this.response.hold(bytes ?? 0, this.caller.queueKey)) {
      this.response.send(response, bytes, this.id);
      return;
    }
    const error = this.renderError(tooMuchUnsent());
    this.response.send(error, Buffer.byteLength(error.body), this.id);
  }

  private complete(onResponse: NonNullable<ServerOptions['onResponse']>): void {
    const { route, method, id, startedMs, outgoing, errorCodes = noErrors, operation, cost, headers, caller } = this;
    const status = outgoing.headersSent ? outgoing.statusCode : undefined;
    const durationMs = performance.now() - startedMs;
    this.span?.end({ route, status, errorCodes });
    const traceId = this.span?.traceId;
    onResponse({ route, method, status, id, durationMs, errorCodes, operation, cost, traceId, headers, caller });
  }
}

const expire = (request: ReceivedRequest): void => request.expire();

const preflightResponse = ({ methods }: Route): HttpResponse => ({
  status: 200,
  headers: { allow: [...methods, 'OPTIONS'].join(', ') },
  body: '',
});
const noBytes = Buffer.alloc(0);
const noErrors: readonly ErrorCode[] = [];
