import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../domain/errors.ts';
import { containsToken } from '../domain/tokens.ts';

/**
 * Checks the Host header.
 *
 * @throws GatewayError `INVALID_INPUT` when there are several Host headers, or none, which HTTP/1.1 requires.
 */
export function assertOneHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count += 1;
  }
  if (count > 1 || (count === 0 && httpVersion === '1.1')) {
    throw new GatewayError(
      'INVALID_INPUT',
      `The request has ${count === 0 ? 'no Host header' : `${count} Host headers`}; send exactly one.`,
    );
  }
}

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
