import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from 'cors';

/** The response headers that scripts of other origins may read. */
const exposedHeaders = [
  'ETag',
  'Idempotency-Replayed',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'Allow',
  'WWW-Authenticate',
].join(', ');

/** How long browsers may keep a permission, in seconds. */
const maxAge = 600;

/** Sets the headers that permit a response to scripts of other origins; for a preflight request, with the methods of its path. */
export type PermitOrigin = (incoming: IncomingMessage, outgoing: ServerResponse, methods: readonly string[]) => void;

/**
 * Permits scripts of other origins to send requests and to read the responses (CORS), without credentials of the browser: the API
 * token is in a header that the script sets. The headers that a script asks for are permitted.
 *
 * @param origins as browsers send them, such as `https://app.example.com`; or `*` alone: any.
 */
export function createCors(origins: readonly string[]): PermitOrigin {
  const origin = origins.includes('*') ? '*' : [...origins];
  return (incoming, outgoing, methods) => {
    const options = { origin, methods: methods.join(', '), exposedHeaders, maxAge, preflightContinue: true };
    cors(options)(incoming, outgoing, () => {});
  };
}
