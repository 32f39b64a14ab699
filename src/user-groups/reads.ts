import type { Caller } from '../caller.ts';
import { createSemaphore } from '../concurrency/fair-queue.ts';
import {
  defineKeyset,
  integerColumn,
  type Keyset,
  type KeysetColumn,
  mergeByKeyset,
  textColumn,
  timeColumn,
} from '../database/keyset.ts';
import { pageReads } from '../database/page.ts';
import { readWithinTime } from '../database/timed-read.ts';
import { abandoned } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { countMatches, findMatches, type GroupConditions, type MatchReader } from './statements/matches.ts';
import type { PageQuery, Position, SortField } from './statements/pages.ts';
import { lookUpGroup, type ReadOptions, type Services } from './user-groups.ts';

/** The position of a group in an order, and the environment that the group was in. */
export interface GroupPosition extends Position {
  readonly environmentTag: EnvironmentTag | null;
}

const tagColumn: KeysetColumn<EnvironmentTag | null> = {
  write: (tag) => tag,
  read: (part) => (part === null || part === 'Customer' || part === 'Testing' ? part : undefined),
};

/** @param value of the type of the column, as each position of this order has it. */
const keysetOf = <Value>(sortBy: SortField, value: KeysetColumn<Value>): Keyset<GroupPosition> =>
  defineKeyset(`UserGroup.${sortBy}`, {
    environmentTag: tagColumn,
    value: value as unknown as KeysetColumn<Position['value']>,
    teamId: integerColumn,
  });

/** The orders of lists of groups. A cursor has the environment of its group: only callers with access to it can use it. */
export const userGroupKeysets: Readonly<Record<SortField, Keyset<GroupPosition>>> = {
  createdAt: keysetOf('createdAt', timeColumn),
  updatedAt: keysetOf('updatedAt', timeColumn),
  name: keysetOf('name', textColumn),
  providedId: keysetOf('providedId', textColumn),
};

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

/**
 * How many pages without JSON are read at once, of all callers, and how many wait. As many as go into a few statements: a request
 * may have many, and callers take turns. Those with JSON have a statement each, and count as other lists do.
 */
export const unfilteredReads = createSemaphore(64, 2_000, 'pages of lists');

async function readOrder(request: GroupsRequest, { size, ...order }: GroupSection): Promise<readonly FoundGroup[]> {
  const { services, caller, isAbandoned, options, environments } = request;
  const { userGroup } = services.db;
  const { queueKey } = caller;
  const withJson = options.withJson ?? true;
  const read = withJson ? userGroup.readPage : userGroup.readSummaryPage;
  const reads = withJson ? pageReads : unfilteredReads;
  const groups = await reads.run(queueKey, async () => {
    if (isAbandoned()) throw abandoned();
    return (await read({ ...order, environments, limit: size + 1 })) ?? [];
  });
  return groups.map((group) => new GroupInOrder(group, order.sortBy));
}

/** A group and its position, which is decoded if it is needed. */
class GroupInOrder implements FoundGroup {
  readonly group: UserGroup;
  private readonly sortBy: SortField;

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
    return this.group[this.sortBy];
  }
}

/** Finds the positions within the time limit, and then the groups by the same statement as other look-ups. */
async function readMatches(request: GroupsRequest, { size, ...order }: GroupSection): Promise<readonly FoundGroup[]> {
  const { services, options, environments, conditions } = request;
  const lists = await readInTime(request, async (reader, environmentTag) =>
    (await findMatches(reader, { ...order, environmentTag, conditions, limit: size + 1 })).map((each) => ({
      ...each,
      environmentTag,
    })),
  );
  return Promise.all(
    mergeByKeyset(lists, userGroupKeysets[order.sortBy], order.direction).map(async (position, index) => {
      const group = index < size ? await lookUpGroup(services, position.teamId, options) : undefined;
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
  return readWithinTime({ db: services.db, queueKey: caller.queueKey, isAbandoned, items: 'user groups' }, reads);
}
