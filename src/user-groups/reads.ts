import { type Context, readInTurn } from '../app.ts';
import {
  defineKeyset,
  integerColumn,
  type Keyset,
  type KeysetColumn,
  mergeByKeyset,
  textColumn,
  timeColumn,
} from '../database/keyset.ts';
import { readWithinTime } from '../database/timed-read.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { findGroupsByTeamId } from './sql.ts';
import { countMatches, findMatches, type GroupConditions, type MatchReader } from './statements/matches.ts';
import { type PageQuery, type Position, readGroupPage, type SortField } from './statements/pages.ts';

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
  readonly context: Context;
  /** Whether properties and mapping are read. */
  readonly withJson: boolean;
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

async function readOrder(request: GroupsRequest, { size, ...order }: GroupSection): Promise<readonly FoundGroup[]> {
  const { context, withJson, environments } = request;
  const groups = await readInTurn(context, ({ app }) =>
    readGroupPage(app.sql, { ...order, environments, limit: size + 1 }, withJson),
  );
  return groups.map((group) => ({
    group,
    teamId: group.teamId,
    environmentTag: group.environmentTag,
    value: group[order.sortBy],
  }));
}

/** Finds the positions within the time limit, and then the groups by the same statement as other look-ups. */
async function readMatches(request: GroupsRequest, { size, ...order }: GroupSection): Promise<readonly FoundGroup[]> {
  const { context, withJson, environments, conditions } = request;
  const lists = await readInTime(request, async (reader, environmentTag) =>
    (await findMatches(reader, { ...order, environmentTag, conditions, limit: size + 1 })).map((each) => ({
      ...each,
      environmentTag,
    })),
  );
  const positions = mergeByKeyset(lists, userGroupKeysets[order.sortBy], order.direction);
  const teamIds = positions.slice(0, size).map(({ teamId }) => teamId);
  const groups = await findGroupsByTeamId(context.app.sql, teamIds, withJson);
  return positions.map((position, index) => {
    const group = groups[index];
    return { ...position, group: group && environments.includes(group.environmentTag) ? group : undefined };
  });
}

/** Reads each environment, all of them within the time limit. */
async function readInTime<Result>(
  { context, environments }: GroupsRequest,
  read: (reader: MatchReader, environmentTag: EnvironmentTag | null) => Promise<Result>,
): Promise<Result[]> {
  return readWithinTime(
    context,
    'user groups',
    environments.map(
      (tag) =>
        ({ db }) =>
          read(db, tag),
    ),
  );
}
