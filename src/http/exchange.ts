import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import type { GatewayError } from '../domain/errors.ts';
import type { AuthorizationScheme } from './authenticate.ts';

/** A request as every route gets it: read whole, bounded, and with its caller told. */
export interface GatewayRequest {
  readonly method: string;
  /** The path and, after `?`, the query, as sent. */
  readonly url: string;
  readonly path: string;
  /** What follows `?`, without it. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The body's bytes; none where the request had no body. */
  readonly body: Buffer;
  /** Names the request in the answer, in problems and in the log. */
  readonly id: string;
  readonly caller: Caller;
  /** Tells the log of a failure that is the gateway's own or the database's. */
  readonly report: (error: GatewayError) => void;
  /** Whether nobody waits for the response any more: it was answered by a deadline, or the connection is gone. */
  readonly isAbandoned: () => boolean;
}

/** What goes back. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What answers on a path. */
export interface Route {
  /** Whether the request's credential is looked at (which may ask the database), and whether there must be one. */
  readonly credential: 'ignored' | 'optional' | 'required';
  /** The schemes that its `Authorization` header may have; all of them, if none are named. */
  readonly schemes?: readonly AuthorizationScheme[];
  answer(request: GatewayRequest): Answer | Promise<Answer>;
  /** How this route puts a failure, whether its own or one met on the way to it (a body too large, a bad credential). */
  failure(error: GatewayError, request: Pick<GatewayRequest, 'id' | 'headers'>): Answer;
}
