import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { Webhook } from 'standardwebhooks';
import type { EncryptionContext, KeyRing } from '../encryption/keys.ts';
import { messagesOf } from '../errors.ts';
import type { Webhook as WebhookRow } from '../generated/prisma/client.ts';
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

/** The result of an attempt. */
export interface Outcome {
  /** The status of the response, if there was one. */
  readonly status?: number | undefined;
  /** The beginning of its body: at most 1,024 characters. */
  readonly body?: string | undefined;
  /** When the endpoint wants it to be tried again. */
  readonly retryAfterSeconds?: number | undefined;
  /** Why the attempt failed, if the status does not say it: at most 255 characters. */
  readonly error?: string | undefined;
  /** The URL that the endpoint redirects to. */
  readonly target?: string | undefined;
}

/** How many bytes of a response are read. Then its connection is closed. */
const maxResponseBytes = 4_096;

/** The lengths of the columns. */
const maxStoredBody = 1_024;
const maxStoredError = 255;

/** How many characters of the target of a redirect are stored, with advice behind it. */
const maxStoredTarget = 190;

/** A connection is kept for the next delivery for a second, which is shorter than servers keep it. */
const kept = { keepAlive: true, timeout: 1_000 };
const agents = { http: new HttpAgent(kept), https: new HttpsAgent(kept) };

const resolveName = createResolve();

const userAgent = `user-group-gateway/${readPackageVersion()}`;

/**
 * Sends a delivery, signed as Standard Webhooks 1.0.0 says. Follows no redirects, connects to checked addresses only, and never
 * rejects. Certificates must be valid; `NODE_EXTRA_CA_CERTS` adds authorities.
 */
export async function send(message: Message, options: SendOptions): Promise<Outcome> {
  const { timeoutMs = 15_000 } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  let outcome: Outcome = {};
  try {
    const response = await post(message, options, signal);
    const { statusCode: status, headers } = response;
    outcome = { status, ...redirectOf(response, message.url) };
    const retryAfter = retryAfterSeconds(headers['retry-after'], message.sentAt.getTime());
    return { ...outcome, retryAfterSeconds: retryAfter, body: await readBeginning(response) };
  } catch (error) {
    const late = signal.aborted && `There was no complete response within ${timeoutMs / 1_000} s.`;
    const closed = outcome.status !== undefined && 'The connection was closed before the end of the response.';
    return {
      error: storable(late || closed || messagesOf(error).join('; ') || 'The delivery failed.', maxStoredError),
      ...outcome,
    };
  }
}

/** Sends a request. @throws RefusedDestination, or an error of Node.js: its messages name hosts and addresses, never paths. */
async function post(
  message: Message,
  { allowedNetworks, resolve = resolveName }: SendOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(message.url);
  const address = literalAddress(url);
  if (address) checkAddress(address, url.protocol, allowedNetworks);
  const [request, agent] = url.protocol === 'https:' ? [requestHttps, agents.https] : [requestHttp, agents.http];
  const sent = request(url, {
    method: 'POST',
    agent,
    signal,
    // Of each new connection; a kept one leads to an address that was checked.
    lookup: checkedLookup(url.protocol, allowedNetworks, resolve, signal),
    headers: {
      'content-type': mediaTypes.json,
      'content-length': Buffer.byteLength(message.body),
      'user-agent': userAgent,
      ...signedHeaders(message),
    },
  });
  sent.on('error', () => {}); // also after the response has begun
  sent.end(message.body);
  const [response] = await once(sent, 'response', { signal });
  return response;
}

/** The headers of Standard Webhooks. */
export const signedHeaders = ({ id, body, secrets, sentAt }: Omit<Message, 'url'>): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body)).join(' '),
});

/** Why a response with a status of 3xx is a failure; nothing for another one. */
function redirectOf({ statusCode = 0, headers }: IncomingMessage, url: string): Outcome {
  if (statusCode < 300 || statusCode > 399) return {};
  const { location } = headers;
  return location !== undefined && URL.canParse(location, url)
    ? { target: new URL(location, url).href, error: 'redirects are not followed: change the URL' }
    : { error: `${statusCode} without a URL to redirect to is a failure: respond with 2xx, or change the URL` };
}

/** Why an attempt failed, with the target of a redirect. */
export function reasonOf({ error, target }: Outcome): string | undefined {
  if (target === undefined) return error;
  return `redirects to ${target.length > maxStoredTarget ? `${target.slice(0, maxStoredTarget - 1)}…` : target}; ${error}`;
}

/** A text as PostgreSQL takes it: a name or a certificate that an error cites may have NUL characters too. */
const storable = (text: string, maxLength: number): string => text.replaceAll('\0', '\uFFFD').slice(0, maxLength).toWellFormed();

/** Reads the beginning of a response, and closes the connection if more follows. */
async function readBeginning(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxResponseBytes) break;
  }
  return storable(new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxResponseBytes)), maxStoredBody);
}

/** What `Retry-After` says, in seconds; undefined if that is not understood. @param nowMs what a date is counted from. */
export function retryAfterSeconds(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - nowMs) / 1_000));
}

/** What a secret begins with, as Standard Webhooks has it. The base64 of the key follows. */
const secretPrefix = 'whsec_';

const secretBytes = 32;

/** Generates the secret of a webhook: `whsec_`, then 32 random bytes in base64. */
export const generateWebhookSecret = (): string => secretPrefix + randomBytes(secretBytes).toString('base64');

/** The columns of a webhook's secrets. */
export type SecretColumn = 'secret_encrypted' | 'previous_secret_encrypted';

const contextOf = (column: SecretColumn, id: number): EncryptionContext => ({
  column: `webhook.${column}`,
  row: Buffer.from(String(id)),
});

/** Encrypts the secret of the webhook with this number for a column. */
export function encryptWebhookSecret(keys: KeyRing, column: SecretColumn, id: number, secret: string): Buffer<ArrayBuffer> {
  return keys.encrypt(contextOf(column, id), secret);
}

/** Decrypts a secret. @throws DecryptionError when the encryption key is not configured, or the value was changed. */
export function decryptWebhookSecret(keys: KeyRing, column: SecretColumn, id: number, encrypted: Uint8Array): string {
  return keys.decrypt(contextOf(column, id), encrypted);
}

/** The columns that hold what a webhook's deliveries are signed with. */
export type StoredSecrets = Pick<WebhookRow, 'id' | 'secretEncrypted' | 'previousSecretEncrypted' | 'previousSecretEndsAt'>;

/**
 * The secrets that sign the deliveries of a webhook: its own, and before its end the one that it replaced.
 *
 * @param now the time, by the database's clock.
 * @throws DecryptionError when the encryption key is not configured, or a value was changed.
 */
export function signingSecrets(keys: KeyRing, webhook: StoredSecrets, now: Date): string[] {
  const { id, secretEncrypted, previousSecretEncrypted: previous, previousSecretEndsAt: endsAt } = webhook;
  const current = decryptWebhookSecret(keys, 'secret_encrypted', id, secretEncrypted);
  if (!previous || !endsAt || endsAt <= now) return [current];
  return [current, decryptWebhookSecret(keys, 'previous_secret_encrypted', id, previous)];
}
