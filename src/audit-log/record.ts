import type { Caller } from '../caller.ts';
import { StoredBytes } from '../concurrency/sliding-window.ts';
import type { Database } from '../database/client.ts';
import { GatewayError } from '../errors.ts';
import type { ApiToken, Prisma } from '../generated/prisma/client.ts';
import type { EventType } from './events.ts';
import {
  type Author,
  createEvent,
  type EventDraft,
  eventEnvironmentOf,
  insertEvent,
  maxEventValueBytes,
  type RecordedEvent,
  removeImportEvent,
} from './statements/insert.ts';

/** The gateway itself, for what it does without a request or a command. */
export const systemAuthor: Author = { kind: 'SYSTEM', name: 'user-group-gateway', apiTokenId: null, requestId: null };

/** A command. @param user the name of the operating system's user who runs it; what exceeds 255 characters is cut off. */
export function commandAuthor(user: string): Author {
  const name = [...user].slice(0, 255).join('').replaceAll('\0', '') || 'unknown';
  return { kind: 'CLI', name, apiTokenId: null, requestId: null };
}

/** Where events are recorded: a database, or the statements of a transaction, which `query` then is. */
type Recorder = Pick<Database, 'query'>;

/** What an import has changed so far. */
export interface ImportedGroups {
  /** The id of the import, a UUID, the same in all of its transactions. */
  readonly importId: string;
  readonly created: number;
  readonly updated: number;
}

/**
 * Records what an import has changed up to a transaction, and belongs into that transaction. Replaces the event of its earlier
 * transactions: events are never updated, so that a reader who follows them finds the new one. It says when the first of them
 * began: no group was updated before. It belongs to no environment, because a file may have groups of several.
 */
export async function recordImport(
  recorder: Recorder,
  author: Author,
  { importId, created, updated }: ImportedGroups,
): Promise<void> {
  const startedAt = await removeImportEvent(recorder, importId);
  const changes = changesOf({ import: importId, startedAt, created, updated });
  await record(recorder, { type: 'user_group.imported', environment: 'None', author, changes });
}

/**
 * Records that another encryption key is in use.
 *
 * @param ids the ids of the former keys and of the new one, as `keys list` shows them; never the keys.
 */
export async function recordEncryptionKeyRotation(
  recorder: Recorder,
  author: Author,
  ids: { readonly from: string | null; readonly to: string },
): Promise<void> {
  await record(recorder, { type: 'encryption_key.rotated', environment: 'None', author, changes: { encryptionKey: { ...ids } } });
}

/** An event whose type is one of the list. */
type TypedEvent = EventDraft & { readonly type: EventType };

const record = (recorder: Recorder, event: Omit<TypedEvent, 'subjectApiTokenId'>): Promise<void> => insertEvent(recorder, event);

type Transaction = Pick<Prisma.TransactionClient, 'event'>;

/** Records that an API token was created, with all of its properties but the secret. */
export async function recordApiTokenCreation(transaction: Transaction, author: Author, apiToken: ApiToken): Promise<void> {
  const { name, environmentTag, scopes, expiresAt, rateLimit } = apiToken;
  const times = { expiresAt: timeText(expiresAt) };
  const properties = { name, environmentTag: environmentTag?.toUpperCase() ?? null, scopes, ...times, rateLimit };
  await recordApiToken(transaction, author, apiToken, { type: 'api_token.created', changes: changesOf(properties) });
}

/** Records that properties of an API token were changed. @param changes those that differ. */
export async function recordApiTokenUpdate(
  transaction: Transaction,
  author: Author,
  apiToken: ApiToken,
  changes: Prisma.InputJsonObject,
): Promise<void> {
  await recordApiToken(transaction, author, apiToken, { type: 'api_token.updated', changes });
}

/** Records that an API token was revoked. */
export async function recordApiTokenRevocation(transaction: Transaction, author: Author, apiToken: ApiToken): Promise<void> {
  const changes = changesOf({ revokedAt: timeText(apiToken.revokedAt) });
  await recordApiToken(transaction, author, apiToken, { type: 'api_token.revoked', changes });
}

