import type { ListedApiToken } from '../database/queries/api-token-lookups.ts';
import { type EventPosition, findEventAt } from '../database/queries/event-pages.ts';
import { eventEnvironmentOf } from '../database/queries/event-writes.ts';
import type { Event, EventEnvironment, UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { bigIntColumn, defineKeyset, timeColumn } from './keyset.ts';
import { pageReads } from './page-reads.ts';
import { lookUpGroup, type ReadOptions, type Services } from './user-groups.ts';

const everyEnvironment: readonly EventEnvironment[] = ['Customer', 'Testing', 'Untagged', 'None'];

/**
 * The environments whose events a caller may read: its own, with `admin` every one. Events of the whole gateway, such as those of
 * keys, belong to none and are admin's alone.
 */
export function readableEnvironments(caller: Caller): readonly EventEnvironment[] {
  return caller.allEnvironments ? everyEnvironment : [eventEnvironmentOf(caller.environmentTag)];
}

/** The order of lists of events. */
export const eventKeyset = defineKeyset<EventPosition>('Event', { occurredAt: timeColumn, id: bigIntColumn });

/** What is read of events. */
export interface EventReadOptions {
  /** Whether the changes, up to some hundred KiB each, are read, as by default; without them they are null. */
  readonly withChanges?: boolean | undefined;
}

/** What an event is found by: its time in milliseconds and its number. */
export const eventKey = ({ occurredAt, id }: EventPosition): string => `${occurredAt.getTime()}.${id}`;

/**
 * The event with this {@link eventKey}; undefined when there is none that the caller may read.
 *
 * @throws Forbidden without `audit:read`.
 */
export async function findEvent(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  key: string,
  { withChanges = true }: EventReadOptions = {},
): Promise<Event | undefined> {
  caller.require('audit:read');
  const [, milliseconds, number] = /^(\d{1,15})\.(\d{1,19})$/.exec(key) ?? [];
  const [occurredAt, id] = [timeColumn.read(Number(milliseconds)), bigIntColumn.read(number)];
  if (!occurredAt || id === undefined) return undefined;
  const find = () => findEventAt(db, readableEnvironments(caller), { occurredAt, id }, withChanges);
  return pageReads.run(caller.share, find);
}

/** The group that an event is about, as it is now; undefined when it was deleted, or the caller has no access to it. */
export async function userGroupOf(
  services: Pick<Services, 'db'>,
  caller: Caller,
  { teamId }: Pick<Event, 'teamId'>,
  options: ReadOptions = {},
): Promise<UserGroup | undefined> {
  caller.require('audit:read');
  const group = teamId === null ? undefined : await lookUpGroup(services, caller, teamId, options);
  return group && caller.canAccess(group) ? group : undefined;
}

/**
 * The API token with this number; undefined when there is none, or it belongs to an environment that the caller has no access to.
 */
export async function eventApiToken(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  id: number | null,
): Promise<ListedApiToken | undefined> {
  caller.require('audit:read');
  const apiToken = id === null ? undefined : await db.apiToken.findById(id, caller.share);
  return apiToken && caller.canAccess(apiToken) ? apiToken : undefined;
}
