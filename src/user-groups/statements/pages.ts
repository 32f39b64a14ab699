import type { Sql } from '../../database/client.ts';
import { names } from '../../database/columns.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import { groupColumns } from '../sql.ts';

/** The columns that groups can be sorted by. */
export type SortField = 'createdAt' | 'updatedAt' | 'name' | 'providedId';

/** The position of a group in an order: its sort value, and its number among those with the same one. */
export interface Position {
  readonly teamId: number;
  /** Of the type of the column. Texts are in the order of their code points. */
  readonly value: Date | string;
}

/** Groups in order. */
export interface PageQuery {
  /** Of several environments, the groups are those of one moment: none is missed or found twice that moves between them. */
  readonly environments: readonly (EnvironmentTag | null)[];
  readonly sortBy: SortField;
  readonly direction: 'asc' | 'desc';
  /** Positions between which the groups are in this direction, both excluded. */
  readonly start?: Position | undefined;
  readonly end?: Position | undefined;
  readonly limit: number;
}

/** The column of each sort field. */
export const sortColumns = {
  createdAt: { sql: 'created_at', type: 'timestamptz' },
  updatedAt: { sql: 'updated_at', type: 'timestamptz' },
  name: { sql: 'name', type: 'text' },
  providedId: { sql: 'provided_id', type: 'text' },
} as const satisfies Readonly<Record<SortField, { readonly sql: string; readonly type: string }>>;

/** The operators of each direction. */
export const directions = {
  asc: { order: 'asc', further: '>', back: '<' },
  desc: { order: 'desc', further: '<', back: '>' },
} as const;

/** The most groups that a page query may ask for. */
const maxGroups = 101;

/**
 * The groups of some environments in an order.
 *
 * @param withJson without it, groups have neither properties nor mapping.
 * @throws RangeError for a limit above 101.
 */
export function readGroupPage(sql: Sql, page: PageQuery, withJson: boolean): Promise<UserGroup[]> {
  const { environments, sortBy, direction, start, end, limit } = page;
  if (limit > maxGroups) throw new RangeError(`A page query is for at most ${maxGroups} groups, not ${limit}.`);
  const environment = environments.map((tag) => (tag === null ? 'u' : 't')).join('');
  const bounds = `${start ? '-start' : ''}${end ? '-end' : ''}`;
  const name = `${withJson ? '' : 'summary-'}group-page-${sortBy}-${direction}-${environment}${bounds}`;
  return sql(name, textOf(page, withJson), valuesOf(page));
}

const timeOrText = (value: Position['value']): string => (value instanceof Date ? value.toISOString() : value);

function textOf({ environments, sortBy, direction, start, end }: PageQuery, withJson: boolean): string {
  const { sql: column, type } = sortColumns[sortBy];
  const { order, further, back } = directions[direction];
  const parameters = [
    { sql: 'size', type: 'int' },
    ...environments.flatMap((tag, index) => (tag === null ? [] : [{ sql: `tag_${index}`, type: 'environment_tag' }])),
    ...(start
      ? [
          { sql: 'start_value', type },
          { sql: 'start_id', type: 'int' },
        ]
      : []),
    ...(end
      ? [
          { sql: 'end_value', type },
          { sql: 'end_id', type: 'int' },
        ]
      : []),
  ];
  const bound = (operator: string, which: string) =>
    `(g.${column}, g.team_id) ${operator} (page.${which}_value, page.${which}_id)`;
  const bounds = [...(start ? [bound(further, 'start')] : []), ...(end ? [bound(back, 'end')] : [])];
  const orderBy = (columns: readonly string[]): string => columns.map((each) => `${each} ${order}`).join(', ');
  const position = [column, 'team_id'];
  // An id is unique in its environment, so that its index needs no number.
  const own = sortBy === 'providedId' ? [column] : position;
  // The index begins with the environment.
  const all = ['environment_tag', ...own];
  // Each list is a subquery, which the planner does not look into: by its length it would plan anew for each few pages. And a
  // page has the greatest limit inside of its own: for any limit it would sort the table.
  const values = parameters.map((each, index) => `(select $${index + 1}::${each.type}[])`);
  const ofEnvironment = (tag: EnvironmentTag | null, index: number): string => {
    const where = [tag === null ? 'g.environment_tag is null' : `g.environment_tag = page.tag_${index}`, ...bounds];
    return `select * from (
      select g.* from user_group g where ${where.join(' and ')} order by ${orderBy(all)} limit ${maxGroups}
    ) as first order by ${orderBy(tag === null ? all : own)} limit page.size`;
  };
  const lists = environments.map(ofEnvironment);
  const together = `(${lists.join(') union all (')}) order by ${orderBy(position)} limit page.size`;
  return `
  select ${groupColumns('g', withJson)}
  from unnest(${values.join(', ')}) as page (${names(parameters)}) cross join lateral (
    ${lists.length > 1 ? together : lists[0]}
  ) as g order by ${orderBy(position.map((each) => `g.${each}`))}`;
}

/** A list of one value for each parameter. */
function valuesOf({ environments, start, end, limit }: PageQuery): unknown[] {
  const bound = (position: Position | undefined) => (position ? [timeOrText(position.value), position.teamId] : []);
  const values = [limit, ...environments.filter((tag) => tag !== null), ...bound(start), ...bound(end)];
  return values.map((value) => [value]);
}
