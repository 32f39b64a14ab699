import type { ListedApiToken } from '../database/queries/api-token-lookups.ts';
import { type EventPosition, findEventAt } from '../database/queries/event-pages.ts';
import { eventEnvironmentOf } from '../database/queries/event-writes.ts';
import type { Event, EventEnvironment, UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { pageReads } from './page-reads.ts';
import { isStorableTime } from './user-group-list-input.ts';
import { type Db, lookUpGroup, type ReadOptions } from './user-groups.ts';

const everyEnvironment: readonly EventEnvironment[] = ['Customer', 'Testing', 'Untagged', 'None'];

/**
 * The environments whose events a caller may read: its own, with `admin` every one. Events of the whole gateway, such as those of
 * keys, belong to none and are admin's alone.
 */
export function readableEnvironments(caller: Caller): readonly EventEnvironment[] {
  return caller.allEnvironments ? everyEnvironment : [eventEnvironmentOf(caller.environmentTag)];
}

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
  { prisma }: Pick<Db, 'prisma'>,
  caller: Caller,
  key: string,
  { withChanges = true }: EventReadOptions = {},
): Promise<Event | undefined> {
  caller.require('audit:read');
  const [, milliseconds, id] = /^(\d{1,15})\.(\d{1,19})$/.exec(key) ?? [];
  const position = id === undefined ? undefined : toPosition(Number(milliseconds), id);
  if (!position) return undefined;
  const find = () => findEventAt(prisma, readableEnvironments(caller), position, withChanges);
  return pageReads.run(caller.share, find);
}

/** The position with this time, in milliseconds, and this number; undefined when no event can have them. */
export function toPosition(milliseconds: number, id: string): EventPosition | undefined {
  if (!Number.isInteger(milliseconds) || !isStorableTime(milliseconds) || !/^\d{1,19}$/.test(id)) return undefined;
  return BigInt(id) < 2n ** 63n ? { occurredAt: new Date(milliseconds), id: BigInt(id) } : undefined;
}

/** The group that an event is about, as it is now; undefined when it was deleted, or the caller has no access to it. */
export async function userGroupOf(
  db: Pick<Db, 'lookups'>,
  caller: Caller,
  { teamId }: Pick<Event, 'teamId'>,
  options: ReadOptions = {},
): Promise<UserGroup | undefined> {
  caller.require('audit:read');
  const group = teamId === null ? undefined : await lookUpGroup(db, caller, teamId, options);
  return group && caller.canAccess(group) ? group : undefined;
}

/**
 * The API token with this number; undefined when there is none, or it belongs to an environment that the caller has no access to.
 */
export async function eventApiToken(
  { lookups }: Pick<Db, 'lookups'>,
  caller: Caller,
  id: number | null,
): Promise<ListedApiToken | undefined> {
  caller.require('audit:read');
  const apiToken = id === null ? undefined : await lookups.apiTokenById(id, caller.share);
  return apiToken && caller.canAccess(apiToken) ? apiToken : undefined;
}
