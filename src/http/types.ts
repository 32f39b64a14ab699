import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import type { GatewayError } from '../domain/errors.ts';
import type { AuthorizationScheme } from './authenticate.ts';

/** A request as every route gets it: read whole, within the limits, and with its caller. */
export interface HttpRequest {
  readonly method: string;
  /** The path and, after `?`, the query, as sent. */
  readonly url: string;
  readonly path: string;
  /** What follows `?`, without it. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The body's bytes; none where the request had no body. */
  readonly body: Buffer;
  /** Identifies the request in the response, in problems and in the log. */
  readonly id: string;
  readonly caller: Caller;
  /** Logs a failure that is the gateway's own or the database's. */
  readonly report: (error: GatewayError) => void;
  /** Whether nobody waits for the response any more: it was answered by a deadline, or the connection is gone. */
  readonly isAbandoned: () => boolean;
}

/** A whole response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What handles the requests to a path. */
export interface Route {
  /** Whether the request's credential is checked (which may ask the database), and whether there must be one. */
  readonly credential: 'ignored' | 'optional' | 'required';
  /** The schemes that its `Authorization` header may have; all of them, if none are named. */
  readonly schemes?: readonly AuthorizationScheme[];
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
  /** Renders a failure in the form of this route, its own or one from before it (a body too large, a bad credential). */
  renderError(error: GatewayError, request: Pick<HttpRequest, 'id' | 'headers'>): HttpResponse;
}
