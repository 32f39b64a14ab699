import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { GatewayError } from '../errors.ts';
import { httpTimeouts, maxDiscardedChunks, smallResponseBytes } from '../http-limits.ts';
import { declaredBytes } from './body.ts';
import type { ReceivedRequest } from './request.ts';
import type { HttpResponse, ResponseBody } from './types.ts';

/** Too many bytes of responses are in memory. */
export const tooMuchUnsent = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    'Too many large responses are waiting for clients to read them. A requested change may have been made. ' +
      'Try again after the number of seconds in the Retry-After header.',
  );

/**
 * Sends the response to a request: bounds what the client does not read, in bytes and in time, and discards the rest of a request
 * that was not read.
 *
 * @returns false, and sends nothing, if it is large and too many bytes wait to be sent.
 * @throws Error for headers that Node.js refuses; nothing is sent then.
 */
export function send(
  { context, connection, incoming, outgoing, id, caller: { queueKey } }: ReceivedRequest,
  { status, headers, body, cacheControl = 'no-store' }: HttpResponse<ResponseBody>,
): boolean {
  const bytes = body instanceof Readable ? undefined : Buffer.byteLength(body);
  if (bytes !== undefined && bytes > smallResponseBytes) {
    if (!context.unsent.take(bytes, queueKey)) return false;
    outgoing.once('close', () => context.unsent.release(bytes, queueKey));
  }
  // Alternating names and values: the form that Node.js writes fastest.
  const lines = ['x-request-id', id, 'x-content-type-options', 'nosniff', 'cache-control', cacheControl];
  // What CORS has set would be replaced.
  const vary = outgoing.getHeader('vary');
  for (const name in headers) {
    const value = headers[name] as string;
    lines.push(name, name === 'vary' && vary !== undefined ? `${value}, ${vary}` : value);
  }
  if (status !== 304 && bytes !== undefined) lines.push('content-length', String(bytes));
  // Not for HEAD: Node.js would send its headers only at the end.
  const isUnread = incoming.method !== 'HEAD' && !incoming.complete && !connection.isClosing && declaredBytes(incoming) !== 0;
  if (isUnread || context.draining.aborted) connection.isClosing = true;
  if (connection.isClosing) lines.push('connection', 'close');
  outgoing.writeHead(status, lines);
  if (body instanceof Readable) {
    pipeline(body, outgoing, () => {}); // on a failure it destroys both: the client sees that the response is incomplete
  } else if (isUnread) {
    // A connection that is closed with unread data is reset, and a client that is still sending may lose the response.
    outgoing.write(body);
    let chunks = 0;
    incoming.on('data', () => {
      chunks += 1;
      if (chunks === maxDiscardedChunks) outgoing.end();
    });
    incoming.on('close', () => outgoing.end());
    endAfter(httpTimeouts.discardMs, outgoing, () => outgoing.end());
  } else if (typeof body === 'string')
    outgoing.end(body, bytes === body.length ? 'latin1' : 'utf8'); // the same for ASCII, and written faster
  else outgoing.end(body);
  // Most responses are in the system's buffers by now; others have to be read in time.
  if (!outgoing.writableFinished) endAfter(httpTimeouts.sendMs, outgoing, () => outgoing.destroy());
  return true;
}

/** Ends a response, unless it is closed before. */
function endAfter(milliseconds: number, outgoing: ServerResponse, end: () => void): void {
  const timer = setTimeout(end, milliseconds);
  outgoing.once('close', () => clearTimeout(timer));
}

/** Closes the file of a response that is not sent. */
export function discard({ body }: HttpResponse<ResponseBody>): void {
  if (body instanceof Readable) body.on('error', () => {}).destroy();
}
