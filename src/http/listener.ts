import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Caller } from '../domain/caller.ts';
import { asGatewayError, GatewayError } from '../domain/errors.ts';
import type { Authenticate } from './authenticate.ts';
import { readBody } from './body.ts';
import type { Answer, GatewayRequest, Route } from './exchange.ts';
import { problem } from './problem.ts';

/** What every request passes. */
export interface ListenerOptions {
  readonly authenticate: Authenticate;
  /** The route of a path, if it has one. */
  readonly route: (path: string) => Route | undefined;
  /** Hears of failures that are the gateway's own or the database's. */
  readonly report: (error: GatewayError, request: { id: string; method: string; path: string }) => void;
  /** Whether connections should be let go of after their answer, because the gateway is about to stop. */
  readonly isDraining: () => boolean;
}

/** How long a client may take to send its headers, and its whole request. */
const headersTimeoutMs = 15_000;
const requestTimeoutMs = 30_000;

/** How long a connection may be idle: longer than load balancers usually keep theirs, so that it is they who close it. */
const keepAliveTimeoutMs = 65_000;

/** How long what is left of a refused body is taken and thrown away, so that the client gets to read the refusal. */
const lingerMs = 2_000;

/** Builds the HTTP server that takes every request. It does not listen yet. */
export function createListener(options: ListenerOptions): Server {
  const server = createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: 5_000,
  });
  server.on('request', (incoming, outgoing) => void serve(options, incoming, outgoing));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const [status, detail] = statusOfParserError(error.code);
    const id = randomUUID();
    const title = STATUS_CODES[status] ?? '';
    const type = '/docs/errors/INVALID_INPUT';
    const body = JSON.stringify({ success: 0, type, title, status, detail, code: 'INVALID_INPUT', issues: [], request_id: id });
    const length = Buffer.byteLength(body);
    socket.end(
      `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${length}\r\n` +
        `X-Request-Id: ${id}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  return server;
}

async function serve(options: ListenerOptions, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = incoming;
  const url = originForm(incoming.url ?? '/');
  const [path, query] = splitOnce(url, '?');
  const id = requestId(headers['x-request-id']);
  const about = { id, method, path, headers };
  const route = options.route(path);
  const report = (error: GatewayError) => options.report(error, about);

  let answer: Answer;
  try {
    if (!route) throw new GatewayError('NOT_FOUND', `There is nothing at ${path}. GET / tells what there is.`);
    const body = await readBody(incoming);
    const caller =
      route.credential === 'ignored' ? Caller.anonymous : await options.authenticate(headers.authorization, route.schemes);
    if (route.credential === 'required') caller.requireCredential();
    const request: GatewayRequest = { method, url, path, query, headers, body, id, caller, report };
    answer = await route.answer(request);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.code === 'INTERNAL' || error.code === 'UNAVAILABLE') report(error);
    answer = route ? route.failure(error, about) : problem(error, about);
  }
  write(incoming, outgoing, answer, id, options.isDraining());
}

/** The headers that are decided here for every answer, whatever a route says of them. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['x-request-id', 'x-content-type-options', 'cache-control'],
  ...['content-length', 'transfer-encoding', 'connection'],
]);

function write(incoming: IncomingMessage, outgoing: ServerResponse, answer: Answer, id: string, draining: boolean): void {
  if (outgoing.destroyed) return;
  // A body that was not read to its end makes the connection useless for another request.
  const unread = !incoming.complete;
  // Names and values by turns: the form that Node writes with the least ado.
  const headers = ['x-request-id', id, 'x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
  for (const name in answer.headers) if (!ownHeaders.has(name.toLowerCase())) headers.push(name, answer.headers[name] as string);
  const bytes = Buffer.byteLength(answer.body);
  headers.push('content-length', String(bytes));
  if (draining || unread) headers.push('connection', 'close');
  outgoing.writeHead(answer.status, headers);
  outgoing.end(answer.body, bytes === answer.body.length ? 'latin1' : 'utf8'); // the same for ASCII, and written faster
  if (unread) {
    incoming.resume();
    setTimeout(() => incoming.destroy(), lingerMs).unref();
  }
}

/** Takes over the caller's own id of a request if it is harmless to print, else draws one. */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && !/ug[tk]_/.test(given) ? given : randomUUID();
}

/** The path and query of a request target; a proxy may send it in absolute form. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\/?/i, '/');
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function statusOfParserError(code: string | undefined): [status: number, detail: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'The headers are larger than 16 KiB.'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request took too long to arrive.'];
    default:
      return [400, 'The request is not valid HTTP/1.1.'];
  }
}
