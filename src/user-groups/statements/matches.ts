import { type EnvironmentTag, Prisma } from '../../generated/prisma/client.ts';
import { directions, type PageQuery, type Position, type SortField, sortColumns } from './pages.ts';

/** From `from`, which is included, to `to`, which is not. */
export interface TimeRange {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Conditions that must all hold; every rule is checked already. */
export interface GroupConditions {
  /** A part of the name or the provided id; upper and lower case are the same, as the database's locale has it. */
  readonly search?: string | undefined;
  readonly providedIds?: readonly string[] | undefined;
  /** Properties at a path, with the JSON that they equal. Order of members and notation of numbers do not matter. */
  readonly properties?: readonly { readonly path: readonly string[]; readonly equals: string }[] | undefined;
  /** Columns with the text that they equal. */
  readonly texts?: readonly { readonly sql: string; readonly equals: string }[] | undefined;
  readonly suspended?: boolean | undefined;
  /** Groups that were last resolved before this time, or never. */
  readonly notResolvedSince?: Date | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly updatedAt?: TimeRange | undefined;
}

/** The groups of a page that meet conditions. */
export interface MatchQuery extends Omit<PageQuery, 'environments'> {
  readonly environmentTag: EnvironmentTag | null;
  readonly conditions: GroupConditions;
}

/** What matches are read with: Prisma, or a transaction. */
export type MatchReader = Pick<Prisma.TransactionClient, '$queryRaw'>;

const columnOf = (sortBy: SortField): Prisma.Sql => Prisma.raw(sortColumns[sortBy].sql);

/** Finds the positions of groups by their conditions, in the order that is asked for. */
export function findMatches(reader: MatchReader, query: MatchQuery): Promise<Position[]> {
  const { conditions, environmentTag, sortBy, start, end, limit } = query;
  const column = columnOf(sortBy);
  const { order, further, back } = directions[query.direction];
  const direction = Prisma.raw(order);
  const bound = ({ value, teamId }: Position, operator: string) =>
    Prisma.sql`(${column}, team_id) ${Prisma.raw(operator)} (${value}::${Prisma.raw(sortColumns[sortBy].type)}, ${teamId}::int)`;
  const where = [
    ...conditionsOf(environmentTag, conditions),
    ...(start ? [bound(start, further)] : []),
    ...(end ? [bound(end, back)] : []),
  ];
  return reader.$queryRaw<Position[]>`
    select team_id as "teamId", ${column} as value from user_group where ${Prisma.join(where, ' and ')}
    order by environment_tag ${direction}, ${column} ${direction}, team_id ${direction} limit ${limit}::int`;
}

/** Counts the groups of an environment that meet conditions. */
export async function countMatches(
  reader: MatchReader,
  { environmentTag, conditions }: Pick<MatchQuery, 'environmentTag' | 'conditions'>,
): Promise<number> {
  const where = Prisma.join(conditionsOf(environmentTag, conditions), ' and ');
  const [row] = await reader.$queryRaw<{ count: number }[]>`select count(*)::int as count from user_group where ${where}`;
  return row?.count ?? 0;
}

function conditionsOf(environmentTag: MatchQuery['environmentTag'], conditions: GroupConditions): Prisma.Sql[] {
  const {
    search,
    providedIds,
    properties = [],
    texts = [],
    suspended,
    notResolvedSince,
    createdAt = {},
    updatedAt = {},
  } = conditions;
  const where = [
    environmentTag === null
      ? Prisma.sql`environment_tag is null`
      : Prisma.sql`environment_tag = ${environmentTag}::environment_tag`,
  ];
  if (search !== undefined) {
    // The expressions of the index. The columns' own collation knows upper and lower case of ASCII letters only.
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    where.push(
      Prisma.sql`(name collate "default" ilike ${pattern}::text or provided_id collate "default" ilike ${pattern}::text)`,
    );
  }
  if (providedIds) where.push(Prisma.sql`provided_id = any (${[...providedIds]}::text[])`);
  for (const { path, equals } of properties) {
    // The expression of indexes that operators create. Of json, PostgreSQL finds wrong elements by negative indexes.
    const isFromEnd = path.some((step) => step.startsWith('-'));
    const property = isFromEnd
      ? Prisma.sql`properties::jsonb #> ${[...path]}::text[]`
      : Prisma.sql`(properties #> ${[...path]}::text[])::jsonb`;
    where.push(Prisma.sql`${property} = ${equals}::jsonb`);
  }
  for (const { sql, equals } of texts) where.push(Prisma.sql`${Prisma.raw(sql)} = ${equals}::text`);
  if (suspended !== undefined) where.push(suspended ? Prisma.sql`suspended` : Prisma.sql`not suspended`);
  if (notResolvedSince) where.push(Prisma.sql`(last_resolved_at is null or last_resolved_at < ${notResolvedSince}::timestamptz)`);
  return [...where, ...rangeOf(columnOf('createdAt'), createdAt), ...rangeOf(columnOf('updatedAt'), updatedAt)];
}

function rangeOf(column: Prisma.Sql, { from, to }: TimeRange): Prisma.Sql[] {
  return [
    ...(from ? [Prisma.sql`${column} >= ${from}::timestamptz`] : []),
    ...(to ? [Prisma.sql`${column} < ${to}::timestamptz`] : []),
  ];
}
