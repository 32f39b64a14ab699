import { tracing } from './tracing.ts';

/** Where every copy of the package `@opentelemetry/api`, of any version 1, registers its parts. */
const registration = Symbol.for('opentelemetry.js.api.1');

/**
 * Starts tracing if an OpenTelemetry SDK is registered, as `node --import ./otel.js` does before this program is loaded.
 * Otherwise nothing is loaded.
 *
 * @param version of the gateway.
 * @param warn receives a message for the operator if the SDK cannot be used.
 */
export async function enableTracing(version: string, warn: (message: string) => void): Promise<void> {
  const registered = (globalThis as { [registration]?: { readonly version: string; readonly trace?: unknown } })[registration];
  if (!registered?.trace) return;
  const { createTracing } = await import('./open-telemetry.ts');
  tracing.active = createTracing(registered.trace, version);
  if (tracing.active) return;
  warn(`no traces: @opentelemetry/api ${registered.version} is registered, and 1.9 or a later 1.x is needed`);
}
