import { isStatementTimeout } from '../database/errors.ts';
import type { GroupConditions, SortField } from '../database/queries/user-group-page-query.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { type KeysetSection, sectionOf } from './keyset.ts';
import { type CountedPage, cutPage, withTotalCount } from './page.ts';
import { type GroupPosition, userGroupKeysets } from './user-group-cursor.ts';
import {
  checkListInput,
  type UserGroupFilter,
  type UserGroupListInput,
  type UserGroupOrder,
  type UserGroupOrderField,
} from './user-group-list-input.ts';
import { countGroups, type GroupsRequest, readSection } from './user-group-reads.ts';
import type { ReadOptions, Services } from './user-groups.ts';

/** A page of user groups. All groups that the filter matches are counted; null when that takes too long. */
export type UserGroupPage = CountedPage<UserGroup>;

const everyEnvironment: readonly (EnvironmentTag | null)[] = ['Customer', 'Testing', null];

const sortFields: Readonly<Record<UserGroupOrderField, SortField>> = {
  CREATED: 'createdAt',
  UPDATED: 'updatedAt',
  NAME: 'name',
  PROVIDED_ID: 'providedId',
};

const newestFirst: UserGroupOrder = { field: 'CREATED', direction: 'DESC' };

/**
 * A page of the groups that the caller has access to. Each page is read from the database: a group that is created or deleted
 * between two pages neither repeats nor hides another, unless its place in the order changes.
 *
 * @param isAbandoned whether the response is no longer needed; reads that have not started are then skipped.
 * @param options of the groups on the page.
 * @throws Forbidden, synchronously, without `groups:read`, or for a filter by another environment without `admin`.
 * @throws InvalidInput, synchronously, also for a cursor of another order, or of a group that the caller has no access to.
 * @throws GatewayError `UNAVAILABLE`, by its promise, when a filtered page takes longer than two seconds, or too many pages wait.
 */
export function listUserGroups(
  services: Services,
  caller: Caller,
  input: UserGroupListInput,
  isAbandoned: () => boolean = () => false,
  options: ReadOptions = {},
): Promise<UserGroupPage> {
  caller.require('groups:read');
  checkListInput(input);
  const filter = input.filter ?? {};
  const environments = environmentsOf(caller, filter);
  const request: GroupsRequest = { services, caller, isAbandoned, options, environments, conditions: conditionsOf(filter) };
  const { field, direction } = input.orderBy ?? newestFirst;
  const sortBy = sortFields[field];
  const section = sectionOf(input, {
    keyset: userGroupKeysets[sortBy],
    direction: direction === 'ASC' ? 'asc' : 'desc',
    isVisible: (position) => caller.canAccess(position),
    advice: ' Use one of a page with the same orderBy.',
  });
  return readPage(request, sortBy, section);
}

async function readPage(
  request: GroupsRequest,
  sortBy: SortField,
  section: KeysetSection<GroupPosition>,
): Promise<UserGroupPage> {
  const { size, direction, start, end } = section;
  const found = await readSection(request, { sortBy, direction, start, end, size });
  const { cursorOf } = userGroupKeysets[sortBy];
  return withTotalCount(cutPage({ found, cursorOf, nodeOf: ({ group }) => group }, section), () => countAll(request));
}

async function countAll(request: GroupsRequest): Promise<number | null> {
  try {
    return await countGroups(request);
  } catch (error) {
    if (isStatementTimeout((error as Error).cause)) return null;
    throw error;
  }
}

function environmentsOf(caller: Caller, { environmentTag }: UserGroupFilter): GroupsRequest['environments'] {
  if (environmentTag) return [caller.chooseEnvironment(environmentTag.tag)];
  return caller.allEnvironments ? everyEnvironment : [caller.environmentTag];
}

function conditionsOf({ search, providedIds, properties, createdAt, updatedAt }: UserGroupFilter): GroupConditions {
  const range = (given: UserGroupFilter['createdAt']) =>
    given?.from || given?.to ? { from: given.from ?? undefined, to: given.to ?? undefined } : undefined;
  return {
    search: search ?? undefined,
    providedIds: providedIds ?? undefined,
    properties: properties?.map(({ path, equals }) => ({ path, equals: JSON.stringify(equals ?? null) })),
    createdAt: range(createdAt),
    updatedAt: range(updatedAt),
  };
}
