import type { IncomingHttpHeaders } from 'node:http';
import {
  context,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

let tracer: Tracer | undefined;

/** Traces with the OpenTelemetry SDK, if one is registered, as `node --import ./otel.js` does before this program is loaded. */
export function startTracing(version: string): void {
  const provider = trace.getTracerProvider();
  const scope = ['user-group-gateway', version] as const;
  // Without an SDK it is the API's own provider, which delegates to none.
  tracer = provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(...scope) : provider.getTracer(...scope);
}

/** Runs an operation of an API in a span. @param name one of few. */
export function traceOperation<Result>(type: string, name: string, run: () => Promise<Result>): Promise<Result> {
  if (!tracer) return run();
  const attributes = { 'graphql.operation.type': type, 'graphql.operation.name': name };
  return inSpan(tracer.startSpan(`${type} ${name}`, { attributes }), run);
}

/** Runs a statement of a request in a span. @param name of the statement, neither its text nor its values. */
export function traceStatement<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  if (!tracer || !trace.getActiveSpan()) return run();
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name };
  return inSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }), run);
}

async function inSpan<Result>(span: Span, run: () => Promise<Result>): Promise<Result> {
  try {
    return await context.with(trace.setSpan(context.active(), span), run);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute('error.type', typeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Runs a request in a span, inside of the one that its `traceparent` names. `run` is called at once. */
export function traceRequest(
  { method, headers, id }: { readonly method: string; readonly headers: IncomingHttpHeaders; readonly id: string },
  run: (span?: Span) => void,
): void {
  if (!tracer) {
    run();
    return;
  }
  const parent = propagation.extract(context.active(), headers);
  const attributes = { 'http.request.method': method, 'user_group_gateway.request_id': id };
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  context.with(trace.setSpan(parent, span), run, undefined, span);
}

/** What a response adds to the span of its request. */
interface TracedResponse {
  readonly method: string;
  readonly route: { readonly path: string } | undefined;
  /** Nothing, if the client disconnected before. */
  readonly status: number | undefined;
  readonly errorCodes: readonly string[];
}

/** Ends the span of a request. */
export function endRequestSpan(span: Span, { method, route, status, errorCodes }: TracedResponse): void {
  if (route) span.updateName(`${method} ${route.path}`).setAttribute('http.route', route.path);
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  if (errorCodes[0] !== undefined) span.setAttribute('error.type', errorCodes[0]);
  if (status === undefined || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** The code of an error, or its class: messages may have stored values. */
function typeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : typeof error;
}
