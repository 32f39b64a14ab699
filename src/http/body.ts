import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError, InvalidInput, type Issue, shorten } from '../errors.ts';
import { httpLimits, receivedPartBytes, smallBodyBytes } from '../http-limits.ts';
import { parseJson, parseQuery } from '../json.ts';
import { mediaTypes } from './media-types.ts';
import type { HttpRequest } from './types.ts';

/**
 * Checks that no parameter of a query string is lost beside a body, which alone is read.
 *
 * @param parameters those that would have a meaning.
 * @throws InvalidInput for each that is not the same text in the body.
 */
export function assertSameInBody(parameters: Iterable<readonly [name: string, value: string]>, body: object): void {
  const members = new Map<string, unknown>(Object.entries(body));
  const message = 'is in the query string, but not the same in the body; send it in the body only.';
  const lost = [...parameters].filter(([name, value]) => members.get(name) !== value);
  if (lost.length > 0) throw new InvalidInput(lost.map(([name]) => ({ path: [name], message })));
}

/**
 * The issues of fields that a request does not have: nothing is ignored in silence.
 *
 * @param ofResponses fields of the response, which a caller may send back.
 */
export function unknownFields(
  names: Iterable<string>,
  known: readonly string[],
  within: Issue['path'] = [],
  ofResponses: readonly string[] = [],
): Issue[] {
  const unknown = [...new Set(names)].filter((name) => !known.includes(name));
  return unknown.map((name) => ({
    path: [...within, name],
    message: `${ofResponses.includes(name) ? 'belongs to responses' : 'is not a field of this request'}; send only ${known.join(', ')}.`,
  }));
}

/** The issues of a query string, for a request whose fields belong in the body. */
export const queryIssues = (query: string, known: readonly string[]): Issue[] =>
  [...new Set(parseQuery(query).keys())].map((name) => ({
    path: [name],
    message: `is in the query string; send only ${known.join(', ')}, in the body.`,
  }));

const { maxBodyBytes, maxBodyParts } = httpLimits;

/** The declared length of a request's body in bytes; `undefined` for a chunked one. */
export function declaredBytes({ headers }: IncomingMessage): number | undefined {
  const declared = headers['content-length'];
  if (declared !== undefined) return Number(declared);
  return headers['transfer-encoding'] === undefined ? 0 : undefined;
}

/** Whether a request has no body, or one so small that it is read without accounting for it. */
export const isSmall = (incoming: IncomingMessage): boolean =>
  (declaredBytes(incoming) ?? Number.POSITIVE_INFINITY) <= smallBodyBytes;

/** Whether a request declares a body that is larger than permitted. */
export const isTooLarge = (incoming: IncomingMessage, maxBytes: number = maxBodyBytes): boolean =>
  (declaredBytes(incoming) ?? 0) > maxBytes;

/**
 * Reads the whole body of a request, of any method.
 *
 * @param hold reserves memory for bytes before they are kept; false if there is none.
 * @throws GatewayError `PAYLOAD_TOO_LARGE` as soon as the limit of bytes or of parts is exceeded, or the bytes are declared to
 *   exceed it; `UNAVAILABLE` when there is no room. The rest is not kept.
 */
export function readBody(
  incoming: IncomingMessage,
  maxBytes: number = maxBodyBytes,
  hold?: (bytes: number) => boolean,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (isTooLarge(incoming, maxBytes)) return reject(tooLarge(maxBytes));
    let chunks: Buffer[] | undefined = [];
    let bytes = 0;
    const rejectBody = (error: GatewayError): void => {
      chunks = undefined;
      reject(error);
    };
    incoming.on('data', (chunk: Buffer) => {
      if (!chunks) return; // rejected
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) rejectBody(tooLarge(maxBytes));
      else if (chunks.length > maxBodyParts) rejectBody(tooManyParts());
      else if (hold && !hold(chunk.length + receivedPartBytes)) rejectBody(noRoom());
    });
    // Both are emitted at most once; `once` would add a wrapper to each.
    incoming.on('end', () => {
      if (chunks) resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      chunks = undefined; // the listener above, and with it the chunks, would be in memory as long as the request
    });
    incoming.on('error', () =>
      reject(new GatewayError('INVALID_INPUT', 'The request body is incomplete: the connection closed early.')),
    );
  });
}

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

function tooManyParts(): GatewayError {
  return new GatewayError('PAYLOAD_TOO_LARGE', `The body exceeds the limit of ${maxBodyParts} chunks. Send larger chunks.`);
}

function noRoom(): GatewayError {
  return new GatewayError(
    'UNAVAILABLE',
    'Too many large request bodies are being received. Nothing was changed. Try again after the number of seconds in the Retry-After header.',
  );
}
