import type { Database } from '../database/client.ts';
import {
  type Author,
  createEvent,
  type EventDraft,
  eventEnvironmentOf,
  insertEvent,
  removeImportEvent,
} from '../database/queries/event-writes.ts';
import type { ApiToken, Prisma } from '../generated/prisma/client.ts';
import type { EventType } from './event-types.ts';

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
 * transactions: events are never updated, so that a reader who follows them finds the new one. The event belongs to no
 * environment, because a file may have groups of several.
 */
export async function recordImport(
  recorder: Recorder,
  author: Author,
  { importId, created, updated }: ImportedGroups,
): Promise<void> {
  const changes = changesOf({ import: importId, created, updated });
  await removeImportEvent(recorder, importId);
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
  const { name, environmentTag, scopes, expiresAt } = apiToken;
  const properties = { name, environmentTag: environmentTag?.toUpperCase() ?? null, scopes, expiresAt: timeText(expiresAt) };
  await recordApiToken(transaction, author, apiToken, { type: 'api_token.created', changes: changesOf(properties) });
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

const timeText = (time: Date | null): string | null => time?.toISOString() ?? null;

/** The changes of fields that had no value before; of one that still has none, nothing. */
function changesOf(fields: Readonly<Record<string, string | number | readonly string[] | null>>): Prisma.InputJsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([field, value]) => [field, { from: null, to: value }]));
}
