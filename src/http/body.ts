import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError, InvalidInput } from '../domain/errors.ts';
import type { GatewayRequest } from './exchange.ts';
import { parseJson } from './json.ts';

/** The most bytes that a body may have: 1 MiB. */
const maxBodyBytes = 1_048_576;

/**
 * Reads a request's body, of any method.
 *
 * @throws GatewayError `PAYLOAD_TOO_LARGE` as soon as the limit is passed, or announced to be; the rest is not kept.
 */
export function readBody(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) return reject(tooLarge());
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) reject(tooLarge());
      else chunks.push(chunk);
    });
    // Both come once at most; `once` would wrap each in a function more.
    incoming.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    incoming.on('error', () => reject(new GatewayError('INVALID_INPUT', 'The request ended before its body did.')));
  });
}

/**
 * The JSON in a request's body.
 *
 * @throws GatewayError `UNSUPPORTED_MEDIA_TYPE` when it is declared as anything but JSON in UTF-8; `MALFORMED_JSON`.
 */
function jsonBody({ headers, body }: Pick<GatewayRequest, 'headers' | 'body'>): unknown {
  requireJson(headers['content-type'], headers['content-encoding']);
  if (!isUtf8(body)) throw new GatewayError('MALFORMED_JSON', 'The body is not valid UTF-8.');
  return parseJson(body.toString('utf8'));
}

/**
 * The JSON object in a request's body.
 *
 * @throws GatewayError `BODY_REQUIRED`, with `howTo` in its text; and as {@link jsonBody} does. @throws InvalidInput when it is no object.
 */
export function jsonObject(request: Pick<GatewayRequest, 'headers' | 'body'>, howTo: string): Record<string, unknown> {
  if (request.body.length === 0) throw new GatewayError('BODY_REQUIRED', `The request has no body. ${howTo}`);
  const value = jsonBody(request);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InvalidInput([{ path: [], message: 'The body must be one JSON object.' }]);
}

function requireJson(contentType = 'application/json', encoding = 'identity'): void {
  if (contentType === 'application/json' && encoding === 'identity') return; // as nearly everybody writes it
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (type !== 'application/json' || (charset && !/^charset="?utf-?8"?$/.test(charset))) {
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', `The body must be application/json in UTF-8, not ${contentType}.`);
  }
  if (encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', `The body must be sent without a content encoding, not in ${encoding}.`);
  }
}

function tooLarge(): GatewayError {
  return new GatewayError('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBodyBytes} bytes.`);
}
