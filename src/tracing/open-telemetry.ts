import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Link,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { RequestSpan, TracedRequest, TracedResponse, Tracing } from './tracing.ts';

/** The spans that a shared statement is linked to. */
const linksKey = createContextKey('links');

/**
 * Creates spans with the SDK that is registered.
 *
 * @param registered the provider of tracers that is registered.
 * @param version of the gateway.
 * @returns nothing if this copy of the API cannot use it: its version must not be later than that of the copy that registered it.
 */
export function createTracing(registered: unknown, version: string): Tracing | undefined {
  if (trace.getTracerProvider() !== registered) return undefined;
  const tracer = trace.getTracer('user-group-gateway', version);

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
      const links = (context.active().getValue(linksKey) ?? []) as Link[];
      return inSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, links }), run);
    },
    current: () => context.active(),
    shared(spans, run) {
      const [first = context.active(), ...others] = spans as readonly Context[];
      const links = others.flatMap((other) => {
        const spanContext = trace.getSpanContext(other);
        return spanContext ? [{ context: spanContext }] : [];
      });
      return context.with(first.setValue(linksKey, links), run);
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
