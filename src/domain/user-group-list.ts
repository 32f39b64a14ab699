import { isStatementTimeout } from '../database/errors.ts';
import type {
  GroupConditions,
  PageReader,
  Position,
  PositionQuery,
  SortField,
} from '../database/queries/user-group-page-query.ts';
import { countGroups, findPositions } from '../database/queries/user-group-pages.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { InvalidInput } from './errors.ts';
import { cutPage, type Page, pageSizeOf } from './page.ts';
import { pageReads } from './page-reads.ts';
import { abandoned, readWithinTime } from './timed-read.ts';
import { type GroupPosition, readUserGroupCursor, userGroupCursor } from './user-group-cursor.ts';
import {
  checkListInput,
  type UserGroupFilter,
  type UserGroupListInput,
  type UserGroupOrder,
  type UserGroupOrderField,
} from './user-group-list-input.ts';
import { type Db, lookUpGroup, type ReadOptions } from './user-groups.ts';

/** A page of user groups. */
export interface UserGroupPage extends Page<UserGroup> {
  /** Counts all groups that the filter matches, once however often it is called; null when that takes too long. */
  totalCount(): Promise<number | null>;
}

const everyEnvironment: readonly (EnvironmentTag | null)[] = ['Customer', 'Testing', null];

const sortFields: Readonly<Record<UserGroupOrderField, SortField>> = {
  CREATED: 'createdAt',
  UPDATED: 'updatedAt',
  NAME: 'name',
  PROVIDED_ID: 'providedId',
};

const newestFirst: UserGroupOrder = { field: 'CREATED', direction: 'DESC' };

/** What is read for one request. */
interface ListRequest {
  readonly db: Db;
  readonly caller: Caller;
  readonly isAbandoned: () => boolean;
  readonly options: ReadOptions;
  readonly environments: readonly (EnvironmentTag | null)[];
  readonly conditions: GroupConditions;
}

/**
 * A page of the groups that the caller has access to. Each page is read anew: a group that is created or deleted meanwhile
 * neither repeats nor hides another, unless its place in the order changes.
 *
 * @param isAbandoned whether the response is no longer needed; reads that have not started are then skipped.
 * @param options of the groups on the page.
 * @throws Forbidden, synchronously, without `groups:read`, or for a filter by another environment without `admin`.
 * @throws InvalidInput, synchronously, also for a cursor of another order, or of a group that the caller has no access to.
 * @throws GatewayError `UNAVAILABLE`, by its promise, when a filtered page takes longer than two seconds, or too many pages wait.
 */
export function listUserGroups(
  db: Db,
  caller: Caller,
  input: UserGroupListInput,
  isAbandoned: () => boolean = () => false,
  options: ReadOptions = {},
): Promise<UserGroupPage> {
  caller.require('groups:read');
  checkListInput(input);
  const filter = input.filter ?? {};
  const environments = environmentsOf(caller, filter);
  const request: ListRequest = { db, caller, isAbandoned, options, environments, conditions: conditionsOf(filter) };
  const { field, direction } = input.orderBy ?? newestFirst;
  const sortBy = sortFields[field];
  const { size, isBackward } = pageSizeOf(input);
  const [after, before] = readCursors(caller, sortBy, input);
  return readPage(request, {
    ...{ sortBy, size, isBackward, after, before },
    direction: (direction === 'ASC') !== isBackward ? 'asc' : 'desc',
  });
}

/** A part of an order. */
interface Section extends Pick<PositionQuery, 'sortBy' | 'direction'> {
  readonly size: number;
  readonly isBackward: boolean;
  readonly after: Position | undefined;
  readonly before: Position | undefined;
}

async function readPage(request: ListRequest, section: Section): Promise<UserGroupPage> {
  const { sortBy, direction, size, isBackward, after, before } = section;
  const [start, end] = isBackward ? [before, after] : [after, before];
  const found = await readPositions(request, { sortBy, direction, start, end, limit: size + 1 });
  const { edges, info } = cutPage(found, section, (position) => userGroupCursor(sortBy, position));
  const groups = await readGroups(
    request,
    edges.map(({ node }) => node),
  );
  let count: Promise<number | null> | undefined;
  return {
    ...info,
    edges: edges.flatMap(({ cursor }, index) => {
      const node = groups[index];
      return node ? [{ node, cursor }] : [];
    }),
    totalCount() {
      count ??= countAll(request);
      return count;
    },
  };
}

