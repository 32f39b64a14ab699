import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errorCatalog } from '../error-catalog.ts';
import { GatewayError, safeToRepeat } from '../errors.ts';
import { containsToken } from '../tokens.ts';
import { httpLimits, httpTimeouts } from './limits.ts';

/** For the record only: a client that has disconnected gets no response. */
export const disconnected = (): GatewayError => new GatewayError('INVALID_INPUT', 'The client disconnected before the response.');

/** The request did not arrive in time. */
const tooSlow = (): GatewayError =>
  new GatewayError('REQUEST_TIMEOUT', `The request took too long to arrive. ${errorCatalog.REQUEST_TIMEOUT.remedy}`);

/** The request was received, and there was no result in time. */
export const tooLong = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    `No result within ${httpTimeouts.responseMs / 1_000} seconds. The requested change may have been made, or may still be made. ${safeToRepeat}`,
  );

/** The failure of a request that Node's parser rejected. @param parserCode the code of its error. */
export function parserFailure(parserCode: string | undefined): GatewayError {
  switch (parserCode) {
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('HEADERS_TOO_LARGE', `The headers exceed the limit of ${httpLimits.maxHeaderBytes} bytes.`);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return tooSlow();
    default:
      return new GatewayError('INVALID_INPUT', 'The request is not valid HTTP/1.1.');
  }
}

/** Too many bytes of responses are in memory. */
export const tooMuchUnsent = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    'Too many large responses are waiting for clients to read them. The requested change may have been made. ' +
      'Try again after the number of seconds in the Retry-After header.',
  );

/**
 * Checks the headers that a request may have only once: Node.js takes the first of several, and a proxy may take the last.
 *
 * @throws GatewayError `INVALID_INPUT` when there are several `Host` or `Authorization` headers, or no `Host`, which HTTP/1.1
 *   requires.
 */
export function assertSingleHeaders({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new GatewayError('INVALID_INPUT', 'The request has no Host header; send exactly one.');
  }
  let hosts = 0;
  let credentials = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1;
  }
  if (hosts > 1) throw repeated('Host', hosts);
  if (credentials > 1) throw repeated('Authorization', credentials);
}

const repeated = (name: string, count: number): GatewayError =>
  new GatewayError('INVALID_INPUT', `The request has ${count} ${name} headers; send exactly one.`);

/** Takes over the caller's own id of a request if it is harmless to print, else draws one. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && !containsToken(given) ? given : randomUUID();
}

/** The path and query of a request target; a proxy may send it in absolute form. */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\/?/i, '/');
}

/** The text before and after the first separator; after it is nothing where there is none. */
export function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
