import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { GatewayError } from '../errors.ts';
import { ByteBudget } from './byte-budget.ts';
import { httpLimits, httpTimeouts } from './limits.ts';
import { problem } from './problem.ts';
import { ReceivedRequest, type RequestContext, type ServerOptions } from './request.ts';
import { parserFailure } from './request-head.ts';
import { notHttp } from './response.ts';

/** The URL of a server that listens; `localhost` for one that listens on every address. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const host = ['0.0.0.0', '::'].includes(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

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

/** Builds the HTTP server. It does not listen yet. */
export function createHttpServer(options: ServerOptions): Server {
  const server = createServer({
    headersTimeout: httpTimeouts.headersMs,
    requestTimeout: httpTimeouts.requestMs,
    keepAliveTimeout: httpTimeouts.keepAliveMs,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: httpLimits.maxHeaderBytes,
    requireHostHeader: false, // checked with the other headers, with a message
  });
  server.maxConnections = httpLimits.maxConnections;
  server.maxHeadersCount = 0; // bounded by their size; Node.js would drop what exceeds their number, without an error

  const context: RequestContext = {
    ...options,
    bodies: new ByteBudget(httpLimits.maxHeldBodyBytes),
    unsent: new ByteBudget(httpLimits.maxUnsentBytes),
    discarding: 0,
  };
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const connection = Connection.of(incoming.socket);
    if (connection.isOpen) connection.add(new ReceivedRequest(context, connection, incoming, outgoing));
  };
  server.on('request', handle);
  // Node.js would answer these itself, without any of the checks.
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const failure = parserFailure(error.code);
    const { current } = Connection.of(socket as Socket);
    if (current) return current.failParsing(failure);
    const id = randomUUID();
    const { status, headers, body } = problem(failure, { id });
    options.onResponse?.({ ...notHttp, status, id, errorCodes: [failure.code] });
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${headers['content-type']}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\n` +
        `Cache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
    );
    // The client may keep its side open.
    setTimeout(() => socket.destroy(), httpTimeouts.discardMs).unref();
  });
  return server;
}
