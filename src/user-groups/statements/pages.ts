import type { Sql } from '../../database/client.ts';
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
 * The groups of some environments in an order. Each environment is read by its part of an index.
 *
 * @param withJson without it, groups have neither properties nor mapping.
 * @throws RangeError for a limit above 101.
 */
export function readGroupPage(sql: Sql, page: PageQuery, withJson: boolean): Promise<UserGroup[]> {
  const { environments, sortBy, direction, start, end, limit } = page;
  if (limit > maxGroups) throw new RangeError(`A page query is for at most ${maxGroups} groups, not ${limit}.`);
  const { sql: column, type } = sortColumns[sortBy];
  const { order, further, back } = directions[direction];
  const values: unknown[] = [limit];
  const parameter = (value: unknown, of: string) => `$${values.push(value)}::${of}`;
  const bound = (operator: string, { value, teamId }: Position) =>
    `(g.${column}, g.team_id) ${operator} (${parameter(value, type)}, ${parameter(teamId, 'int')})`;
  const bounds = [...(start ? [bound(further, start)] : []), ...(end ? [bound(back, end)] : [])];
  const orderBy = (columns: readonly string[]): string => columns.map((each) => `${each} ${order}`).join(', ');
  // An id is unique in its environment, so that its index needs no number. The index begins with the environment.
  const own = sortBy === 'providedId' ? [column] : [column, 'team_id'];
  // With the greatest limit inside of its own: for any limit the planner would sort the table.
  const lists = environments.map((tag) => {
    const ofTag = tag === null ? 'g.environment_tag is null' : `g.environment_tag = ${parameter(tag, 'environment_tag')}`;
    return `(select * from (
      select g.* from user_group g where ${[ofTag, ...bounds].join(' and ')} order by ${orderBy(['environment_tag', ...own])} limit ${maxGroups}
    ) as first order by ${orderBy(tag === null ? ['environment_tag', ...own] : own)} limit (select $1::int))`;
  });
  const name = `group-page-${withJson}-${sortBy}-${direction}-${environments.map((tag) => (tag ? 't' : 'u')).join('')}-${!start}-${!end}`;
  const text = `
  select ${groupColumns('g', withJson)} from (${lists.join(' union all ')}) as g
  order by ${orderBy([column, 'team_id'].map((each) => `g.${each}`))} limit (select $1::int)`;
  return sql(name, text, values);
}
