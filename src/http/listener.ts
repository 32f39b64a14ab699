import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { createTurnstile } from '../concurrency.ts';
import { tracing } from '../tracing/tracing.ts';
import { ByteBudget } from './byte-budget.ts';
import { notHttp } from './completed-exchange.ts';
import { Connections } from './connections.ts';
import { Deadlines } from './deadlines.ts';
import { Exchange, type ExchangeContext, type ListenerOptions } from './exchange.ts';
import { parserFailure } from './exchange-errors.ts';
import { httpLimits, httpTimeouts } from './limits.ts';
import { problem } from './problem.ts';
import { Rejections } from './rejections.ts';
import { ResponseWriter } from './response-writer.ts';

/** An HTTP server and the state of its connections. */
export interface Listener {
  /** Handles every request. It does not listen yet. */
  readonly server: Server;
  /** Whether a request on this connection was received completely and its response is pending. */
  isResponding(socket: Socket): boolean;
}

/** Builds the HTTP server. */
export function createListener(options: ListenerOptions): Listener {
  const { maxConnections, maxPipelinedRequests, maxHeldBodyBytes, maxWaitingBodies } = httpLimits;
  const server = createServer({
    headersTimeout: httpTimeouts.headersMs,
    requestTimeout: httpTimeouts.requestMs,
    maxHeaderSize: httpLimits.maxHeaderBytes,
    keepAliveTimeout: httpTimeouts.keepAliveMs,
    connectionsCheckingInterval: 5_000,
    requireHostHeader: false, // checked here, with a text
  });
  server.maxConnections = maxConnections;
  const deadlines = new Deadlines();
  const shared: ExchangeContext = {
    ...options,
    deadlines,
    bodies: new ByteBudget(maxHeldBodyBytes),
    turnstile: createTurnstile(maxWaitingBodies),
    writer: new ResponseWriter(deadlines),
    rejections: new Rejections(),
  };
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const exchange = new Exchange(shared, incoming, outgoing);
    if (tracing.active) tracing.active.request(exchange, (span) => void exchange.run(span));
    else void exchange.run();
  };
  const connections = new Connections(handle, maxPipelinedRequests);
  server.on('connection', shared.rejections.connectionAccepted);
  server.on('request', connections.add);
  // Node.js would respond to these itself, bypassing every limit.
  server.on('checkContinue', connections.add);
  server.on('checkExpectation', connections.add);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    // What follows a valid request is not HTTP: that request gets its own response first.
    if (connections.isResponding(socket as Socket)) return connections.closeAfterResponse(socket as Socket);
    const id = randomUUID();
    const failure = parserFailure(error.code);
    const { status, headers, body } = problem(failure, { id });
    // A request whose headers were accepted is reported by its exchange.
    if (!connections.isOccupied(socket as Socket)) {
      options.onResponse?.({ ...notHttp, status, id, errorCodes: [failure.code] });
    }
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${headers['content-type']}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\n` +
        `Cache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  server.on('close', () => deadlines.close());
  return { server, isResponding: connections.isResponding };
}
