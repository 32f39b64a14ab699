import type { Db } from '../database/queries/db.ts';
import { countMatches, findMatches } from '../database/queries/user-group-matches.ts';
import type { GroupConditions, MatchReader, PageQuery, Position, SortField } from '../database/queries/user-group-page-query.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { mergeByKeyset } from './keyset.ts';
import { createSharedPageReads, type ReadPage } from './page-reads.ts';
import { readWithinTime } from './timed-read.ts';
import { type GroupPosition, userGroupKeysets } from './user-group-cursor.ts';
import { lookUpGroup, type ReadOptions, type Services } from './user-groups.ts';

/** Which groups are read, and for whom. */
export interface GroupsRequest {
  readonly services: Services;
  readonly caller: Caller;
  /** Whether the response is no longer needed; reads that have not started are then skipped. */
  readonly isAbandoned: () => boolean;
  /** What is read of each group. */
  readonly options: ReadOptions;
  readonly environments: readonly (EnvironmentTag | null)[];
  readonly conditions: GroupConditions;
}

/** A section of an order. */
export interface GroupSection extends Pick<PageQuery, 'sortBy' | 'direction' | 'start' | 'end'> {
  readonly size: number;
}

/** A group at a position. */
export interface FoundGroup extends GroupPosition {
  /** Undefined for one that was deleted, or moved to another environment, after its position was read. */
  readonly group: UserGroup | undefined;
}

/**
 * The first groups of a section, one more than its size if there are more. Each environment is read through its part of the
 * index, and what was found is merged: so no index without the environment is needed.
 *
 * @throws GatewayError `UNAVAILABLE` when conditions take longer than two seconds, or too many reads wait.
 */
export async function readSection(request: GroupsRequest, section: GroupSection): Promise<readonly FoundGroup[]> {
  const isFiltered = Object.values(request.conditions).some((condition) => condition !== undefined);
  return isFiltered ? readMatches(request, section) : readOrder(request, section);
}

/** Counts all groups that meet the conditions. @throws GatewayError `UNAVAILABLE` when it takes longer than two seconds. */
export async function countGroups(request: GroupsRequest): Promise<number> {
  const { conditions } = request;
  const counts = await readInTime(request, (reader, environmentTag) => countMatches(reader, { environmentTag, conditions }));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** For each database, because keys do not name it. */
const sharedReads = new WeakMap<Db, ReadPage<UserGroup[]>>();

async function readOrder(request: GroupsRequest, { size, ...order }: GroupSection): Promise<readonly FoundGroup[]> {
  const { services, caller, isAbandoned, options, environments } = request;
  const { db } = services;
  const { withJson = true } = options;
  const readPage = sharedReads.get(db) ?? createSharedPageReads();
  sharedReads.set(db, readPage);
  const lists = await Promise.all(
    environments.map((environmentTag) => {
      const query = { ...order, environmentTag, limit: size + 1 };
      const { start, end } = order;
      // Without the caller, whose right to the environment is checked already: what a page has depends on nothing else of it.
      const key = JSON.stringify([withJson, environmentTag, order.sortBy, order.direction, start, end, size]);
      return readPage(key, { share: caller.share, isAbandoned }, () => db.userGroup.readPage(query, withJson));
    }),
  );
  return mergeByKeyset(
    lists.map((groups) => groups.map((group) => new GroupInOrder(group, order.sortBy))),
    userGroupKeysets[order.sortBy],
    order.direction,
  );
}

/** A group and its position, which is decoded if it is needed. */
class GroupInOrder implements FoundGroup {
  readonly group: UserGroup;
  private readonly sortBy: SortField;
  private known: Position['value'] | undefined;

  constructor(group: UserGroup, sortBy: SortField) {
    this.group = group;
    this.sortBy = sortBy;
  }

  get teamId(): number {
    return this.group.teamId;
  }

  get environmentTag(): EnvironmentTag | null {
    return this.group.environmentTag;
  }

  get value(): Position['value'] {
    this.known ??= this.group[this.sortBy];
    return this.known;
  }
}

/** Finds the positions within the time limit, and then the groups by the same statement as other look-ups. */
async function readMatches(request: GroupsRequest, { size, ...order }: GroupSection): Promise<readonly FoundGroup[]> {
  const { services, caller, options, environments, conditions } = request;
  const lists = await readInTime(request, async (reader, environmentTag) =>
    (await findMatches(reader, { ...order, environmentTag, conditions, limit: size + 1 })).map((each) => ({
      ...each,
      environmentTag,
    })),
  );
  return Promise.all(
    mergeByKeyset(lists, userGroupKeysets[order.sortBy], order.direction).map(async (position, index) => {
      const group = index < size ? await lookUpGroup(services, caller, position.teamId, options) : undefined;
      return { ...position, group: group && environments.includes(group.environmentTag) ? group : undefined };
    }),
  );
}

/** Reads each environment, all of them within the time limit. */
async function readInTime<Result>(
  { services, caller, isAbandoned, environments }: GroupsRequest,
  read: (reader: MatchReader, environmentTag: EnvironmentTag | null) => Promise<Result>,
): Promise<Result[]> {
  const reads = environments.map((tag) => (reader: MatchReader) => read(reader, tag));
  return readWithinTime({ db: services.db, share: caller.share, isAbandoned, items: 'user groups' }, reads);
}
