import type { Prisma } from '../../generated/prisma/client.ts';
import { countMatches, findMatches } from './user-group-matches.ts';
import type { GroupConditions, PageReader, Position, PositionQuery, SortField, TimeRange } from './user-group-page-query.ts';

/**
 * Conditions that Prisma cannot state: sort columns have the collation "C", in which only ASCII letters have a lower case, and
 * Prisma names no collation; and it compares JSON without the index.
 */
const isBeyondPrisma = ({ search, properties = [] }: GroupConditions): boolean => search !== undefined || properties.length > 0;

/** Finds the positions of groups, in the order that is asked for. */
export async function findPositions(reader: PageReader, query: PositionQuery): Promise<Position[]> {
  const { environmentTag, conditions, sortBy, direction, limit } = query;
  if (isBeyondPrisma(conditions)) return findMatches(reader, query);
  const rows = await reader.userGroup.findMany({
    select: { ...nothingElse, teamId: true, [sortBy]: true },
    where: { AND: [{ environmentTag }, ...whereOf(conditions), ...boundsOf(query)] },
    orderBy: orderOf(sortBy, direction),
    take: limit,
  });
  return rows.map((row) => ({ teamId: row.teamId, value: row[sortBy] }));
}

/** Has the type of the result name each sort column. */
const nothingElse = { createdAt: false, updatedAt: false, name: false, providedId: false };

/** Counts the groups of an environment. */
export function countGroups(reader: PageReader, query: Pick<PositionQuery, 'environmentTag' | 'conditions'>): Promise<number> {
  const { environmentTag, conditions } = query;
  if (isBeyondPrisma(conditions)) return countMatches(reader, query);
  return reader.userGroup.count({ where: { AND: [{ environmentTag }, ...whereOf(conditions)] } });
}

/**
 * The order of the index. Its first column is constant, and is named because PostgreSQL does not infer that from `is null`.
 * An id is unique in its environment, so that its index needs no number.
 */
function orderOf(sortBy: SortField, direction: PositionQuery['direction']): Prisma.UserGroupOrderByWithRelationInput[] {
  return [{ environmentTag: direction }, { [sortBy]: direction }, ...(sortBy === 'providedId' ? [] : [{ teamId: direction }])];
}

function whereOf({ providedIds, createdAt, updatedAt }: GroupConditions): Prisma.UserGroupWhereInput[] {
  const where: Prisma.UserGroupWhereInput[] = [];
  if (providedIds) where.push({ providedId: { in: [...providedIds] } });
  if (createdAt) where.push({ createdAt: timeFilter(createdAt) });
  if (updatedAt) where.push({ updatedAt: timeFilter(updatedAt) });
  return where;
}

const timeFilter = ({ from, to }: TimeRange): Prisma.DateTimeFilter => ({ ...(from && { gte: from }), ...(to && { lt: to }) });

function boundsOf({ sortBy, direction, start, end }: PositionQuery): Prisma.UserGroupWhereInput[] {
  const [further, back] = direction === 'asc' ? (['gt', 'lt'] as const) : (['lt', 'gt'] as const);
  return [...(start ? beyond(sortBy, further, start) : []), ...(end ? beyond(sortBy, back, end) : [])];
}

/** The bound stands beside the alternatives too: from these alone PostgreSQL makes a filter, and reads from the beginning. */
function beyond(sortBy: SortField, operator: 'gt' | 'lt', { value, teamId }: Position): Prisma.UserGroupWhereInput[] {
  return [
    { [sortBy]: { [`${operator}e`]: value } },
    { OR: [{ [sortBy]: { [operator]: value } }, { [sortBy]: value, teamId: { [operator]: teamId } }] },
  ];
}
