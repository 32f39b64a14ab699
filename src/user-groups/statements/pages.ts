import { createBatchLoader, type Load } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { names } from '../../database/columns.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import {
  UserGroupRow,
  UserGroupSummaryRow,
  userGroupColumnCount,
  userGroupSelectList,
  userGroupSummarySelectList,
} from './columns.ts';

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

/** The most pages in one statement. Those with JSON, which may have megabytes, are read one by one. */
const maxPages = 16;

/** Reads of pages. */
export interface UserGroupPages {
  /** The groups of some environments in an order. Requests share a statement. @throws RangeError for a limit above 101. */
  readonly readPage: Load<PageQuery, UserGroup[]>;
  /** The same without their properties and mapping; taking them from a group throws. */
  readonly readSummaryPage: Load<PageQuery, UserGroup[]>;
}

/** Binds the reads of pages to a database. */
export function bindUserGroupPages({ query }: Pick<Database, 'query'>): UserGroupPages {
  const loader = (withJson: boolean) => {
    const GroupRow = withJson ? UserGroupRow : UserGroupSummaryRow;
    return createBatchLoader<PageQuery, UserGroup[]>({
      keyOf,
      maxKeys: withJson ? 1 : maxPages,
      async load(pages) {
        const found = new Map<string, UserGroup[]>();
        for (const { name, text, pages: alike } of byStatement(pages, withJson)) {
          const lists = alike.map((): UserGroup[] => []);
          for (const row of await query(name, text, valuesOf(alike))) {
            lists[Number(row[userGroupColumnCount]) - 1]?.push(new GroupRow(row));
          }
          for (const [index, page] of alike.entries()) found.set(keyOf(page), lists[index] as UserGroup[]);
        }
        return found;
      },
    });
  };
  return { readPage: loader(true), readSummaryPage: loader(false) };
}

const timeOrText = (value: Position['value']): string => (value instanceof Date ? value.toISOString() : value);

/** Identifies a page. */
function keyOf({ environments, sortBy, direction, start, end, limit }: PageQuery): string {
  const at = (position: Position | undefined) => (position ? `${position.teamId} ${timeOrText(position.value)}` : '');
  const first = at(start);
  return `${environments} ${sortBy} ${direction} ${limit} ${first.length} ${first}${at(end)}`;
}

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** One for each order, direction, set of bounds and of environments, so that connections can prepare them: 192 at most. */
const statements = new Map<string, Statement>();

/** The statements that read some pages, each with those that it reads. Their names have a `u` for untagged, a `t` for others. */
function byStatement(pages: readonly PageQuery[], withJson: boolean): Iterable<Statement & { readonly pages: PageQuery[] }> {
  const groups = new Map<string, Statement & { readonly pages: PageQuery[] }>();
  for (const page of pages) {
    if (page.limit > maxGroups) throw new RangeError(`A page query is for at most ${maxGroups} groups, not ${page.limit}.`);
    const { environments, sortBy, direction, start, end } = page;
    const environment = environments.map((tag) => (tag === null ? 'u' : 't')).join('');
    const bounds = `${start ? '-start' : ''}${end ? '-end' : ''}`;
    const name = `${withJson ? '' : 'summary-'}group-page-${sortBy}-${direction}-${environment}${bounds}`;
    const group = groups.get(name);
    if (group) {
      group.pages.push(page);
      continue;
    }
    const statement = statements.get(name) ?? { name, text: textOf(page, withJson) };
    statements.set(name, statement);
    groups.set(name, { ...statement, pages: [page] });
  }
  return groups.values();
}

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
  const columns = withJson ? userGroupSelectList : userGroupSummarySelectList;
  // Each list is a subquery, which the planner does not look into: by its length it would plan anew for each few pages. And a
  // page has the greatest limit inside of its own: for any limit it would sort the table.
  const values = parameters.map((each, index) => `(select $${index + 1}::${each.type}[])`);
  const ofEnvironment = (tag: EnvironmentTag | null, index: number): string => {
    const where = [tag === null ? 'g.environment_tag is null' : `g.environment_tag = page.tag_${index}`, ...bounds];
    return `select * from (
      select ${columns('g')} from user_group g where ${where.join(' and ')} order by ${orderBy(all)} limit ${maxGroups}
    ) as first order by ${orderBy(tag === null ? all : own)} limit page.size`;
  };
  const lists = environments.map(ofEnvironment);
  const together = `(${lists.join(') union all (')}) order by ${orderBy(position)} limit page.size`;
  return `
  select g.*, page.position
  from unnest(${values.join(', ')}) with ordinality as page (${names(parameters)}, position) cross join lateral (
    ${lists.length > 1 ? together : lists[0]}
  ) as g order by page.position, ${orderBy(position.map((each) => `g.${each}`))}`;
}

/** Lists of the values of pages that are alike. */
function valuesOf(pages: readonly PageQuery[]): unknown[] {
  const [{ environments, start, end } = {} as PageQuery] = pages;
  const bound = (which: 'start' | 'end') => [
    pages.map((page) => timeOrText((page[which] as Position).value)),
    pages.map((page) => (page[which] as Position).teamId),
  ];
  return [
    pages.map(({ limit }) => limit),
    ...environments.flatMap((tag, index) => (tag === null ? [] : [pages.map((page) => page.environments[index])])),
    ...(start ? bound('start') : []),
    ...(end ? bound('end') : []),
  ];
}
