import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { createTurnstile, type Turnstile } from '../concurrency.ts';
import { Caller } from '../domain/caller.ts';
import { asGatewayError, type ErrorCode, errorKinds, GatewayError } from '../domain/errors.ts';
import type { Authenticate } from './authenticate.ts';
import { BodyHold, isSmall, readBody } from './body.ts';
import { ByteBudget } from './byte-budget.ts';
import { Deadlines } from './deadlines.ts';
import type { Answer, GatewayRequest, Route } from './exchange.ts';
import { httpLimits, httpTimeouts, largeBodyBytes } from './limits.ts';
import { problem } from './problem.ts';
import { ResponseWriter } from './response-writer.ts';
import { serializeRequests } from './serial-requests.ts';

/** What every request passes. */
export interface ListenerOptions {
  readonly authenticate: Authenticate;
  /** The route of a path, if it has one. */
  readonly route: (path: string) => Route | undefined;
  /** Logs failures that are the gateway's own or the database's. */
  readonly report: (error: GatewayError, request: { id: string; method: string; path: string }) => void;
  /** Whether connections should be closed after their response, because the gateway is about to stop. */
  readonly isDraining: () => boolean;
}

/** What the requests of a server share. */
interface Shared extends ListenerOptions {
  readonly deadlines: Deadlines;
  readonly bodies: ByteBudget;
  readonly turnstile: Turnstile;
  readonly writer: ResponseWriter;
}

/** Builds the HTTP server that takes every request. It does not listen yet. */
export function createListener(options: ListenerOptions): Server {
  const { maxConnections, maxPipelinedRequests, maxHeldBodyBytes, maxHeldAnonymousBodyBytes, maxWaitingBodies } = httpLimits;
  const server = createServer({
    headersTimeout: httpTimeouts.headersMs,
    requestTimeout: httpTimeouts.requestMs,
    keepAliveTimeout: httpTimeouts.keepAliveMs,
    connectionsCheckingInterval: 5_000,
    requireHostHeader: false, // checked here, with a text
  });
  server.maxConnections = maxConnections;
  const deadlines = new Deadlines();
  const shared: Shared = {
    ...options,
    deadlines,
    bodies: new ByteBudget(maxHeldBodyBytes, maxHeldAnonymousBodyBytes),
    turnstile: createTurnstile(maxWaitingBodies),
    writer: new ResponseWriter(deadlines),
  };
  server.on(
    'request',
    serializeRequests((incoming, outgoing) => void serve(shared, incoming, outgoing), maxPipelinedRequests),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const id = randomUUID();
    const { status, headers, body } = problem(parserFailure(error.code), { id });
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${headers['content-type']}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${id}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  server.on('close', () => deadlines.close());
  return server;
}

async function serve(shared: Shared, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { deadlines, writer } = shared;
  const { method = 'GET', headers } = incoming;
  const url = originForm(incoming.url ?? '/');
  const [path, query] = splitOnce(url, '?');
  const id = requestId(headers['x-request-id']);
  const about = { id, method, path, headers };
  const route = shared.route(path);
  const report = (error: GatewayError) => shared.report(error, about);

  let isAnswered = false;
  const respond = (response: Answer, isAnonymous: boolean): void => {
    if (isAnswered) return;
    isAnswered = true;
    deadlines.end(deadline);
    writer.write(incoming, outgoing, response, { id, isAnonymous, closes: shared.isDraining() });
  };
  const fail = (thrown: unknown): void => {
    if (isAnswered) return;
    const error = asGatewayError(thrown);
    if (error.code === 'INTERNAL' || error.code === 'UNAVAILABLE') report(error);
    respond(route ? route.failure(error, about) : problem(error, about), true);
  };
  let isReading = true;
  const deadline = deadlines.start(readingTimeMs(incoming), () => fail(isReading ? tooSlow() : tooLong()));

  let hold: BodyHold | undefined;
  try {
    assertOneHost(incoming);
    if (!route) throw new GatewayError('NOT_FOUND', `No such path: ${shorten(path)}. GET / lists the available paths.`);
    let caller = Caller.anonymous;
    let body: Buffer;
    if (isSmall(incoming)) {
      body = await readBody(incoming);
      isReading = false;
      deadlines.restart(deadline, httpTimeouts.responseMs);
      caller = await identify(shared, route, headers.authorization);
    } else {
      caller = await identify(shared, route, headers.authorization);
      hold = new BodyHold(shared.bodies, !caller.apiToken);
      deadlines.restart(deadline, caller.apiToken ? httpTimeouts.requestMs : httpTimeouts.anonymousRequestMs);
      body = await readBody(incoming, hold.take);
      isReading = false;
      deadlines.restart(deadline, httpTimeouts.responseMs);
      if (body.length >= largeBodyBytes) await shared.turnstile.enter();
    }
    if (isAnswered) return; // the deadline passed
    const request: GatewayRequest = { method, url, path, query, headers, body, id, caller, report };
    respond(await route.answer(request), !caller.apiToken);
  } catch (thrown) {
    fail(thrown);
  } finally {
    hold?.release();
  }
}

/** The caller of a request. @throws Unauthenticated when the route needs an API token and there is none, or none that is accepted. */
function identify(
  { authenticate }: Shared,
  { credential, schemes }: Route,
  authorization: string | undefined,
): Caller | Promise<Caller> {
  if (credential === 'ignored') return Caller.anonymous;
  if (credential === 'required' && authorization === undefined) Caller.anonymous.requireCredential();
  const caller = authenticate(authorization, schemes);
  if (credential === 'required' && caller instanceof Caller) caller.requireCredential();
  return caller;
}

/** How long a request may take to arrive, whose credential was not checked yet. */
const readingTimeMs = ({ headers }: IncomingMessage): number =>
  headers.authorization === undefined ? httpTimeouts.anonymousRequestMs : httpTimeouts.requestMs;

const tooSlow = (): GatewayError =>
  new GatewayError('REQUEST_TIMEOUT', `The request took too long to arrive. ${errorKinds.REQUEST_TIMEOUT.advice}`);

const tooLong = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    `There was no result within ${httpTimeouts.responseMs / 1_000} seconds. A change that the request asked for may have been made, or may still be. ` +
      'Get-or-create and update are safe to repeat; after a rotation, look the group up by its id first.',
  );

/** @throws GatewayError `INVALID_INPUT` when there are several Host headers, or none, which HTTP/1.1 requires. */
function assertOneHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count += 1;
  }
  if (count > 1 || (count === 0 && httpVersion === '1.1')) {
    throw new GatewayError(
      'INVALID_INPUT',
      `The request has ${count === 0 ? 'no Host header' : `${count} Host headers`}; send one.`,
    );
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

const shorten = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path);

/** What is wrong with a request that Node's parser refused. */
function parserFailure(parserCode: string | undefined): { code: ErrorCode; message: string } {
  switch (parserCode) {
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'HEADERS_TOO_LARGE', message: 'The headers are larger than 16 KiB, which is the limit.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'REQUEST_TIMEOUT', message: tooSlow().message };
    default:
      return { code: 'INVALID_INPUT', message: 'The request is not valid HTTP/1.1.' };
  }
}
