import type { ApiTokenRecord } from '../api-tokens/sql.ts';
import { type Context, readInTurn } from '../app.ts';
import type { Caller } from '../caller.ts';
import { type ListOrder, readBigInt } from '../database/list.ts';
import type { Event, EventEnvironment, UserGroup } from '../generated/prisma/client.ts';
import { readTime } from '../input.ts';

/** The limits of the audit log. */
export const eventLimits = {
  /** The bytes of a property's value in an event. Of a larger one it has the length and the SHA-256, as the triggers do. */
  maxEventValueBytes: 4_096,
} as const;

/** What the audit log records, with a description of each in one sentence without its period. The only list of them. */
export const eventTypes = {
  'user_group.created': 'a user group was created; `changes` has the fields that it was given',
  'user_group.updated': 'fields of a user group were changed; an update with equal values is not recorded',
  'user_group.token_rotated': 'the token of a user group was replaced',
  'user_group.environment_changed': 'a user group was moved to another environment, to which the event belongs',
  'user_group.suspended': 'a user group was suspended, so that its tokens identify nothing, or the reason was changed',
  'user_group.resumed': 'a user group was resumed: its tokens identify it again',
  'user_group.deleted': 'a user group was deleted, with its tokens',
  'user_group.imported': 'an import created or changed user groups; one event for each of its transactions, with their numbers',
  'embed_token.revoked': 'the embed tokens of a user group, or of one of its viewers, were revoked',
  'api_token.created': 'an API token was created',
  'api_token.updated': 'the name or the rate limit of an API token was changed, or it was disabled or enabled',
  'api_token.rotated': 'the secret of an API token was replaced',
  'api_token.revoked': 'an API token was revoked',
  'webhook.created': 'a webhook was created; like every event of a webhook it has its number in `changes`',
  'webhook.updated': 'properties of a webhook were changed, or its secret was replaced',
  'webhook.deleted': 'a webhook was deleted, with its deliveries',
  'webhook.disabled': 'a webhook was disabled because its deliveries failed, or its deletion was begun; `changes` has the reason',
  'signing_key.rotated': 'a key was published, which signs embed tokens from soon on; the first one at once',
  'encryption_key.rotated': 'another key encrypts stored tokens',
} as const satisfies Readonly<Record<string, string>>;

/** A type of events. */
export type EventType = keyof typeof eventTypes;

/** Every type, in the order in which texts list them. */
export const eventTypeNames = Object.keys(eventTypes) as readonly EventType[];

/** Whether there is a type with this name. */
export const isEventType = (name: string): name is EventType => Object.hasOwn(eventTypes, name);

/** Every environment that an event may belong to. */
export const everyEnvironment: readonly EventEnvironment[] = ['Customer', 'Testing', 'Untagged', 'None'];

/**
 * The environments whose events a caller may read: its own, with `admin` every one. Events of the whole gateway, such as those of
 * keys, belong to none and are admin's alone.
 */
export function readableEnvironments(caller: Caller): readonly EventEnvironment[] {
  return caller.allEnvironments ? everyEnvironment : [caller.environmentTag ?? 'Untagged'];
}

/** The position of an event in the order of the list: its time, and its number among those of one time. */
export interface EventPosition {
  readonly occurredAt: Date;
  readonly id: bigint;
}

/** The order of lists of events: the newest first. */
export const newestFirst: ListOrder = {
  name: 'Event',
  direction: 'desc',
  by: [
    { field: 'occurredAt', sql: 'occurred_at', type: 'timestamptz' },
    { field: 'id', sql: 'id', type: 'bigint' },
  ],
};

/** The columns of events `e` but the changes, as Prisma names them. */
export const eventColumns = `e.id, e.type, e.occurred_at as "occurredAt", e.environment, e.actor_kind as "actorKind",
  e.actor_name as "actorName", e.actor_api_token_id as "actorApiTokenId", e.request_id as "requestId", e.team_id as "teamId",
  e.provided_id as "providedId", e.subject_api_token_id as "subjectApiTokenId", e.position`;

/** What is read of events. */
export interface EventReadOptions {
  /** Whether the changes, up to some hundred KiB each, are read, as by default; without them they are null. */
  readonly withChanges?: boolean | undefined;
}

/** An event that was read with its changes or without them. */
export const toEvent = (event: Omit<Event, 'changes'>): Event => ({ changes: null, ...event });

/** What an event is found by: its time in milliseconds and its number. */
export const eventKey = ({ occurredAt, id }: EventPosition): string => `${occurredAt.getTime()}.${id}`;

/** The position that an {@link eventKey} names; undefined for a text that is none. */
export function readEventKey(key: string): EventPosition | undefined {
  const [, milliseconds, number] = /^([1-9]\d{0,14})\.([1-9]\d{0,18})$/.exec(key) ?? [];
  const [occurredAt, id] = [readTime(Number(milliseconds)), readBigInt(number)];
  return occurredAt && id !== undefined ? { occurredAt, id } : undefined;
}

/** The event with this key; undefined when there is none that the caller may read. @throws Forbidden without `audit:read`. */
export async function findEvent(
  context: Context,
  key: string,
  { withChanges = true }: EventReadOptions = {},
): Promise<Event | undefined> {
  context.caller.require('audit:read');
  const position = readEventKey(key);
  if (!position) return undefined;
  const where = { environment: { in: [...readableEnvironments(context.caller)] }, ...position };
  const found = await readInTurn(context, ({ db }) => db.event.findFirst({ where, omit: { changes: !withChanges } }));
  return found ? toEvent(found) : undefined;
}

/** The group that an event is about, as it is now; undefined when it was deleted, or the caller has no access to it. */
export async function userGroupOf({ caller, reads }: Context, { teamId }: Event): Promise<UserGroup | undefined> {
  caller.require('audit:read');
  const group = teamId === null ? undefined : await reads.groupByTeamId(teamId);
  return group && caller.canAccess(group) ? group : undefined;
}

/**
 * The API token with this number; undefined when there is none, or it belongs to an environment that the caller has no access to.
 */
export async function eventApiToken({ caller, reads }: Context, id: number | null): Promise<ApiTokenRecord | undefined> {
  caller.require('audit:read');
  const apiToken = id === null ? undefined : await reads.apiToken(id);
  return apiToken && caller.canAccess(apiToken) ? apiToken : undefined;
}
