import type { Database } from '../../database/client.ts';
import { type EnvironmentTag, Prisma, type UserGroup } from '../../generated/prisma/client.ts';
import { UserGroupRow, UserGroupSummaryRow, userGroupSelectList, userGroupSummarySelectList } from './columns.ts';

/** The columns that groups can be sorted by. */
export type SortField = 'createdAt' | 'updatedAt' | 'name' | 'providedId';

/** The position of a group in an order: its sort value, and its number among those with the same one. */
export interface Position {
  readonly teamId: number;
  /** Of the type of the column. Texts are in the order of their code points. */
  readonly value: Date | string;
}

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
  /** Groups that were last resolved before this hour, counted from 1970, or never. */
  readonly resolvedBeforeHour?: number | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly updatedAt?: TimeRange | undefined;
}

/** Groups of one environment, in order. */
export interface PageQuery {
  readonly environmentTag: EnvironmentTag | null;
  readonly sortBy: SortField;
  readonly direction: 'asc' | 'desc';
  /** Positions between which the groups are in this direction, both excluded. */
  readonly start?: Position | undefined;
  readonly end?: Position | undefined;
  readonly limit: number;
}

/** Those of them that meet conditions. */
export interface MatchQuery extends PageQuery {
  readonly conditions: GroupConditions;
}

/** What matches are read with: Prisma, or a transaction. */
export type MatchReader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The column of each sort field. */
const sortColumns = {
  createdAt: { sql: 'created_at', type: 'timestamptz' },
  updatedAt: { sql: 'updated_at', type: 'timestamptz' },
  name: { sql: 'name', type: 'text' },
  providedId: { sql: 'provided_id', type: 'text' },
} as const satisfies Readonly<Record<SortField, { readonly sql: string; readonly type: string }>>;

/** The operators of each direction. */
const directions = {
  asc: { order: 'asc', further: '>', back: '<' },
  desc: { order: 'desc', further: '<', back: '>' },
} as const;

/** The most groups that a page query may ask for. */
const maxGroups = 101;

/** Reads of pages. */
export interface UserGroupPages {
  /**
   * The groups of one environment in an order, in one statement.
   *
   * @param withJson whether properties and mappings are read; without, taking them from a group throws.
   * @throws RangeError for a limit above 101.
   */
  readonly readPage: (query: PageQuery, withJson: boolean) => Promise<UserGroup[]>;
}

/** Binds the reads of pages to a database. */
export function bindUserGroupPages({ query }: Pick<Database, 'query'>): UserGroupPages {
  return {
    async readPage(page, withJson) {
      if (page.limit > maxGroups) throw new RangeError(`A page query is for at most ${maxGroups} groups, not ${page.limit}.`);
      const { name, text } = statementOf(page, withJson);
      const rows = await query(name, text, valuesOf(page));
      const GroupRow = withJson ? UserGroupRow : UserGroupSummaryRow;
      return rows.map((row) => new GroupRow(row));
    },
  };
}

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** One for each order, direction and set of bounds, so that connections can prepare them: 128 at most. */
const statements = new Map<string, Statement>();

function statementOf(page: PageQuery, withJson: boolean): Statement {
  const { environmentTag, sortBy, direction, start, end } = page;
  const environment = environmentTag === null ? 'untagged' : 'tagged';
  const bounds = `${start ? '-start' : ''}${end ? '-end' : ''}`;
  const name = `${withJson ? '' : 'summary-'}group-page-${sortBy}-${direction}-${environment}${bounds}`;
  let statement = statements.get(name);
  if (!statement) {
    statement = { name, text: textOf(page, withJson) };
    statements.set(name, statement);
  }
  return statement;
}

function textOf({ environmentTag, sortBy, direction, start, end }: PageQuery, withJson: boolean): string {
  const { sql: column, type } = sortColumns[sortBy];
  const { order, further, back } = directions[direction];
  let parameters = 1;
  const parameter = (of: string): string => {
    parameters += 1;
    return `$${parameters}::${of}`;
  };
  const bound = (operator: string): string => `(g.${column}, g.team_id) ${operator} (${parameter(type)}, ${parameter('int')})`;
  const where = [
    environmentTag === null ? 'g.environment_tag is null' : `g.environment_tag = ${parameter('environment_tag')}`,
    ...(start ? [bound(further)] : []),
    ...(end ? [bound(back)] : []),
  ];
  const orderBy = (columns: readonly string[]): string => columns.map((each) => `${each} ${order}`).join(', ');
  // An id is unique in its environment, so that its index needs no number.
  const own = sortBy === 'providedId' ? [column] : [column, 'team_id'];
  // The index begins with the environment. PostgreSQL infers from `=` that it is constant, and then no longer knows it as a part
  // of the order of what the inner statement returns; from `is null` it does not.
  const all = ['environment_tag', ...own];
  const columns = (withJson ? userGroupSelectList : userGroupSummarySelectList)('g');
  // The inner limit is for the planner. Without it a plan for any limit would sort the table, so that none would be kept:
  // planning takes PostgreSQL longer than reading the page.
  return `
  select * from (
    select ${columns} from user_group g where ${where.join(' and ')} order by ${orderBy(all)} limit ${maxGroups}
  ) as page order by ${orderBy(environmentTag === null ? all : own)} limit $1::int`;
}

function valuesOf({ environmentTag, start, end, limit }: PageQuery): unknown[] {
  const bound = (position: Position | undefined): unknown[] =>
    position ? [position.value instanceof Date ? position.value.toISOString() : position.value, position.teamId] : [];
  return [limit, ...(environmentTag === null ? [] : [environmentTag]), ...bound(start), ...bound(end)];
}

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
    resolvedBeforeHour,
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
    where.push(Prisma.sql`(properties #> ${[...path]}::text[])::jsonb = ${equals}::jsonb`);
  }
  for (const { sql, equals } of texts) where.push(Prisma.sql`${Prisma.raw(sql)} = ${equals}::text`);
  if (suspended !== undefined) where.push(suspended ? Prisma.sql`suspended` : Prisma.sql`not suspended`);
  if (resolvedBeforeHour !== undefined) {
    where.push(Prisma.sql`(last_resolved_hour is null or last_resolved_hour < ${resolvedBeforeHour}::int)`);
  }
  return [...where, ...rangeOf(columnOf('createdAt'), createdAt), ...rangeOf(columnOf('updatedAt'), updatedAt)];
}

function rangeOf(column: Prisma.Sql, { from, to }: TimeRange): Prisma.Sql[] {
  return [
    ...(from ? [Prisma.sql`${column} >= ${from}::timestamptz`] : []),
    ...(to ? [Prisma.sql`${column} < ${to}::timestamptz`] : []),
  ];
}
