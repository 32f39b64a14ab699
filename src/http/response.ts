import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { Caller } from '../caller.ts';
import type { QueueKey } from '../concurrency/fair-queue.ts';
import type { ErrorCode } from '../error-catalog.ts';
import { declaredBytes } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import { httpTimeouts, maxDiscardedChunks, maxDiscardingConnections, smallResponseBytes } from './limits.ts';
import type { Connection } from './server.ts';
import type { HttpResponse, ResponseBody, Route } from './types.ts';

/** A request whose response was sent, or can no longer be sent. */
export interface CompletedRequest {
  /** Nothing, if no route has this path or the request is not valid HTTP. */
  readonly route: Route | undefined;
  /** Nothing, if the request is not valid HTTP. */
  readonly method: string | undefined;
  /** Nothing, if the client disconnected before the response. */
  readonly status: number | undefined;
  /** From the end of the request's headers until the response is passed to the socket; 0 if the request is not valid HTTP. */
  readonly durationMs: number;
  /** The id of the request. */
  readonly id: string;
  /** The error codes that the response reports, in whatever form; each once. */
  readonly errorCodes: readonly ErrorCode[];
  /** The operation that it executed, one of few names; empty if there was none. */
  readonly operation: string;
  /** The cost of that operation, at most, if it has one. */
  readonly cost: number | undefined;
  /** The id of the trace that its span belongs to, if it has one. */
  readonly traceId: string | undefined;
  /** Nothing, if the request is not valid HTTP. */
  readonly headers: IncomingHttpHeaders | undefined;
  /** Anonymous also if the API token was not accepted. */
  readonly caller: Caller;
}

/** What is known of a request that is not valid HTTP. */
export const notHttp = {
  route: undefined,
  method: undefined,
  durationMs: 0,
  headers: undefined,
  operation: '',
  cost: undefined,
  traceId: undefined,
  caller: Caller.anonymous,
} satisfies Partial<CompletedRequest>;

/** What the responses of a server share. */
export interface ResponseContext {
  /** The bytes of responses that clients have not read. */
  readonly unsent: ByteBudget;
  /** Whether connections should be closed after their response, because the gateway is about to stop. */
  readonly isDraining: () => boolean;
  /** How many connections are being read only to discard the rest of a rejected body. */
  discarding: number;
}

/** The headers that are set here for every response; a route cannot override them. */
const ownHeaders: ReadonlySet<string> = new Set([
  'x-request-id',
  'x-content-type-options',
  'cache-control',
  'content-length',
  'transfer-encoding',
  'connection',
]);

/** The response to one request: bounds what the client does not read, in bytes and in time, and discards an unread request. */
export class OutgoingResponse {
  private readonly context: ResponseContext;
  private readonly connection: Connection;
  private readonly incoming: IncomingMessage;
  private readonly outgoing: ServerResponse;
  private deadline: NodeJS.Timeout | undefined;

  constructor(context: ResponseContext, connection: Connection, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.context = context;
    this.connection = connection;
    this.incoming = incoming;
    this.outgoing = outgoing;
  }

  /** Counts the bytes of a large response until it is sent. @returns false if too many wait to be sent. */
  hold(bytes: number, queueKey: QueueKey): boolean {
    if (bytes <= smallResponseBytes) return true;
    if (!this.context.unsent.take(bytes, queueKey)) return false;
    this.outgoing.once('close', () => this.context.unsent.release(bytes, queueKey));
    return true;
  }

  /** Writes a response. @param bytes the length of its body, if it is known. @throws Error for headers that Node.js refuses. */
  send(
    { status, headers, body, cacheControl = 'no-store' }: HttpResponse<ResponseBody>,
    bytes: number | undefined,
    requestId: string,
  ): void {
    const { incoming, outgoing, connection } = this;
    // Alternating names and values: the form that Node.js writes fastest.
    const lines = ['x-request-id', requestId, 'x-content-type-options', 'nosniff', 'cache-control', cacheControl];
    // What CORS has set would be replaced.
    const vary = outgoing.getHeader('vary');
    for (const name in headers) {
      if (ownHeaders.has(name.toLowerCase())) continue;
      const value = headers[name] as string;
      lines.push(name, name === 'vary' && vary !== undefined ? `${value}, ${vary}` : value);
    }
    if (status !== 304 && bytes !== undefined) lines.push('content-length', String(bytes));
    // Not for HEAD: Node.js would send its headers only at the end.
    const isUnread = incoming.method !== 'HEAD' && !incoming.complete && !connection.isClosing && declaredBytes(incoming) !== 0;
    if (isUnread || this.context.isDraining()) connection.isClosing = true;
    if (connection.isClosing) lines.push('connection', 'close');
    outgoing.writeHead(status, lines);
    if (body instanceof Readable) {
      pipeline(body, outgoing, () => {}); // on a failure it destroys both: the client sees that the response is incomplete
    } else if (isUnread) {
      outgoing.write(body);
      this.endUnread();
    } else if (typeof body === 'string')
      outgoing.end(body, bytes === body.length ? 'latin1' : 'utf8'); // the same for ASCII, and written faster
    else outgoing.end(body);
    // Most responses are in the system's buffers by now; others have to be read in time.
    if (!outgoing.writableFinished) this.deadline = setTimeout(() => outgoing.destroy(), httpTimeouts.sendMs);
  }

  /** The response is sent, or can no longer be sent. */
  close(): void {
    clearTimeout(this.deadline);
  }

  /**
   * Ends the response to a request that was not read to its end. Reads some of the rest first: a connection that is closed with
   * unread data is reset, and a client that is still sending may lose the response.
   */
  private endUnread(): void {
    const { incoming, outgoing, context } = this;
    if (context.discarding >= maxDiscardingConnections) return void outgoing.end();
    const timer = setTimeout(() => outgoing.end(), httpTimeouts.discardMs);
    context.discarding += 1;
    outgoing.once('close', () => {
      clearTimeout(timer);
      context.discarding -= 1;
    });
    let chunks = 0;
    incoming.on('data', () => {
      chunks += 1;
      if (chunks === maxDiscardedChunks) outgoing.end();
    });
    incoming.on('close', () => outgoing.end());
  }
}

/** Closes the file of a response that is not sent. */
export function discard({ body }: HttpResponse<ResponseBody>): void {
  if (body instanceof Readable) body.on('error', () => {}).destroy();
}
