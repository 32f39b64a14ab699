import { Prisma } from '../../generated/prisma/client.ts';
import type { GroupConditions, PageReader, Position, PositionQuery, SortField, TimeRange } from './user-group-page-query.ts';

const columns: Readonly<Record<SortField, Prisma.Sql>> = {
  createdAt: Prisma.sql`created_at`,
  updatedAt: Prisma.sql`updated_at`,
  name: Prisma.sql`name`,
  providedId: Prisma.sql`provided_id`,
};

const types: Readonly<Record<SortField, Prisma.Sql>> = {
  createdAt: Prisma.sql`timestamptz`,
  updatedAt: Prisma.sql`timestamptz`,
  name: Prisma.sql`text`,
  providedId: Prisma.sql`text`,
};

const ascending = { order: Prisma.sql`asc`, further: Prisma.sql`>`, back: Prisma.sql`<` };
const descending = { order: Prisma.sql`desc`, further: Prisma.sql`<`, back: Prisma.sql`>` };

/** Finds the positions of groups by conditions of every kind. */
export function findMatches(reader: Pick<PageReader, '$queryRaw'>, query: PositionQuery): Promise<Position[]> {
  const { conditions, environmentTag, sortBy, direction, start, end, limit } = query;
  const column = columns[sortBy];
  const { order, further, back } = direction === 'asc' ? ascending : descending;
  const bound = ({ value, teamId }: Position, operator: Prisma.Sql) =>
    Prisma.sql`(${column}, team_id) ${operator} (${value}::${types[sortBy]}, ${teamId}::int)`;
  const where = [
    ...conditionsOf(environmentTag, conditions),
    ...(start ? [bound(start, further)] : []),
    ...(end ? [bound(end, back)] : []),
  ];
  return reader.$queryRaw<Position[]>`
    select team_id as "teamId", ${column} as value from user_group where ${Prisma.join(where, ' and ')}
    order by environment_tag ${order}, ${column} ${order}, team_id ${order} limit ${limit}::int`;
}

/** Counts groups by conditions of every kind. */
export async function countMatches(
  reader: Pick<PageReader, '$queryRaw'>,
  { environmentTag, conditions }: Pick<PositionQuery, 'environmentTag' | 'conditions'>,
): Promise<number> {
  const where = Prisma.join(conditionsOf(environmentTag, conditions), ' and ');
  const [row] = await reader.$queryRaw<{ count: number }[]>`select count(*)::int as count from user_group where ${where}`;
  return row?.count ?? 0;
}

function conditionsOf(environmentTag: PositionQuery['environmentTag'], conditions: GroupConditions): Prisma.Sql[] {
  const { search, providedIds, properties = [], createdAt = {}, updatedAt = {} } = conditions;
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
    where.push(Prisma.sql`(properties #> ${[...path]}::text[])::jsonb = ${equals}::jsonb`);
  }
  return [...where, ...rangeOf(columns.createdAt, createdAt), ...rangeOf(columns.updatedAt, updatedAt)];
}

function rangeOf(column: Prisma.Sql, { from, to }: TimeRange): Prisma.Sql[] {
  return [
    ...(from ? [Prisma.sql`${column} >= ${from}::timestamptz`] : []),
    ...(to ? [Prisma.sql`${column} < ${to}::timestamptz`] : []),
  ];
}
