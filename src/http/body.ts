import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError, InvalidInput, type Issue, shorten } from '../errors.ts';
import { httpLimits } from '../http-limits.ts';
import { parseJson, parseQuery } from '../json.ts';
import { mediaTypes } from './media-types.ts';
import type { HttpRequest } from './types.ts';

/** The issues of fields that a request does not have: nothing is ignored in silence. */
export function unknownFields(names: Iterable<string>, known: readonly string[], within: Issue['path'] = []): Issue[] {
  const unknown = [...new Set(names)].filter((name) => !known.includes(name));
  return unknown.map((name) => ({
    path: [...within, name],
    message: `is not a field of this request; send only ${known.join(', ')}.`,
  }));
}

/** The issues of a query string, for a request whose fields belong in the body. */
export const queryIssues = (query: string, known: readonly string[]): Issue[] =>
  [...new Set(parseQuery(query).keys())].map((name) => ({
    path: [name],
    message: `is in the query string; send only ${known.join(', ')}, in the body.`,
  }));

const { maxBodyBytes } = httpLimits;

/** The declared length of a request's body in bytes; `undefined` for a chunked one. */
export function declaredBytes({ headers }: IncomingMessage): number | undefined {
  const declared = headers['content-length'];
  if (declared !== undefined) return Number(declared);
  return headers['transfer-encoding'] === undefined ? 0 : undefined;
}

/**
 * Reads the whole body of a request, of any method.
 *
 * @param hold accounts for bytes before they are kept; throws if there is no room.
 * @throws GatewayError `PAYLOAD_TOO_LARGE` as soon as the limit is exceeded, or the bytes are declared to exceed it; what `hold`
 *   throws. The rest is read and dropped.
 */
export function readBody(incoming: IncomingMessage, maxBytes: number, hold?: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if ((declaredBytes(incoming) ?? 0) > maxBytes) return reject(tooLarge(maxBytes));
    let body: Buffer | undefined;
    let bytes = 0;
    let isRejected = false;
    const keep = (chunk: Buffer): void => {
      if (bytes + chunk.length > maxBytes) throw tooLarge(maxBytes);
      hold?.(chunk.length);
      // Into one buffer: many small chunks would take many times their bytes.
      if (!body) body = chunk;
      else {
        if (bytes + chunk.length > body.length || bytes === body.length) {
          const larger = Buffer.allocUnsafe(Math.max(2 * body.length, bytes + chunk.length));
          body.copy(larger, 0, 0, bytes);
          body = larger;
        }
        chunk.copy(body, bytes);
      }
      bytes += chunk.length;
    };
    incoming.on('data', (chunk: Buffer) => {
      if (isRejected) return;
      try {
        keep(chunk);
      } catch (error) {
        isRejected = true;
        body = undefined;
        reject(error);
      }
    });
    // Both are emitted at most once; `once` would add a wrapper to each.
    incoming.on('end', () => {
      resolve((body ?? noBytes).subarray(0, bytes));
      body = undefined; // the listener above, and with it the body, would be in memory as long as the request
    });
    incoming.on('error', () =>
      reject(new GatewayError('INVALID_INPUT', 'The request body is incomplete: the connection closed early.')),
    );
  });
}

const noBytes = Buffer.alloc(0);

/** Whether a body says nothing: some clients and proxies add an empty object to a request without one. */
export const isEmptyBody = (body: Buffer): boolean =>
  body.length === 0 || (body.length < 16 && /^\s*\{\s*\}\s*$/.test(body.toString()));

/**
 * The JSON object in a request's body.
 *
 * @throws GatewayError `BODY_REQUIRED`, with `howTo` in its text; `UNSUPPORTED_MEDIA_TYPE` when it is declared as anything but
 *   JSON in UTF-8; `MALFORMED_JSON`.
 * @throws InvalidInput when it is not an object.
 */
export function jsonObject(request: Pick<HttpRequest, 'headers' | 'body'>, howTo: string): Record<string, unknown> {
  const value = jsonValue(request, howTo);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InvalidInput([{ path: [], message: 'The body must be one JSON object.' }]);
}

/** The same for any JSON value. */
export function jsonValue({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>, howTo: string): unknown {
  if (body.length === 0) throw bodyRequired(howTo);
  requireMediaType(mediaTypes.json, headers['content-type'], headers['content-encoding']);
  if (!isUtf8(body)) throw new GatewayError('MALFORMED_JSON', 'The body is not valid UTF-8.');
  return parseJson(body.toString('utf8'));
}

/** @param howTo what to send, as a sentence. */
export const bodyRequired = (howTo: string): GatewayError =>
  new GatewayError('BODY_REQUIRED', `The request has no body. ${howTo}`);

/** The most characters of a header that a message repeats. */
const maxShownHeader = 100;

/**
 * Requires a media type in UTF-8, without a content encoding. A body without a type counts as the expected one.
 *
 * @throws GatewayError `UNSUPPORTED_MEDIA_TYPE`.
 */
export function requireMediaType(expected: string, contentType: string = expected, encoding = 'identity'): void {
  if (contentType === expected && encoding === 'identity') return; // the usual form
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (type !== expected || (charset && !/^charset="?utf-?8"?$/.test(charset))) {
    throw new GatewayError(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body must be ${expected} in UTF-8, not ${shorten(contentType, maxShownHeader)}.`,
    );
  }
  if (encoding.toLowerCase() !== 'identity') {
    throw new GatewayError(
      'UNSUPPORTED_MEDIA_TYPE',
      `The content encoding ${shorten(encoding, maxShownHeader)} is not supported; send the body without one.`,
    );
  }
}

function tooLarge(maxBytes: number): GatewayError {
  const condition = maxBytes < maxBodyBytes ? ' without an accepted API token' : '';
  return new GatewayError('PAYLOAD_TOO_LARGE', `The body exceeds the limit of ${maxBytes} bytes${condition}.`);
}
