import { createHmac } from 'node:crypto';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { messagesOf } from '../errors.ts';
import { mediaTypes } from '../http/media-types.ts';
import { readPackageVersion } from '../package-root.ts';
import { type AllowedNetworks, checkAddress, checkedLookup, createResolve, literalAddress, type Resolve } from './destination.ts';

/** How a delivery is sent. */
export interface SendOptions {
  /** Networks that may be reached although they are not public. */
  readonly allowedNetworks: AllowedNetworks;
  /** How long an attempt may take, from the look-up of the name to the end of the response. Defaults to 15 s. */
  readonly timeoutMs?: number | undefined;
  /** Finds the addresses of names. By default the name servers of the system. */
  readonly resolve?: Resolve | undefined;
}

/** A delivery that is sent. */
export interface Message {
  readonly url: string;
  /** What `webhook-id` says. */
  readonly id: string;
  readonly body: string;
  /** `whsec_…`: each makes a signature. */
  readonly secrets: readonly string[];
  /** What `webhook-timestamp` says: receivers refuse a time that is more than five minutes from theirs. */
  readonly sentAt: Date;
}

/** What became of an attempt. */
export interface Outcome {
  /** The status of the response, if there was one. */
  readonly status?: number | undefined;
  /** The beginning of its body: at most 1,024 characters. */
  readonly body?: string | undefined;
  /** When the endpoint wants it to be tried again. */
  readonly retryAfterSeconds?: number | undefined;
  /** Why there was no response, or no complete one: at most 255 characters. */
  readonly error?: string | undefined;
  /** Whether nothing was sent, for a reason that the endpoint has no part in. */
  readonly isOwnFailure?: boolean | undefined;
}

const defaultTimeoutMs = 15_000;

/** How many bytes of a response are read. Then its connection is closed. */
const maxResponseBytes = 4_096;

/** How many responses with a status of 1xx may precede the response. */
const maxInformational = 10;

/** The lengths of the columns. */
const maxStoredBody = 1_024;
const maxStoredError = 255;

/** How long a connection is kept for the next delivery, in milliseconds: less than most servers keep it. */
const idleMs = 4_000;

/** Sends deliveries. */
export interface Sender {
  /** Sends a delivery, signed as Standard Webhooks 1.0.0 says. Never rejects. */
  send(message: Message): Promise<Outcome>;
  /** Closes the connections that are kept. */
  close(): void;
}

/**
 * Creates what sends deliveries. It follows no redirects, and connects to no address that was not checked; it keeps connections
 * for the next deliveries to the same host and port. Certificates must be valid; `NODE_EXTRA_CA_CERTS` adds authorities.
 */
export function createSender({ allowedNetworks, timeoutMs = defaultTimeoutMs, resolve = createResolve() }: SendOptions): Sender {
  const kept = { keepAlive: true, timeout: idleMs };
  const agents = { http: new HttpAgent(kept), https: new HttpsAgent(kept) };
  const userAgent = `user-group-gateway/${readPackageVersion()}`;

  /** Begins a request. @param signal ends the look-up of the name. @throws RefusedDestination */
  function begin(message: Message, isKept: boolean, signal: AbortSignal): ClientRequest {
    const url = new URL(message.url);
    const address = literalAddress(url);
    if (address) checkAddress(address, url.protocol, allowedNetworks);
    const [request, agent] = url.protocol === 'https:' ? [requestHttps, agents.https] : [requestHttp, agents.http];
    return request(url, {
      method: 'POST',
      agent: isKept && agent,
      // Of each new connection; one that is kept leads to an address that was checked.
      lookup: checkedLookup(url.protocol, allowedNetworks, resolve, signal),
      headers: {
        'content-type': mediaTypes.json,
        'content-length': Buffer.byteLength(message.body),
        'user-agent': userAgent,
        ...signedHeaders(message),
      },
    }).end(message.body);
  }

  async function send(message: Message, isKept = true, endsAtMs = performance.now() + timeoutMs): Promise<Outcome> {
    const ended = new AbortController();
    try {
      const request = begin(message, isKept, ended.signal);
      const { outcome, failure } = await readResponse(request, message.sentAt, endsAtMs, timeoutMs);
      if (failure) ended.abort();
      // The endpoint may have closed a kept connection at the moment at which it was used again.
      const isStale = request.reusedSocket && failure?.code === 'ECONNRESET' && outcome.status === undefined;
      return isStale ? await send(message, false, endsAtMs) : outcome;
    } catch (error) {
      return { error: shownError(error) };
    }
  }

  return {
    send: (message) => send(message),
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** The headers of Standard Webhooks. */
export function signedHeaders({ id, body, secrets, sentAt }: Omit<Message, 'url'>): Record<string, string> {
  const timestamp = Math.floor(sentAt.getTime() / 1_000);
  const sign = (secret: string): string => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map(sign).join(' '),
  };
}

/**
 * Waits for the end of a response, or of its first 4 KiB.
 *
 * @param endsAtMs when the attempt ends, whose requests may take `timeoutMs` together.
 * @returns the outcome, and why there was no complete response.
 */
function readResponse(
  request: ClientRequest,
  sentAt: Date,
  endsAtMs: number,
  timeoutMs: number,
): Promise<{ readonly outcome: Outcome; readonly failure?: NodeJS.ErrnoException }> {
  return new Promise((settle) => {
    /** The status is known already while the body is read. */
    let outcome: Outcome = {};
    const fail = (failure: NodeJS.ErrnoException): void =>
      settle({ outcome: { ...outcome, error: shownError(failure) }, failure });
    const timer = setTimeout(() => {
      fail(new Error(`There was no complete response within ${timeoutMs / 1_000} s.`));
      request.destroy();
    }, endsAtMs - performance.now());
    request.once('error', fail);
    request.once('close', () => {
      clearTimeout(timer);
      fail(new Error('The connection was closed before the end of the response.'));
    });
    let informational = 0;
    request.on('information', () => {
      informational += 1;
      if (informational <= maxInformational) return;
      // Settled before anything that came in the same packets: a request that is destroyed still has what was read.
      fail(new Error(`There were more than ${maxInformational} responses with a status of 1xx.`));
      request.destroy();
    });
    request.once('response', (response) => {
      outcome = {
        status: response.statusCode,
        retryAfterSeconds: retryAfterSeconds(response.headers['retry-after'], sentAt.getTime()),
      };
      readBeginning(response, (body) => settle({ outcome: { ...outcome, body } }));
      response.once('error', fail);
    });
  });
}

/** A text as PostgreSQL takes it: a name or a certificate that an error cites may have NUL characters too. */
const storable = (text: string, maxLength: number): string => text.replaceAll('\0', '\uFFFD').slice(0, maxLength).toWellFormed();

/**
 * Reads the beginning of a response, and closes the connection if more follows.
 *
 * @param onRead takes its text as it can be stored.
 */
function readBeginning(response: IncomingMessage, onRead: (body: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = (): void => {
    const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxResponseBytes));
    onRead(storable(text, maxStoredBody));
  };
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < maxResponseBytes) return;
    end();
    response.destroy();
  });
  response.once('end', end);
}

/** What `Retry-After` says, in seconds; undefined if that is not understood. @param nowMs what a date is counted from. */
export function retryAfterSeconds(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - nowMs) / 1_000));
}

/** The messages of Node.js name hosts and addresses, never paths. */
const shownError = (error: unknown): string => storable(messagesOf(error).join('; ') || 'The delivery failed.', maxStoredError);
