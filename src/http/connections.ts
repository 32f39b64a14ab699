import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { joinParts } from './body-parts.ts';

/** The property of a socket that has its connection: a WeakMap has slower look-ups and slows down garbage collection. */
const connectionOf = Symbol('connection');
type ConnectionSocket = Socket & { [connectionOf]?: Connection };

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Passes on the requests of each connection one at a time: the next one when the client has read the previous response. Until
 * then at most a chunk or two more are read from the connection, so a client that sends without reading cannot cause work.
 */
export class Connections {
  private readonly handle: Handler;
  private readonly maxWaiting: number;

  /** @param maxWaiting how many requests may wait on a connection; one that has more is closed. */
  constructor(handle: Handler, maxWaiting: number) {
    this.handle = handle;
    this.maxWaiting = maxWaiting;
  }

  /** Passes a request on, or queues it. */
  readonly add: Handler = (incoming, outgoing) => {
    joinParts(incoming);
    const socket: ConnectionSocket = incoming.socket;
    socket[connectionOf] ??= new Connection(socket, this.handle, this.maxWaiting);
    socket[connectionOf].add(incoming, outgoing);
  };

  /** Whether a request on this connection was received completely and its response is pending or being sent. */
  readonly isResponding = (socket: ConnectionSocket): boolean => socket[connectionOf]?.isResponding ?? false;

  /** Whether a request on this connection was passed on, and its response is not sent yet. */
  readonly isOccupied = (socket: ConnectionSocket): boolean => socket[connectionOf]?.isOccupied ?? false;

  /** Closes a connection after the response in flight; requests that wait on it are dropped. */
  readonly closeAfterResponse = (socket: ConnectionSocket): void => socket[connectionOf]?.closeAfterResponse();
}

class Connection {
  private readonly socket: Socket;
  private readonly handle: Handler;
  private readonly maxWaiting: number;
  private readonly waiting: [IncomingMessage, ServerResponse][] = [];
  private isClosing = false;
  private incoming: IncomingMessage | undefined;
  private outgoing: ServerResponse | undefined;

  constructor(socket: Socket, handle: Handler, maxWaiting: number) {
    this.socket = socket;
    this.handle = handle;
    this.maxWaiting = maxWaiting;
    // Node resumes the socket whenever it has received a request, also one that waits.
    socket.on('resume', this.pause);
  }

  get isResponding(): boolean {
    return this.incoming?.complete === true || this.outgoing?.headersSent === true;
  }

  get isOccupied(): boolean {
    return this.outgoing !== undefined;
  }

  add(incoming: IncomingMessage, outgoing: ServerResponse): void {
    // After a response with `Connection: close` nothing is executed, though the rest of the rejected request is still read.
    if (this.socket.destroyed || this.socket.writableEnded || this.isClosing) return;
    if (!this.outgoing) {
      this.start(incoming, outgoing);
      return;
    }
    this.waiting.push([incoming, outgoing]);
    // Not now: a pause before Node's scheduled resume takes effect would be undone by it, and could not be repeated.
    process.nextTick(this.pause);
    if (this.waiting.length > this.maxWaiting) {
      this.waiting.length = 0;
      this.socket.destroy();
      stopParsing(this.socket);
    }
  }

  closeAfterResponse(): void {
    this.isClosing = true;
    this.waiting.length = 0;
    this.socket.pause();
  }

  /** Reads no further while requests wait. */
  private readonly pause = (): void => {
    if (this.waiting.length > 0) this.socket.pause();
  };

  private start(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.incoming = incoming;
    this.outgoing = outgoing;
    outgoing.on('close', this.next);
    this.handle(incoming, outgoing);
  }

  /** The response was sent, or the connection is closed or closing. */
  private readonly next = (): void => {
    this.incoming = undefined;
    this.outgoing = undefined;
    if (this.isClosing) this.socket.destroySoon();
    if (this.socket.destroyed || this.socket.writableEnded) {
      this.waiting.length = 0;
      return;
    }
    const following = this.waiting.shift();
    // Of those that wait, only the last may have a body that is still to come.
    if (this.waiting.length === 0 && this.socket.isPaused()) this.socket.resume();
    if (following) this.start(...following);
  };
}

/** The part of Node's parser that passes a request on; a result of 2 means that no HTTP follows. */
type ParsedSocket = Socket & { readonly parser?: { onIncoming: () => number } | null };

/**
 * Leaves the rest of the chunk that Node is parsing. Otherwise it makes objects of all of its requests, up to 2,000 of a few
 * kilobytes each, even if the connection is destroyed, and frees none before every other connection with data was read.
 */
function stopParsing({ parser }: ParsedSocket): void {
  if (parser) parser.onIncoming = () => 2;
}
