import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '../domain/errors.ts';
import { httpLimits } from './limits.ts';

const connectionOf = Symbol('connection');

/** What a connection does with its requests. */
interface ConnectionRequest {
  readonly outgoing: ServerResponse;
  /** Whether nothing more of it is due. */
  readonly isReceived: boolean;
  /** Reads the request and responds. */
  start(): void;
  /** The response is sent, or can no longer be sent: the rest of the request is not read. */
  abort(): void;
  /** The rest of the request, or what follows it, is not HTTP, or did not arrive in time. */
  failParsing(error: GatewayError): void;
}

/**
 * The requests of one connection, one at a time: a client that pipelines expects the effects in the order of its requests, and
 * none after a response with `Connection: close` (RFC 9112, sections 9.3.2 and 9.6).
 */
export class Connection {
  /** The request that is being handled. */
  current: ConnectionRequest | undefined;
  /** Whether the connection ends with the response to the current request. */
  isClosing = false;
  private readonly socket: Socket;
  private readonly waiting: ConnectionRequest[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  /** The connection of a socket. A property of the socket: a `WeakMap` is slower, and slows down garbage collection. */
  static of(socket: Socket & { [connectionOf]?: Connection }): Connection {
    socket[connectionOf] ??= new Connection(socket);
    return socket[connectionOf];
  }

  /** Whether further requests are handled. */
  get isOpen(): boolean {
    return !this.isClosing && this.socket.writable;
  }

  /** Handles a request after those before it. Closes the connection if too many wait. */
  add(request: ConnectionRequest): void {
    if (!this.isOpen) return;
    if (!this.current) this.start(request);
    else if (this.waiting.push(request) > httpLimits.maxPipelinedRequests) this.socket.destroy();
  }

  private start(request: ConnectionRequest): void {
    this.current = request;
    request.outgoing.on('close', this.next);
    request.start();
  }

  private readonly next = (): void => {
    this.current?.abort();
    this.current = undefined;
    if (this.isClosing) return void this.socket.end(() => void this.socket.destroy());
    const request = this.waiting.shift();
    if (request) this.add(request);
  };
}

/** Whether a request on the connection of this socket was received completely and its response is pending or being sent. */
export const isResponding = (socket: Socket): boolean => Connection.of(socket).current?.isReceived ?? false;
