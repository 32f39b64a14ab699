import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorCatalog } from '../error-catalog.ts';
import { GatewayError } from '../errors.ts';
import { httpLimits, httpTimeouts } from '../http-limits.ts';
import { problem } from './problem.ts';
import { ReceivedRequest, type RequestContext, type ServerOptions } from './request.ts';
import type { FindRoute, Route, RouteMatch } from './types.ts';

/** The URL of a server that listens; `localhost` for one that listens on every address. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const host = ['0.0.0.0', '::'].includes(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

const requestsOf = Symbol('requests');

/** A connection with its requests that are not answered yet. A property, because a `WeakMap` is slower. */
interface Connection extends Socket {
  [requestsOf]?: Set<ReceivedRequest>;
}

/** Whether a request on this connection was received completely and its response is pending or being sent. */
export function isResponding(socket: Connection): boolean {
  for (const request of socket[requestsOf] ?? []) if (request.isReceived) return true;
  return false;
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
  server.timeout = httpTimeouts.silenceMs;
  server.maxConnections = httpLimits.maxConnections;
  server.maxHeadersCount = 0; // bounded by their size; Node.js would drop what exceeds their number, without an error

  const context: RequestContext = { ...options, route: createRouter(options.routes), held: { bodies: 0, unsent: 0 } };
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const connection: Connection = incoming.socket;
    connection[requestsOf] ??= new Set();
    const requests = connection[requestsOf];
    if (requests.size >= httpLimits.maxPipelinedRequests) return void connection.destroy();
    const request = new ReceivedRequest(context, incoming, outgoing);
    requests.add(request);
    outgoing.on('close', () => {
      requests.delete(request);
      request.release();
    });
    request.start();
  };
  server.on('connection', (socket: Connection) => {
    // Node.js does not close responses that wait for an earlier one on the connection.
    socket.on('close', () => {
      for (const request of socket[requestsOf] ?? []) request.release();
    });
  });
  server.on('request', handle);
  server.on('checkExpectation', handle); // Node.js would answer it itself, without a text
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const failure = parserFailure(error.code);
    const pending = [...((socket as Connection)[requestsOf] ?? [])];
    for (const request of pending) {
      request.isLast = true;
      if (!request.isReceived) request.fail(failure);
    }
    if (pending.length > 0) return;
    // The rest of a request that was answered did not come.
    if (failure.code === 'REQUEST_TIMEOUT' && (socket as Socket).bytesWritten > 0) socket.destroy();
    else rejectConnection(socket as Socket, failure, options);
  });
  return server;
}

/** Responds to what is not a request. */
function rejectConnection(socket: Socket, failure: GatewayError, { onResponse }: ServerOptions): void {
  const id = randomUUID();
  const { status, headers, body } = problem(failure, { id });
  onResponse({ operation: '', status, durationMs: 0, errorCodes: [failure.code] });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${headers['content-type']}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\n` +
      `Cache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
  socket.setTimeout(1_000, () => socket.destroy()); // the client may keep its side open
}

/**
 * Creates the look-up of the route table: a path is compared with literal paths first, then its last segment is taken as a
 * parameter. A slash at its end does not matter.
 */
function createRouter(routes: readonly Route[]): FindRoute {
  const literals = new Map<string, RouteMatch>();
  /** Keyed by the path before the parameter. */
  const parameterized = new Map<string, Route>();
  for (const route of routes) {
    const { path, accepts } = route;
    if (accepts) parameterized.set(path.slice(0, path.indexOf('{')), route);
    else literals.set(path, { route, parameter: '' });
  }
  const find: FindRoute = (path) => {
    const literal = literals.get(path);
    if (literal) return literal;
    const end = path.lastIndexOf('/') + 1;
    const route = parameterized.get(path.slice(0, end));
    const parameter = path.slice(end);
    return route?.accepts?.(parameter) ? { route, parameter } : undefined;
  };
  return (path) => find(path) ?? (path.length > 1 && path.endsWith('/') ? find(path.slice(0, -1)) : undefined);
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
