import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { CompletedRequest } from './http/request.ts';

/**
 * Creates a function that logs completed requests, a line each. A line names the route and the operation, and neither the path
 * nor anything else that the client sent, the ids of request and trace aside.
 *
 * @param fraction of the requests that get a line, from 0 to 1.
 * @returns nothing when no request gets one.
 */
export function createRequestLog(log: Logger, fraction: number): ((completed: CompletedRequest) => void) | undefined {
  if (fraction === 0 || !log.isLevelEnabled('info')) return undefined;
  const write = (completed: CompletedRequest): void => {
    const { id, route, method, operation, status, durationMs, cost, errorCodes, traceId, headers, caller } = completed;
    log.info(
      {
        request: id,
        trace: traceId ?? (headers && traceIdOf(headers)),
        method,
        route: route?.path,
        operation: operation || undefined,
        status,
        durationMs: Math.round(durationMs * 1_000) / 1_000,
        cost,
        errors: errorCodes.length > 0 ? errorCodes : undefined,
        apiToken: caller.apiToken?.id,
      },
      'request',
    );
  };
  return fraction === 1 ? write : (completed) => void (Math.random() < fraction && write(completed));
}

/** The trace id of a request, from its header `traceparent` (W3C Trace Context); nothing if the header is absent or not valid. */
export function traceIdOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > maxTraceparentLength) return undefined;
  const [, version, traceId, parentId] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/.exec(traceparent) ?? [];
  if (version === 'ff' || (version === '00' && traceparent.length !== 55)) return undefined;
  return /^0+$/.test(`${traceId ?? 0}`) || /^0+$/.test(`${parentId ?? 0}`) ? undefined : traceId;
}

/** The header has 55 characters; later versions may have more. */
const maxTraceparentLength = 256;
