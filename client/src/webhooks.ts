import { createError } from './errors.ts';
import { decodeBase64 } from './jwt.ts';

/** What a webhook tells: that something changed, and of what; no values. Read the group to see them. */
export interface WebhookEvent {
  /** What happened, such as `user_group.updated`. */
  readonly type: string;
  /** When, as ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    /** The globally unique id of the group, the API token or the webhook; null for an event of the whole gateway. */
    readonly id: string | null;
    /** That of the group; null for an event of anything else. */
    readonly provided_id: string | null;
    /** That of the group; null for an event of anything else. */
    readonly team_id: number | null;
    readonly environment: string;
    /** The fields that changed, such as `name` or `properties.plan`. */
    readonly changed: readonly string[];
  };
}

/** The headers of a request: those of `fetch`, of any package that has it, or an object as Node.js has it. */
export type WebhookHeaders = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>;

const toleranceSeconds = 300;

/** How many signatures are checked, each against the whole body: a sender has two while its secret is replaced. */
const maxSignatures = 10;

/**
 * Verifies a webhook as Standard Webhooks 1.0.0 says: one of its signatures is made with the secret, and it was sent within the
 * last 5 minutes. A webhook may arrive more than once, each time with the same header `webhook-id`.
 *
 * @param secret `whsec_…`, as the gateway showed it.
 * @param body the body as it arrived, not parsed: its bytes are signed. In Express: `express.raw({ type: 'application/json' })`.
 * @param options `now`: the time in milliseconds since 1970, instead of `Date.now`.
 * @throws WebhookError for one that is not accepted. TypeError for a malformed secret, a parsed body, or headers that are none.
 * @example
 * const { type, data } = await verifyWebhook(secret, request.headers, await request.text());
 */
export async function verifyWebhook<Event = WebhookEvent>(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  { now = Date.now }: { readonly now?: () => number } = {},
): Promise<Event> {
  requireRaw(body);
  requireHeaders(headers);
  const key = await importSecret(secret);
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers, `webhook-${name}`));
  if (!id || !timestamp || !signatures)
    throw invalid('The headers webhook-id, webhook-timestamp and webhook-signature are needed.');
  const isRecent = /^\d+$/.test(timestamp) && Math.abs(Math.floor(now() / 1_000) - Number(timestamp)) <= toleranceSeconds;
  if (!isRecent) throw invalid('The webhook was not sent within the last 5 minutes, or the clock of this machine is wrong.');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = new Blob([`${id}.${timestamp}.`, bytes as BlobPart]);
  const content = await signed.arrayBuffer();
  const given = [...signatures.matchAll(/(?<!\S)v1,([A-Za-z0-9+/]{43}=)(?!\S)/g)].slice(0, maxSignatures);
  // WebCrypto compares in constant time.
  const matches = given.map(([, signature = '']) => crypto.subtle.verify('HMAC', key, decodeBase64(signature), content));
  if (!(await Promise.all(matches)).includes(true)) throw invalid('No signature of the webhook is of this secret and this body.');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw createError('INVALID_WEBHOOK', 'The body of the webhook is no JSON.', { cause });
  }
}

const invalid = (message: string) => createError('INVALID_WEBHOOK', message);

function requireRaw(body: unknown): void {
  if (typeof body === 'string' || ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return;
  throw new TypeError(
    "The body must be as it arrived, text or bytes, because its bytes are signed: not parsed. In Express, use express.raw({ type: 'application/json' }) for the route; elsewhere await request.text().",
  );
}

function requireHeaders(headers: unknown): void {
  if (typeof headers === 'object' && headers !== null && !Array.isArray(headers)) return;
  throw new TypeError('The headers must be those of the request: a Headers object, or an object of names and values.');
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return value === undefined ? undefined : String(value); // a list of one value is that value
}

async function importSecret(secret: string) {
  try {
    const bytes = decodeBase64(secret.replace(/^whsec_/, ''));
    return await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  } catch {
    throw new TypeError('The secret must be as the gateway showed it: whsec_ and base64. Is the variable set?');
  }
}
