import type { IncomingHttpHeaders } from 'node:http';

/** The part of a request that its span describes. */
export interface TracedRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly id: string;
}

/** The part of a response that ends the span of its request. */
export interface TracedResponse {
  readonly route: { readonly path: string } | undefined;
  readonly status: number | undefined;
  readonly errorCodes: readonly string[];
}

/** The span of a request. */
export interface RequestSpan {
  readonly traceId: string;
  end(response: TracedResponse): void;
}

/** What requests are traced with. Spans that begin while `run` is in progress are inside of the one that it runs in. */
export interface Tracing {
  /** Begins the span of a request, inside of the span that its `traceparent` names. `run` is called with it at once. */
  request(request: TracedRequest, run: (span: RequestSpan) => void): void;
  /** Runs an operation in a span. @param name one of few. */
  operation<Result>(type: string, name: string, run: () => Promise<Result>): Promise<Result>;
  /** Runs a statement in a span. @param name of the statement, neither its text nor its values. */
  statement<Result>(name: string, run: () => Promise<Result>): Promise<Result>;
}

/**
 * How this process traces; nothing unless the operator has loaded an OpenTelemetry SDK. Set once, before a gateway is built. Like
 * the SDK it is one for the process, so that code far from the start needs no parameter for it.
 */
export const tracing: { active: Tracing | undefined } = { active: undefined };
