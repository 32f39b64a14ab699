import {
  type Attributes,
  context,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { RequestSpan, TracedRequest, TracedResponse, Tracing } from './tracing.ts';

/**
 * Creates spans with the OpenTelemetry SDK that is registered, as `node --import ./otel.js` does before this program is loaded.
 *
 * @param version of the gateway.
 * @returns nothing without an SDK, or if its copy of the API is older than this one.
 */
export function createTracing(version: string): Tracing | undefined {
  const provider = trace.getTracerProvider();
  const scope = ['user-group-gateway', version] as const;
  // Without an SDK it is the API's own provider, which delegates to none.
  const tracer = provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(...scope) : provider.getTracer(...scope);
  if (!tracer) return undefined;

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

  return {
    request({ method, headers, id }, run) {
      const parent = propagation.extract(context.active(), headers);
      const attributes = { 'http.request.method': method, 'user_group_gateway.request_id': id };
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
      context.with(trace.setSpan(parent, span), run, undefined, requestSpan(span, method));
    },
    operation(type, name, run) {
      const attributes = { 'graphql.operation.type': type, 'graphql.operation.name': name };
      return inSpan(tracer.startSpan(`${type} ${name}`, { attributes }), run);
    },
    statement(name, run) {
      const attributes: Attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name };
      return inSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }), run);
    },
  };
}

function requestSpan(span: Span, method: TracedRequest['method']): RequestSpan {
  return {
    traceId: span.spanContext().traceId,
    end({ route, status, errorCodes }: TracedResponse) {
      if (route) span.updateName(`${method} ${route.path}`).setAttribute('http.route', route.path);
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      if (errorCodes[0] !== undefined) span.setAttribute('error.type', errorCodes[0]);
      if (status === undefined || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** The code of an error, or its class: messages may have stored values. */
function typeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : typeof error;
}
