import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ByteBudget } from './byte-budget.ts';
import { notHttp } from './completed-request.ts';
import { Connection } from './connection.ts';
import { httpLimits, httpTimeouts } from './limits.ts';
import { problem } from './problem.ts';
import { ReceivedRequest, type RequestContext, type ServerOptions } from './request.ts';
import { parserFailure } from './request-errors.ts';

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