/**
 * The groups at these positions, by the same statement as other look-ups. Nothing for one that was deleted, or moved to another
 * environment, after its position was read.
 */
function readGroups({ db, caller, options, environments }: ListRequest, positions: readonly Position[]) {
  return Promise.all(
    positions.map(async ({ teamId }) => {
      const group = await lookUpGroup(db, caller, teamId, options);
      return group && environments.includes(group.environmentTag) ? group : undefined;
    }),
  );
}

/** Reads each environment through its part of the index and merges what was found: so no index without the environment is needed. */
async function readPositions(request: ListRequest, query: Omit<PositionQuery, 'environmentTag' | 'conditions'>) {
  const { db, caller, isAbandoned, environments, conditions } = request;
  const readOne = async (reader: PageReader, environmentTag: EnvironmentTag | null): Promise<GroupPosition[]> =>
    (await findPositions(reader, { ...query, environmentTag, conditions })).map((each) => ({ ...each, environmentTag }));
  const lists = isFiltered(conditions)
    ? await readInTime(request, readOne)
    : await Promise.all(
        environments.map((environmentTag) =>
          pageReads.run(caller.share, async () => {
            if (isAbandoned()) throw abandoned();
            return readOne(db.prisma, environmentTag);
          }),
        ),
      );
  if (lists.length < 2) return lists.flat();
  const sign = query.direction === 'asc' ? 1 : -1;
  return lists.flat().sort((a, b) => sign * comparePositions(a, b));
}

async function countAll(request: ListRequest): Promise<number | null> {
  try {
    const { conditions } = request;
    const counts = await readInTime(request, (reader, environmentTag) => countGroups(reader, { environmentTag, conditions }));
    return counts.reduce((sum, count) => sum + count, 0);
  } catch (error) {
    if (isStatementTimeout((error as Error).cause)) return null;
    throw error;
  }
}

/** Reads each environment, all of them within the time limit. */
async function readInTime<Result>(
  { db, caller, isAbandoned, environments }: ListRequest,
  read: (reader: PageReader, environmentTag: EnvironmentTag | null) => Promise<Result>,
): Promise<Result[]> {
  const reads = environments.map((tag) => (reader: PageReader) => read(reader, tag));
  return readWithinTime({ prisma: db.prisma, share: caller.share, isAbandoned, items: 'user groups' }, reads);
}

function environmentsOf(caller: Caller, { environmentTag }: UserGroupFilter): ListRequest['environments'] {
  if (environmentTag) return [caller.chooseEnvironment(environmentTag.tag)];
  return caller.allEnvironments ? everyEnvironment : [caller.environmentTag];
}

function conditionsOf({ search, providedIds, properties, createdAt, updatedAt }: UserGroupFilter): GroupConditions {
  const range = (given: UserGroupFilter['createdAt']) =>
    given?.from || given?.to ? { from: given.from ?? undefined, to: given.to ?? undefined } : undefined;
  return {
    ...{ search: search ?? undefined, providedIds: providedIds ?? undefined },
    properties: properties?.map(({ path, equals }) => ({ path, equals: JSON.stringify(equals ?? null) })),
    ...{ createdAt: range(createdAt), updatedAt: range(updatedAt) },
  };
}

const isFiltered = (conditions: GroupConditions): boolean =>
  Object.values(conditions).some((condition) => condition !== undefined);

function readCursors(caller: Caller, sortBy: SortField, input: UserGroupListInput): (Position | undefined)[] {
  const given = (['after', 'before'] as const).map((name) => {
    const cursor = input[name];
    return { name, cursor, position: cursor == null ? undefined : readUserGroupCursor(caller, sortBy, cursor) };
  });
  const issues = given
    .filter(({ cursor, position }) => cursor != null && !position)
    .map(({ name }) => ({ path: [name], message: 'is not a cursor of this list. Use one of a page with the same orderBy.' }));
  if (issues.length > 0) throw new InvalidInput(issues);
  return given.map(({ position }) => position);
}

/** The order of the database: times, or texts by their code points, then the numbers of the groups. */
function comparePositions(a: Position, b: Position): number {
  const order =
    typeof a.value === 'string'
      ? Buffer.compare(Buffer.from(a.value), Buffer.from(b.value as string))
      : a.value.getTime() - (b.value as Date).getTime();
  return order || a.teamId - b.teamId;
}