async function recordApiToken(
  transaction: Transaction,
  author: Author,
  { id, environmentTag }: ApiToken,
  event: Pick<TypedEvent, 'type' | 'changes'>,
): Promise<void> {
  await createEvent(transaction, { ...event, author, environment: eventEnvironmentOf(environmentTag), subjectApiTokenId: id });
}

/**
 * Records a change of a webhook.
 *
 * @param number the number of the webhook: before the change, null for a new one, and after it, null for a deleted one.
 * @param changes what differs otherwise. Never a secret; of a URL only the origin, because its path may be one.
 */
export async function recordWebhookChange(
  transaction: Transaction,
  author: Author,
  type: Extract<EventType, `webhook.${string}`>,
  number: { readonly from: number | null; readonly to: number | null },
  changes: Prisma.InputJsonObject = {},
): Promise<void> {
  await createEvent(transaction, { type, author, environment: 'None', changes: { webhook: { ...number }, ...changes } });
}

/** Records that the gateway disabled a webhook, in the transaction that disables it. @param reason shown to administrators. */
export async function recordWebhookDisabling(recorder: Recorder, number: number, reason: string): Promise<void> {
  const changes = {
    webhook: { from: number, to: number },
    enabled: { from: true, to: false },
    ...changesOf({ disabledReason: reason }),
  };
  await record(recorder, { type: 'webhook.disabled', environment: 'None', author: systemAuthor, changes });
}

const timeText = (time: Date | null): string | null => time?.toISOString() ?? null;

/** The changes of fields that had no value before; of one that still has none, nothing. */
function changesOf(fields: Readonly<Record<string, string | number | readonly string[] | null>>): Prisma.InputJsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([field, value]) => [field, { from: null, to: value }]));
}

/** The limits of the audit log. */
export const eventLimits = {
  /** The bytes of a property's value in an event. Of a larger one it has the length and the SHA-256. */
  maxEventValueBytes,
  /** The bytes of events about groups that one process records for an API token in 24 hours. */
  maxEventBytesPerApiToken: 1_073_741_824,
} as const;

const { maxEventBytesPerApiToken } = eventLimits;

/**
 * Creates the count of what API tokens record.
 *
 * @param maxBytes how much each may record in 24 hours.
 * @param now the time in seconds, as {@link StoredBytes} reads it.
 */
export const createEventBytes = (maxBytes: number = maxEventBytesPerApiToken, now?: () => number): StoredBytes =>
  new StoredBytes({ minBytes: 1, maxBytes }, now);

/** The bytes of an event without its texts, with its entries in indexes: 290 to 390, as measured with 100,000 of each type. */
const bytesWithoutTexts = 400;

/** The bytes that an event about a group takes of the database. */
function bytesOfEvent({ author: { name, requestId }, providedId, changesBytes }: RecordedEvent): number {
  return bytesWithoutTexts + changesBytes + Buffer.byteLength(`${name}${requestId ?? ''}${providedId}`);
}

/**
 * Counts an event about a group, if an API token has made the change. It stays counted when the transaction of the change is
 * rolled back, as that of a request with an `Idempotency-Key` is when its response is not kept.
 */
export function countEvent(eventBytes: StoredBytes, event: RecordedEvent): void {
  const { apiTokenId } = event.author;
  if (apiTokenId !== null) eventBytes.count(apiTokenId, bytesOfEvent(event));
}

/**
 * Refuses a change of a caller whose API token has reached its limit. How much a change records is known when it is made, so the
 * last one may exceed the limit.
 *
 * @throws GatewayError `RATE_LIMITED`.
 */
export function requireEventBytes(eventBytes: StoredBytes, { apiToken }: Caller): void {
  const retryAfterSeconds = apiToken ? eventBytes.secondsUntilRoom(apiToken.id) : 0;
  if (retryAfterSeconds === 0) return;
  throw new GatewayError(
    'RATE_LIMITED',
    `The changes of user groups that this API token has made exceed ${maxEventBytesPerApiToken} bytes of the audit log in ` +
      `24 hours. Nothing was changed. Send it again after ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}
