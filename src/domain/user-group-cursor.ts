import type { Position, SortField } from '../database/queries/user-group-page-query.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { type CursorPart, decodeCursor, encodeCursor } from './cursor.ts';
import { textIssues } from './limits.ts';
import { isStorableTime } from './user-group-list-input.ts';

/** The position of a group in an order, and the environment that the group was in. */
export interface GroupPosition extends Position {
  readonly environmentTag: EnvironmentTag | null;
}

const listName = (sortBy: SortField): string => `UserGroup.${sortBy}`;

/** The cursor of a position. It is the same in both directions, and whatever the filter is. */
export function userGroupCursor(sortBy: SortField, { environmentTag, value, teamId }: GroupPosition): string {
  return encodeCursor(listName(sortBy), [environmentTag, value instanceof Date ? value.getTime() : value, teamId]);
}

/**
 * The position that a cursor holds; undefined when it is not one of this order, or of a group that the caller has no access to.
 */
export function readUserGroupCursor(caller: Caller, sortBy: SortField, cursor: string): Position | undefined {
  const [tag, sortValue, teamId, ...rest] = decodeCursor(listName(sortBy), cursor) ?? [];
  const value = sortBy === 'createdAt' || sortBy === 'updatedAt' ? readTime(sortValue) : readText(sortValue);
  if (value === undefined || !isTag(tag) || !isTeamId(teamId) || rest.length > 0) return undefined;
  return caller.canAccess({ environmentTag: tag }) ? { value, teamId } : undefined;
}

const readTime = (part: CursorPart | undefined): Date | undefined =>
  Number.isInteger(part) && isStorableTime(part as number) ? new Date(part as number) : undefined;

const readText = (part: CursorPart | undefined): string | undefined =>
  typeof part === 'string' && textIssues([], part).length === 0 ? part : undefined;

const isTag = (part: CursorPart | undefined): part is EnvironmentTag | null =>
  part === null || part === 'Customer' || part === 'Testing';

const isTeamId = (part: CursorPart | undefined): part is number =>
  Number.isInteger(part) && (part as number) >= 0 && (part as number) < 2 ** 31;
