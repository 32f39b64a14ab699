import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../domain/errors.ts';
import type { Share } from '../fair-queue.ts';
import { declaresBody } from './body.ts';
import { ByteBudget } from './byte-budget.ts';
import type { Deadlines } from './deadlines.ts';
import { httpLimits, httpTimeouts, smallResponseBytes } from './limits.ts';
import { Lingering } from './lingering.ts';
import type { HttpResponse, ResponseBody } from './types.ts';

/** How to write a response. */
export interface WriteOptions {
  /** The id of the request. */
  readonly id: string;
  /** The share of the budget for unsent responses that it counts towards. */
  readonly share: Share;
  /** Whether the connection is closed after it. */
  readonly closes: boolean;
  /** Renders the error that replaces a response that cannot be sent. */
  render(error: GatewayError): HttpResponse;
}

/** The headers that are set here for every response; a route cannot override them. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['x-request-id', 'x-content-type-options', 'cache-control'],
  ...['content-length', 'transfer-encoding', 'connection'],
]);

/** Writes responses, and bounds the unsent ones of clients that do not read them, in bytes and in time. */
export class ResponseWriter {
  private readonly deadlines: Deadlines;
  private readonly lingering = new Lingering();
  private readonly unsent = new ByteBudget(httpLimits.maxUnsentBytes);
  private readonly reserved = new WeakMap<ServerResponse, number>();

  constructor(deadlines: Deadlines) {
    this.deadlines = deadlines;
  }

  /**
   * Reserves the bytes of a response that is about to be built, until it is sent. Must not be called for one that was written.
   *
   * @throws GatewayError `UNAVAILABLE` while too many bytes are unsent to other clients, or when the client has disconnected.
   */
  reserve(outgoing: ServerResponse, bytes: number, share: Share): void {
    if (outgoing.destroyed || !this.hold(outgoing, bytes, share)) throw tooMuchUnsent();
  }

  /** Writes a complete response. A large one is replaced by 503 while too many bytes are unsent to other clients. */
  write(incoming: IncomingMessage, outgoing: ServerResponse, response: HttpResponse<ResponseBody>, options: WriteOptions): void {
    if (outgoing.destroyed) return;
    const { body } = response;
    const bytes = Buffer.byteLength(body);
    const isShared = typeof body !== 'string' && !this.reserved.has(outgoing);
    if (isShared || this.hold(outgoing, bytes, options.share)) {
      this.send(incoming, outgoing, response, bytes, options.id, options.closes);
      return;
    }
    const error = options.render(tooMuchUnsent());
    // Closes the connection, so that pipelined requests are not executed needlessly.
    this.send(incoming, outgoing, error, Buffer.byteLength(error.body), options.id, true);
  }

  /**
   * Reserves the bytes of a large response, or those that are not reserved yet, until it is sent.
   *
   * @returns false if they exceed the budget.
   */
  private hold(outgoing: ServerResponse, bytes: number, share: Share): boolean {
    if (bytes <= smallResponseBytes) return true;
    const missing = bytes - (this.reserved.get(outgoing) ?? 0);
    if (missing <= 0) return true;
    if (!this.unsent.take(missing, share)) return false;
    this.reserved.set(outgoing, bytes);
    outgoing.once('close', () => this.unsent.release(missing, share));
    return true;
  }

  private send(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { status, headers, body, cacheControl = 'no-store' }: HttpResponse<ResponseBody>,
    bytes: number,
    id: string,
    closes: boolean,
  ): void {
    // After a body that was not read completely, the connection cannot be reused.
    const isUnread = !incoming.complete && declaresBody(incoming);
    // Alternating names and values: the form that Node.js writes fastest.
    const lines = ['x-request-id', id, 'x-content-type-options', 'nosniff', 'cache-control', cacheControl];
    for (const name in headers) if (!ownHeaders.has(name.toLowerCase())) lines.push(name, headers[name] as string);
    if (status !== 304) lines.push('content-length', String(bytes));
    if (closes || isUnread) lines.push('connection', 'close');
    if (isUnread) this.lingering.start(incoming);
    outgoing.writeHead(status, lines);
    if (typeof body === 'string')
      outgoing.end(body, bytes === body.length ? 'latin1' : 'utf8'); // the same for ASCII, and written faster
    else outgoing.end(body);
    if (!outgoing.writableFinished) this.expectSent(outgoing);
  }

  /** Most responses are in the system's buffers by now. For others, the client has to read them before a deadline. */
  private expectSent(outgoing: ServerResponse): void {
    const sending = { expiresAtMs: 0, slot: -1, expire: () => void outgoing.destroy() };
    this.deadlines.start(sending, httpTimeouts.sendMs);
    outgoing.once('close', () => this.deadlines.end(sending));
  }
}

const tooMuchUnsent = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    'Too many large responses are waiting for clients to read them. The requested change may have been made. ' +
      'Try again after the number of seconds in the Retry-After header.',
  );
