// Loaded before the gateway, as an operator loads an OpenTelemetry SDK. Prints each span as a line of JSON on standard output.
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

const describe = (span) => {
  const { name, kind, attributes, status, links, parentSpanContext } = span;
  const { traceId, spanId } = span.spanContext();
  const ids = { traceId, spanId, parent: parentSpanContext?.spanId, links: links.map(({ context }) => context.spanId) };
  return { name, kind, attributes, status: status.code, ...ids };
};

const exporter = {
  export(spans, done) {
    for (const span of spans) process.stdout.write(`${JSON.stringify(describe(span))}\n`);
    done({ code: 0 });
  },
  shutdown: async () => {},
};

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
