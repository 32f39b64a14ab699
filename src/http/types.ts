import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Caller } from '../caller.ts';
import type { ErrorCode } from '../error-catalog.ts';
import type { GatewayError } from '../errors.ts';

/** A request as every route gets it: read whole, within the limits, and with its caller. */
export interface HttpRequest {
  readonly method: string;
  /** The path and, after `?`, the query, as sent. */
  readonly url: string;
  readonly path: string;
  /** What the path has in the place of its route's parameter; an empty text where there is none. */
  readonly parameter: string;
  /** What follows `?`, without it. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The request as Node.js received it, for libraries. Its body is not to be read. */
  readonly incoming: IncomingMessage;
  /** The body's bytes; none where the request had no body. */
  readonly body: Buffer;
  /** Identifies the request in the response, in problems and in the log. */
  readonly id: string;
  readonly caller: Caller;
  /** The header `Idempotency-Key`, as sent; nothing without an API token, which a key belongs to. */
  readonly idempotencyKey: string | undefined;
  /** Logs a failure that is the gateway's own or the database's. */
  readonly report: (error: GatewayError) => void;
  /** Counts an error that the response reports, for the metrics; one that the handler throws is counted by the transport. */
  readonly countError: (code: ErrorCode) => void;
  /** Whether the response is no longer needed: a deadline has passed, or the client has disconnected. */
  readonly isAbandoned: () => boolean;
  /** The operation that the request executes, for metrics and logs. Set by the handler to one of few names; empty until then. */
  operation: string;
  /** How long the handler waited for events: not a part of the duration in metrics. */
  waitedMs: number;
}

/** A scheme in which an API token may be sent; they are equivalent. */
export type AuthorizationScheme = 'Token' | 'Bearer';

/** What a response may consist of: text, bytes, or a stream of bytes. */
export type ResponseBody = string | Buffer | Readable;

/** A whole response. */
export interface HttpResponse<Body extends ResponseBody = string> {
  readonly status: number;
  /** Without those that every response has, such as `Cache-Control`. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream, whose length is in the headers, is read as fast as the client reads. It does not count as unsent. */
  readonly body: Body;
  /** The value of `Cache-Control`; `no-store` by default. */
  readonly cacheControl?: string;
}

/** The part of a request that an error is rendered for. The rest may not have been received. */
export type RequestHead = Pick<HttpRequest, 'id' | 'method' | 'path' | 'headers' | 'caller'>;

/** Handles the requests to a route. */
export interface Handler {
  handle(request: HttpRequest): HttpResponse<ResponseBody> | Promise<HttpResponse<ResponseBody>>;
  /** Renders an error in the format of this route, its own or one from before it (a body too large, an invalid API token). */
  renderError(error: GatewayError, request: RequestHead): HttpResponse;
}

/** An entry of the route table. */
export interface Route extends Handler {
  /** The path; its last segment may be a parameter, as in `/docs/errors/{code}`. Identifies the route, in metrics for example. */
  readonly path: string;
  /** Handles, instead of `handle`, the requests of a person who opens the URL in a browser. */
  readonly browse?: Handler['handle'];
  /** Whether the parameter may have this value; other paths are not found. Given exactly where the path has a parameter. */
  readonly accepts?: (value: string) => boolean;
  /** The supported methods; others get 405. */
  readonly methods: readonly string[];
  /** What it serves, in one sentence without its period. */
  readonly description: string;
  /** Whether `GET /` lists it. */
  readonly isListed: boolean;
  /** Whether the credential is checked (which may query the database), and whether one is required. */
  readonly credential: 'ignored' | 'optional' | 'required';
  /** The accepted schemes of the `Authorization` header; all by default. */
  readonly schemes?: readonly AuthorizationScheme[];
}

/** A route, and what its path has in the place of the parameter; an empty text where there is none. */
export interface RouteMatch {
  readonly route: Route;
  readonly parameter: string;
}

/** Finds the route of a request by its path. */
export type FindRoute = (path: string) => RouteMatch | undefined;
