import type { IncomingHttpHeaders } from 'node:http';
import { Caller } from '../domain/caller.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Route } from './types.ts';

/** A request whose response was sent, or can no longer be sent. */
export interface CompletedRequest {
  /** Nothing, if no route has this path or the request is not valid HTTP. */
  readonly route: Route | undefined;
  /** Nothing, if the request is not valid HTTP. */
  readonly method: string | undefined;
  /** Nothing, if the client disconnected before the response. */
  readonly status: number | undefined;
  /** From the end of the request's headers until the response is passed to the socket; 0 if the request is not valid HTTP. */
  readonly durationMs: number;
  /** The id of the request. */
  readonly id: string;
  /** The error codes that the response reports, in whatever form; each once. */
  readonly errorCodes: readonly ErrorCode[];
  /** The operation that it executed, one of few names; empty if there was none. */
  readonly operation: string;
  /** The cost of that operation, at most, if it has one. */
  readonly cost: number | undefined;
  /** The id of the trace that its span belongs to, if it has one. */
  readonly traceId: string | undefined;
  /** Nothing, if the request is not valid HTTP. */
  readonly headers: IncomingHttpHeaders | undefined;
  /** Anonymous also if the API token was not accepted. */
  readonly caller: Caller;
}

/** What is known of a request that is not valid HTTP. */
export const notHttp = {
  route: undefined,
  method: undefined,
  durationMs: 0,
  headers: undefined,
  operation: '',
  cost: undefined,
  traceId: undefined,
  caller: Caller.anonymous,
} satisfies Partial<CompletedRequest>;
