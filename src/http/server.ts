import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Caller } from '../caller.ts';
import { errorCatalog } from '../error-catalog.ts';
import { GatewayError } from '../errors.ts';
import { httpLimits, httpTimeouts } from '../http-limits.ts';
import { ByteBudget } from './byte-budget.ts';
import { problem } from './problem.ts';
import { ReceivedRequest, type RequestContext, type ServerOptions } from './request.ts';
import type { FindRoute, Route, RouteMatch } from './types.ts';

/** The URL of a server that listens; `localhost` for one that listens on every address. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const host = ['0.0.0.0', '::'].includes(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

const connectionOf = Symbol('connection');

/**
 * The requests of one connection, one at a time: a client that pipelines expects the effects in the order of its requests, and
 * none after a response with `Connection: close` (RFC 9112, sections 9.3.2 and 9.6).
 */
export class Connection {
  /** The request that is being handled. */
  current: ReceivedRequest | undefined;
  /** Whether the connection ends with the response to the current request. */
  isClosing = false;
  private readonly socket: Socket;
  private readonly waiting: ReceivedRequest[] = [];

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
  handle(request: ReceivedRequest): void {
    if (this.current) {
      if (this.waiting.push(request) > httpLimits.maxPipelinedRequests) this.socket.destroy();
      return;
    }
    this.current = request;
    request.outgoing.on('close', this.next);
    request.start();
  }

  private readonly next = (): void => {
    const { incoming } = this.current as ReceivedRequest;
    this.current = undefined;
    if (!incoming.complete) incoming.destroy(new Error('The response ended before the request.'));
    if (this.isClosing) return void this.socket.destroySoon();
    const request = this.waiting.shift();
    if (request && this.isOpen) this.handle(request);
  };
}

/** Whether a request on the connection of this socket was received completely and its response is pending or being sent. */
export function isResponding(socket: Socket): boolean {
  const { current } = Connection.of(socket);
  return current !== undefined && (current.incoming.complete || current.outgoing.headersSent);
}

/** Builds the HTTP server. It does not listen yet. */
export function createHttpServer(options: ServerOptions): Server {
  const server = createServer({
    headersTimeout: httpTimeouts.headersMs,
    requestTimeout: httpTimeouts.requestMs,
    keepAliveTimeout: httpTimeouts.keepAliveMs,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: httpLimits.maxHeaderBytes,
    requireHostHeader: false, // checked with a message
    joinDuplicateHeaders: true, // of several credentials Node.js would take the first, and a proxy may take the last
  });
  server.maxConnections = httpLimits.maxConnections;
  server.maxHeadersCount = 0; // bounded by their size; Node.js would drop what exceeds their number, without an error

  const context: RequestContext = {
    ...options,
    route: createRouter(options.routes),
    bodies: new ByteBudget(httpLimits.maxHeldBodyBytes),
    unsent: new ByteBudget(httpLimits.maxUnsentBytes),
  };
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const connection = Connection.of(incoming.socket);
    if (connection.isOpen) connection.handle(new ReceivedRequest(context, connection, incoming, outgoing));
  };
  server.on('request', handle);
  // Node.js would answer these itself, without any of the checks.
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const failure = parserFailure(error.code);
    const connection = Connection.of(socket as Socket);
    if (connection.current) {
      connection.isClosing = true;
      if (!connection.current.incoming.complete) connection.current.fail(failure);
      return;
    }
    const id = randomUUID();
    const { status, headers, body } = problem(failure, { id });
    const unknown = { operation: '', cost: undefined, caller: Caller.anonymous };
    options.onResponse({ ...unknown, status, id, durationMs: 0, errorCodes: [failure.code] });
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

/**
 * Creates the look-up of the route table, in constant time: a path is compared with literal paths first, then its last segment
 * is taken as a parameter.
 */
export function createRouter(routes: readonly Route[]): FindRoute {
  const literals = new Map<string, RouteMatch>();
  /** Keyed by the path before the parameter. */
  const parameterized = new Map<string, Route>();
  for (const route of routes) {
    const { path, aliases = [], accepts } = route;
    if (accepts) parameterized.set(path.slice(0, path.indexOf('{')), route);
    else for (const literal of [path, ...aliases]) literals.set(literal, { route, parameter: '' });
  }
  return (path) => {
    const literal = literals.get(path);
    if (literal) return literal;
    const end = path.lastIndexOf('/') + 1;
    const route = parameterized.get(path.slice(0, end));
    const parameter = path.slice(end);
    return route?.accepts?.(parameter) ? { route, parameter } : undefined;
  };
}

/** The failure of a request that did not arrive in time, or that Node's parser rejected. @param parserCode its error code. */
function parserFailure(parserCode: string | undefined): GatewayError {
  switch (parserCode) {
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('HEADERS_TOO_LARGE', `The headers exceed the limit of ${httpLimits.maxHeaderBytes} bytes.`);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError('REQUEST_TIMEOUT', `The request took too long to arrive. ${errorCatalog.REQUEST_TIMEOUT.remedy}`);
    default:
      return new GatewayError('INVALID_INPUT', 'The request is not valid HTTP/1.1.');
  }
}
