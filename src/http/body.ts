import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { QueueKey } from '../concurrency/fair-queue.ts';
import { GatewayError, InvalidInput, shorten } from '../errors.ts';
import { parseJson } from '../json.ts';
import type { ByteBudget } from './byte-budget.ts';
import { httpLimits, receivedPartBytes, smallBodyBytes } from './limits.ts';
import { mediaTypes, readAcceptItem } from './media-types.ts';
import type { HttpRequest } from './types.ts';

/** The content codings of files, the preferred one first: a client that accepts several equally gets it. */
export const contentCodings = ['br', 'gzip', 'identity'] as const;

/** How the content of a response is encoded; `identity` is without a coding. */
export type ContentCoding = (typeof contentCodings)[number];

/**
 * Chooses the coding that an `Accept-Encoding` header prefers, as RFC 9110 says: without the header nothing is encoded, `*`
 * stands for every coding that is not named, and `identity` is acceptable unless it is excluded. Linear in the length of the
 * header.
 *
 * @param available the codings to choose from, `identity` among them: it is chosen if none is acceptable.
 */
export function chooseCoding(acceptEncoding: string | undefined, available: readonly ContentCoding[]): ContentCoding {
  if (acceptEncoding === undefined) return 'identity';
  const qualities = new Map<string, number>();
  for (const item of acceptEncoding.split(',')) {
    const { name, quality } = readAcceptItem(item);
    qualities.set(name === 'x-gzip' ? 'gzip' : name, quality);
  }
  const others = qualities.get('*') ?? 0;
  let chosen: ContentCoding = 'identity';
  // Acceptable even where it is not named, but less than everything that is.
  let best = qualities.get('identity') ?? (qualities.has('*') ? others : Number.MIN_VALUE);
  for (const coding of contentCodings) {
    if (coding === 'identity' || !available.includes(coding)) continue;
    const quality = qualities.get(coding) ?? others;
    if (quality > best || (quality === best && quality > 0 && chosen === 'identity')) {
      chosen = coding;
      best = quality;
    }
  }
  return chosen;
}

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

const { maxBodyBytes, maxBodyParts } = httpLimits;

/** The declared length of a request's body in bytes; `undefined` for a chunked one. */
export function declaredBytes({ headers }: IncomingMessage): number | undefined {
  const declared = headers['content-length'];
  if (declared !== undefined) return Number(declared);
  return headers['transfer-encoding'] === undefined ? 0 : undefined;
}

/** Whether a request has no body, or one so small that it is read without accounting for it. */
export function isSmall(incoming: IncomingMessage): boolean {
  const bytes = declaredBytes(incoming);
  return bytes !== undefined && bytes <= smallBodyBytes;
}

/** Whether a request declares a body that is larger than permitted. */
export function isTooLarge(incoming: IncomingMessage, maxBytes: number = maxBodyBytes): boolean {
  return (declaredBytes(incoming) ?? 0) > maxBytes;
}

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
    let chunks: Buffer[] = [];
    let bytes = 0;
    let parts = 0;
    let isRejected = false;
    const rejectBody = (error: GatewayError) => {
      isRejected = true;
      chunks = [];
      reject(error);
    };
    incoming.on('data', (chunk: Buffer) => {
      if (isRejected) return;
      bytes += chunk.length;
      parts += 1;
      if (bytes > maxBytes) rejectBody(tooLarge(maxBytes));
      else if (parts > maxBodyParts) rejectBody(tooManyParts());
      else if (hold && !hold(chunk.length + receivedPartBytes)) rejectBody(noRoom());
      else chunks.push(chunk);
    });
    // Both are emitted at most once; `once` would add a wrapper to each.
    incoming.on('end', () => {
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      chunks = []; // the listener above, and with it the chunks, would be in memory as long as the request
    });
    incoming.on('error', () =>
      reject(new GatewayError('INVALID_INPUT', 'The request body is incomplete: the connection closed early.')),
    );
  });
}

/** The part of the budget for bodies that one request holds. */
export class BodyHold {
  private readonly budget: ByteBudget;
  private readonly queueKey: QueueKey;
  private bytes = 0;

  constructor(budget: ByteBudget, queueKey: QueueKey) {
    this.budget = budget;
    this.queueKey = queueKey;
  }

  readonly take = (bytes: number): boolean => {
    if (!this.budget.take(bytes, this.queueKey)) return false;
    this.bytes += bytes;
    return true;
  };

  /** Releases everything; the body is no longer needed. */
  release(): void {
    this.budget.release(this.bytes, this.queueKey);
    this.bytes = 0;
  }
}

/**
 * The JSON in a request's body.
 *
 * @throws GatewayError `UNSUPPORTED_MEDIA_TYPE` when it is declared as anything but JSON in UTF-8; `MALFORMED_JSON`.
 */
function jsonBody({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>): unknown {
  requireMediaType(mediaTypes.json, headers['content-type'], headers['content-encoding']);
  if (!isUtf8(body)) throw new GatewayError('MALFORMED_JSON', 'The body is not valid UTF-8.');
  return parseJson(body.toString('utf8'));
}

/**
 * The JSON object in a request's body.
 *
 * @throws GatewayError `BODY_REQUIRED`, with `howTo` in its text; and as {@link jsonBody} does.
 * @throws InvalidInput when it is not an object.
 */
export function jsonObject(request: Pick<HttpRequest, 'headers' | 'body'>, howTo: string): Record<string, unknown> {
  if (request.body.length === 0) throw new GatewayError('BODY_REQUIRED', `The request has no body. ${howTo}`);
  const value = jsonBody(request);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InvalidInput([{ path: [], message: 'The body must be one JSON object.' }]);
}

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
